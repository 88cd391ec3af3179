import { useId, useState } from "react";
import type { Value } from "../ipc/client";
import { json } from "../lib/format";

interface ValueFieldProps {
  label: string;
  value: Value;
  rows?: number;
  testId?: string;
  /** Undefined while the text is no JSON. */
  onChange: (value: Value | undefined) => void;
}

/** Any JSON value as text; what is none is marked and not handed on. */
export function ValueField({ label, value, rows = 6, testId, onChange }: ValueFieldProps) {
  const id = useId();
  const [text, setText] = useState(() => json(value));
  const [wrong, setWrong] = useState<string | null>(null);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className="mono"
        rows={rows}
        spellCheck={false}
        data-testid={testId}
        aria-invalid={wrong !== null}
        value={text}
        onChange={(e) => {
          setText(e.target.value);
          try {
            onChange(JSON.parse(e.target.value) as Value);
            setWrong(null);
          } catch (thrown) {
            onChange(undefined);
            setWrong(thrown instanceof Error ? thrown.message : String(thrown));
          }
        }}
      />
      {wrong !== null && <span className="field-error">Not JSON: {wrong}</span>}
    </div>
  );
}
