/** Fields that read and write one setting by its path, and show beneath it what Rust said of it. */
import { createContext, use, useEffect, useRef, type ReactNode } from "react";
import { JsonEditor } from "../../components/JsonEditor";
import { ListField } from "../../components/ListField";
import { NumberField } from "../../components/NumberField";
import type { Problem, Settings, Value } from "../../ipc/client";
import { valueAt, withValue, type PathOf } from "./paths";

interface Form {
  settings: Settings;
  change: (settings: Settings) => void;
  problem: Problem | null;
  /** How often changes were thrown away; fields that keep a text of their own start afresh then. */
  discarded: number;
  /** The setting that a verdict led to. */
  at: string | null;
}

export const FormContext = createContext<Form | null>(null);

function useSetting<V>(path: string) {
  const form = use(FormContext)!;
  return {
    form,
    value: valueAt(form.settings, path) as V,
    put: (value: V) => form.change(withValue(form.settings, path, value)),
  };
}

/** Around a field: the place that a verdict's link leads to, and the refusal that names it. */
function Setting({ path, children }: { path: string; children: ReactNode }) {
  const { problem, at } = use(FormContext)!;
  const place = useRef<HTMLDivElement>(null);
  const here = at === path;
  useEffect(() => {
    if (here) place.current?.scrollIntoView({ block: "center" });
  }, [here]);
  const refused = problem !== null && mentions(problem.message, path);
  return (
    <div
      ref={place}
      className="setting"
      data-setting={path}
      data-at={here || undefined}
      data-refused={refused || undefined}
    >
      {children}
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

interface FieldProps<V> {
  path: PathOf<V>;
  label: string;
  testId?: string;
}

export function Toggle({ path, label, testId }: FieldProps<boolean>) {
  const { value, put } = useSetting<boolean>(path);
  return (
    <Setting path={path}>
      <label className="check">
        <input type="checkbox" data-testid={testId} checked={value} onChange={(e) => put(e.target.checked)} />
        {label}
      </label>
    </Setting>
  );
}

export function Whole({ path, label, testId }: FieldProps<number>) {
  const { value, put } = useSetting<number>(path);
  return (
    <Setting path={path}>
      <NumberField
        label={label}
        testId={testId ?? `setting-${path}`}
        value={value}
        onChange={(n) => n !== null && put(n)}
      />
    </Setting>
  );
}

/** A number with a fraction; what is none is kept as it was. */
export function Fraction({ path, label, testId }: FieldProps<number | null>) {
  const { value, put, form } = useSetting<number | null>(path);
  return (
    <Setting path={path}>
      <label className="field">
        <span>{label}</span>
        <input
          key={form.discarded}
          inputMode="decimal"
          data-testid={testId}
          defaultValue={value ?? ""}
          onChange={(e) => {
            const next = Number(e.target.value);
            if (e.target.value.trim() !== "" && Number.isFinite(next) && next !== value) put(next);
          }}
        />
      </label>
    </Setting>
  );
}

export function Line({ path, label, testId, placeholder }: FieldProps<string> & { placeholder?: string }) {
  const { value, put } = useSetting<string>(path);
  return (
    <Setting path={path}>
      <label className="field">
        <span>{label}</span>
        <input
          className="mono"
          data-testid={testId}
          value={value}
          placeholder={placeholder}
          onChange={(e) => put(e.target.value)}
        />
      </label>
    </Setting>
  );
}

interface ListProps extends FieldProps<string[]> {
  placeholder?: string;
  plain?: boolean;
}

export function Names({ path, label, testId, placeholder = "none", plain }: ListProps) {
  const { value, put } = useSetting<string[]>(path);
  return (
    <Setting path={path}>
      <ListField label={label} testId={testId} value={value} placeholder={placeholder} mono={!plain} onChange={put} />
    </Setting>
  );
}

interface ChoiceProps extends FieldProps<string> {
  options: readonly (readonly [value: string, label: string])[];
}

export function Choice({ path, label, testId, options }: ChoiceProps) {
  const { value, put } = useSetting<string>(path);
  return (
    <Setting path={path}>
      <label className="field">
        <span>{label}</span>
        <select data-testid={testId} value={value} onChange={(e) => put(e.target.value)}>
          {options.map(([v, word]) => (
            <option key={v} value={v}>
              {word}
            </option>
          ))}
        </select>
      </label>
    </Setting>
  );
}

interface JsonProps {
  path: string;
  label: string;
  /** What a new item looks like. */
  example: Value;
}

/** A list of objects that has no form of its own. */
export function Items({ path, label, example }: JsonProps) {
  const { value, put, form } = useSetting<Value>(path);
  // The editor takes objects; the list stands in one.
  const key = path.split(".").at(-1)!;
  return (
    <Setting path={path}>
      <div className="field">
        <span>{label}</span>
        <JsonEditor
          key={form.discarded}
          name={`settings.${path}.${form.discarded}`}
          label={label}
          value={{ [key]: value }}
          check={(v) => (Array.isArray((v as { [k: string]: Value })[key]) ? null : `${key} must be a list`)}
          onChange={(v) => put((v as { [k: string]: Value })[key]!)}
        />
        {Array.isArray(value) && value.length === 0 && (
          <button type="button" className="link small" onClick={() => put([example])}>
            Add an example
          </button>
        )}
      </div>
    </Setting>
  );
}
