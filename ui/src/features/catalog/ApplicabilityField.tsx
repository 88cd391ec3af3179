import type { Applicability, Needs, ToolSpec } from "../../ipc/client";

const NEEDS: Record<Needs["kind"], string> = {
  text: "any text",
  issue_key: "a Jira issue key",
  url: "a URL",
  page_id: "a Confluence page",
  path: "a file path",
  entity: "a path, a key or a quoted name",
  pattern: "a pattern of your own",
};

interface ApplicabilityFieldProps {
  spec: ToolSpec;
  onChoose: (value: Applicability | null) => void;
  onType: (value: Applicability) => void;
}

/** What the query must hold for the tool to apply, and the argument that receives it. */
export function ApplicabilityField({ spec, onChoose, onType }: ApplicabilityFieldProps) {
  const rule = spec.applicability;
  const names = argumentNames(spec);

  const choose = (kind: string) => {
    if (kind === "") return onChoose(null);
    const needs: Needs = kind === "pattern" ? { kind, regex: "" } : { kind: kind as Exclude<Needs["kind"], "pattern"> };
    onChoose({ needs, argument: rule?.argument ?? names[0] ?? "" });
  };

  return (
    <div className="field-row">
      <label className="field">
        <span>The query must hold</span>
        <select
          data-testid="field-applicability"
          value={rule?.needs.kind ?? ""}
          onChange={(e) => choose(e.target.value)}
        >
          <option value="">no rule</option>
          {Object.entries(NEEDS).map(([kind, word]) => (
            <option key={kind} value={kind}>
              {word}
            </option>
          ))}
        </select>
      </label>
      {rule && (
        <label className="field">
          <span>Fills the argument</span>
          <input
            className="mono"
            data-testid="field-applicability-argument"
            list="argument-names"
            value={rule.argument}
            onChange={(e) => onType({ ...rule, argument: e.target.value })}
          />
          <datalist id="argument-names">
            {names.map((n) => (
              <option key={n} value={n} />
            ))}
          </datalist>
        </label>
      )}
      {rule?.needs.kind === "pattern" && (
        <label className="field wide">
          <span>Regular expression; group 1 where it has one</span>
          <input
            className="mono"
            data-testid="field-applicability-regex"
            value={rule.needs.regex}
            onChange={(e) => onType({ ...rule, needs: { kind: "pattern", regex: e.target.value } })}
          />
        </label>
      )}
    </div>
  );
}

function argumentNames({ parameters }: ToolSpec): string[] {
  const isObject = (v: unknown): v is Record<string, unknown> =>
    typeof v === "object" && v !== null && !Array.isArray(v);
  return isObject(parameters) && isObject(parameters.properties) ? Object.keys(parameters.properties) : [];
}
