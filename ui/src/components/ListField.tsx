import { useId, useState, type ChangeEvent } from "react";
import { sameJson } from "../lib/json";

interface ListFieldProps {
  label: string;
  value: string[];
  onChange: (value: string[]) => void;
  testId?: string;
  placeholder?: string;
  mono?: boolean;
  disabled?: boolean;
  /** Items may hold commas: each stands in a line of its own. */
  lines?: boolean;
}

const parse = (text: string, lines: boolean): string[] =>
  text
    .split(lines ? "\n" : /[,\n]/)
    .map((item) => item.trim())
    .filter((item) => item !== "");

/** A list of words as text with commas, or in lines. The text stays as typed; only a value from outside replaces it. */
export function ListField({ label, value, onChange, testId, placeholder, mono, disabled, lines }: ListFieldProps) {
  const id = useId();
  const joined = value.join(lines ? "\n" : ", ");
  const [typed, setTyped] = useState(joined);
  const text = sameJson(parse(typed, lines === true), value) ? typed : joined;
  const Text = lines ? "textarea" : "input";
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <Text
        id={id}
        className={mono ? "mono" : undefined}
        data-testid={testId}
        value={text}
        rows={lines ? Math.max(1, text.split("\n").length) : undefined}
        placeholder={placeholder}
        disabled={disabled}
        onChange={(e: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => {
          setTyped(e.target.value);
          const next = parse(e.target.value, lines === true);
          if (!sameJson(next, value)) onChange(next);
        }}
      />
    </div>
  );
}
