/** Fields that read and write one setting by its path, and say beside it what Rust thinks of it. */
import { RotateCcw } from "lucide-react";
import { useEffect, useRef, type ReactNode } from "react";
import { ListField } from "../../components/ListField";
import { NumberField } from "../../components/NumberField";
import type { SettingOrigin, Value } from "../../ipc/client";
import { sameJson } from "../../lib/json";
import { useSettingsForm } from "./form";
import { ItemList } from "./ItemList";
import { ListAsJson } from "./ListAsJson";
import type { Field, Part } from "./parts";
import { valueAt, withValue } from "./paths";

export function SettingField({ part }: { part: Part }) {
  if (part.kind === "own") return <part.content />;
  return (
    <Around path={part.path} label={part.label}>
      <Control field={part} />
    </Around>
  );
}

const SOURCE: Record<SettingOrigin["source"], string> = {
  environment: "A variable of the environment comes before what the workspace says",
  workspace: "The workspace has a value of its own",
  default: "The workspace says nothing else",
};

/** Around a field: the place that a verdict's link leads to, the way back to what is stored, the refusal that names it. */
function Around({ path, label, children }: { path: string; label: string; children: ReactNode }) {
  const { info, settings, change, origins, problem, at } = useSettingsForm();
  const place = useRef<HTMLDivElement>(null);
  const here = at === path;
  useEffect(() => {
    if (here) place.current?.scrollIntoView({ block: "center" });
  }, [here]);
  const refused = problem !== null && mentions(problem.message, path);
  const stored = valueAt(info.settings, path);
  const changed = !sameJson(valueAt(settings, path) as Value, stored as Value);
  const origin = origins.get(path);
  const decided = origin?.source === "environment";
  return (
    <div
      ref={place}
      className="setting"
      data-setting={path}
      data-at={here || undefined}
      data-edited={changed || undefined}
      data-refused={refused || undefined}
    >
      <fieldset disabled={decided}>{children}</fieldset>
      {origin && !changed && (
        <span className="small setting-source" data-source={origin.source} title={SOURCE[origin.source]}>
          {origin.source}
        </span>
      )}
      {decided && (
        <p className="small muted">
          <code>{origin.variable}</code> in the environment decides it. Unset the variable to set it here.
        </p>
      )}
      {changed && (
        <button
          type="button"
          className="link small setting-back"
          aria-label={`Back to what is stored: ${label}`}
          title="Back to what is stored"
          onClick={() => change(withValue(settings, path, stored))}
        >
          <RotateCcw size={11} aria-hidden /> revert
        </button>
      )}
      {refused && (
        <div className="field-error" role="alert">
          {problem.message}. {problem.hint}
        </div>
      )}
    </div>
  );
}

/** Whether the sentence names the setting itself, and not one below it. */
export function mentions(message: string, path: string): boolean {
  const at = message.indexOf(path);
  return at >= 0 && !/[\w.]/.test(message[at - 1] ?? " ") && !/^(\w|\.\w)/.test(message.slice(at + path.length));
}

function Control({ field }: { field: Field }) {
  const { settings, change, discarded } = useSettingsForm();
  const { path, label, testId } = field;
  const value = valueAt(settings, path);
  const put = (next: unknown) => change(withValue(settings, path, next));
  switch (field.kind) {
    case "toggle":
      return (
        <label className="check">
          <input
            type="checkbox"
            data-testid={testId}
            checked={value as boolean}
            onChange={(e) => put(e.target.checked)}
          />
          {label}
        </label>
      );
    case "whole":
    case "fraction":
      return (
        <NumberField
          label={label}
          testId={testId}
          value={value as number | null}
          fraction={field.kind === "fraction"}
          onChange={(n) => n !== null && put(n)}
        />
      );
    case "line":
      return (
        <label className="field">
          <span>{label}</span>
          <input
            className="mono"
            data-testid={testId}
            value={value as string}
            placeholder={field.placeholder}
            onChange={(e) => put(e.target.value)}
          />
        </label>
      );
    case "names":
      return (
        <ListField
          label={label}
          testId={testId}
          value={value as string[]}
          placeholder={field.placeholder}
          mono={!field.plain}
          onChange={put}
        />
      );
    case "choice": {
      const options = typeof field.options === "function" ? field.options(settings) : field.options;
      return (
        <label className="field">
          <span>{label}</span>
          <select data-testid={testId} value={value as string} onChange={(e) => put(e.target.value)}>
            {options.map(([v, word]) => (
              <option key={v} value={v}>
                {word}
              </option>
            ))}
          </select>
        </label>
      );
    }
    case "items":
      return <ItemList path={path} label={label} form={field.form} value={value as Value[]} onChange={put} />;
    case "json":
      return (
        <div className="field">
          <span>{label}</span>
          <ListAsJson
            path={path}
            label={label}
            name={`settings.${path}.${discarded}`}
            value={value as Value[]}
            onChange={put}
          />
          {(value as Value[]).length === 0 && (
            <button type="button" className="link small" onClick={() => put([field.example])}>
              Add an example
            </button>
          )}
        </div>
      );
  }
}
