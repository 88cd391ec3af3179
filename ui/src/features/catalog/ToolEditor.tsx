/** The tool's metadata as fields that save themselves, so their effect on the open plan is seen while typing. */
import { Fragment, useEffect, useState, type ReactNode } from "react";
import { JsonEditor } from "../../components/JsonEditor";
import { ListField } from "../../components/ListField";
import { NumberField } from "../../components/NumberField";
import { ProblemNote } from "../../components/ProblemNote";
import type { ToolDetail, ToolSpec } from "../../ipc/client";
import { ApplicabilityField } from "./ApplicabilityField";
import { useToolSave } from "./save";

const CHOICES = [
  { key: "classification", label: "Classification", options: ["SAFE", "DESTRUCTIVE", "unclassified"] },
  { key: "loading", label: "Loading", options: ["undeclared", "always", "deferred"] },
] as const;
const LISTS = [
  { key: "tags", label: "Tags" },
  { key: "capabilities", label: "Capabilities" },
] as const;

export function ToolEditor({ detail }: { detail: ToolDetail }) {
  const { name } = detail.spec;
  const { patch, saving, problem, edit, type } = useToolSave(name);
  const spec: ToolSpec = { ...detail.spec, ...patch };
  const dirty = Object.keys(patch).length > 0;
  const saved = useJustSaved(dirty);
  const state = problem ? "not saved" : dirty || saving ? "saving…" : saved ? "saved" : "saves as you type";
  /** A refused save is shown at the fields it was about. */
  const field = (key: keyof ToolSpec, content: ReactNode) => (
    <div>
      {content}
      {problem && key in patch && <ProblemNote problem={problem} />}
    </div>
  );

  return (
    <section className="section editor" aria-label="Metadata">
      <h3>
        <span className="grow">Metadata</span>
        <span className="plain" role="status" data-testid="save-state">
          {state}
        </span>
      </h3>
      {problem && !dirty && <ProblemNote problem={problem} />}
      {field(
        "description",
        <label className="field">
          <span>Description</span>
          <textarea
            data-testid="field-description"
            rows={4}
            value={spec.description}
            onChange={(e) => type({ description: e.target.value })}
          />
        </label>,
      )}
      <div className="field-row">
        {CHOICES.map(({ key, label, options }) => (
          <Fragment key={key}>
            {field(
              key,
              <label className="field">
                <span>{label}</span>
                <select
                  data-testid={`field-${key}`}
                  value={spec[key]}
                  onChange={(e) => void edit({ [key]: e.target.value })}
                >
                  {options.map((option) => (
                    <option key={option}>{option}</option>
                  ))}
                </select>
              </label>,
            )}
          </Fragment>
        ))}
      </div>
      <div className="field-row">
        {field(
          "group",
          <label className="field">
            <span>Group</span>
            <input
              data-testid="field-group"
              value={spec.group}
              placeholder="no group"
              onChange={(e) => type({ group: e.target.value })}
            />
          </label>,
        )}
        {field(
          "timeout_ms",
          <NumberField
            label="Timeout, ms"
            testId="field-timeout"
            value={spec.timeout_ms}
            unset="workspace default"
            onChange={(timeout_ms) => type({ timeout_ms })}
          />,
        )}
      </div>
      {LISTS.map(({ key, label }) => (
        <Fragment key={key}>
          {field(
            key,
            <ListField
              label={label}
              testId={`field-${key}`}
              value={spec[key]}
              placeholder="none"
              onChange={(list) => type({ [key]: list })}
            />,
          )}
        </Fragment>
      ))}
      {field(
        "applicability",
        <ApplicabilityField
          spec={spec}
          onChoose={(applicability) => void edit({ applicability })}
          onType={(applicability) => type({ applicability })}
        />,
      )}
      {field(
        "parameters",
        <div className="field">
          <span>Parameters (JSON Schema)</span>
          <JsonEditor
            name={`${name}.parameters`}
            label="Parameters"
            testId="field-parameters"
            value={spec.parameters}
            onChange={(parameters) => type({ parameters })}
          />
        </div>,
      )}
    </section>
  );
}

/** True for a moment after the last edit was stored. */
function useJustSaved(dirty: boolean): boolean {
  const [was, setWas] = useState(dirty);
  const [saved, setSaved] = useState(false);
  if (was !== dirty) {
    setWas(dirty);
    setSaved(was && !dirty);
  }
  useEffect(() => {
    if (!saved) return;
    const timer = setTimeout(() => setSaved(false), 2000);
    return () => clearTimeout(timer);
  }, [saved]);
  return saved;
}
