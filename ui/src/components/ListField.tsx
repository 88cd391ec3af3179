import { useId, useState } from "react";
import { sameJson } from "../lib/json";

interface ListFieldProps {
  label: string;
  value: string[];
  onChange: (value: string[]) => void;
  testId?: string;
  placeholder?: string;
  mono?: boolean;
  disabled?: boolean;
}

function parseList(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** A list of words as comma-separated text. The text stays as typed; only a value from outside replaces it. */
export function ListField({ label, value, onChange, testId, placeholder, mono, disabled }: ListFieldProps) {
  const id = useId();
  const [typed, setTyped] = useState(value.join(", "));
  const text = sameJson(parseList(typed), value) ? typed : value.join(", ");
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className={mono ? "mono" : undefined}
        data-testid={testId}
        value={text}
        placeholder={placeholder}
        disabled={disabled}
        onChange={(e) => {
          setTyped(e.target.value);
          const next = parseList(e.target.value);
          if (!sameJson(next, value)) onChange(next);
        }}
      />
    </div>
  );
}
