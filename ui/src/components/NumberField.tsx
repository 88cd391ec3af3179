import { useId, useState } from "react";

interface NumberFieldProps {
  label: string;
  value: number | null;
  /** What an empty field means; absent where a number is needed. */
  unset?: string;
  onChange: (value: number | null) => void;
  testId?: string;
  max?: number;
  /** Also numbers such as 0.25. */
  fraction?: boolean;
}

/** Bindings carry these numbers as 32 bits. */
const LARGEST = 4_294_967_295;

/** A number, or nothing where nothing has a meaning. What is no number is marked and not handed on. */
export function NumberField({ label, value, unset, onChange, testId, max = LARGEST, fraction }: NumberFieldProps) {
  const id = useId();
  const [typed, setTyped] = useState({ text: value?.toString() ?? "", said: value });
  // Once the value no longer is what the text said, it came from outside.
  const text = typed.said === value ? typed.text : (value?.toString() ?? "");
  const fits = (trimmed: string) =>
    trimmed === "" ? unset !== undefined : (fraction ? /^\d*\.?\d+$/ : /^\d+$/).test(trimmed) && Number(trimmed) <= max;
  const valid = fits(text.trim());
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        inputMode={fraction ? "decimal" : "numeric"}
        data-testid={testId}
        aria-invalid={!valid}
        value={text}
        placeholder={unset}
        onChange={(e) => {
          const next = e.target.value.trim();
          const ok = fits(next);
          const said = ok ? (next === "" ? null : Number(next)) : value;
          setTyped({ text: e.target.value, said });
          if (ok && said !== value) onChange(said);
        }}
      />
      {!valid && (
        <span className="field-error">
          A {fraction ? "" : "whole "}number{unset !== undefined ? ", or empty" : ""}, at most {max}
        </span>
      )}
    </div>
  );
}
