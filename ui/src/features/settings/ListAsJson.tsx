import { JsonEditor } from "../../components/JsonEditor";
import type { Value } from "../../ipc/client";

interface ListAsJsonProps {
  path: string;
  label: string;
  /** Under this name invalid text waits. */
  name: string;
  value: Value[];
  onChange: (value: Value[]) => void;
}

/** The editor takes objects; the list stands in one, under its own name. */
export function ListAsJson({ path, label, name, value, onChange }: ListAsJsonProps) {
  const key = path.split(".").at(-1)!;
  const listIn = (object: Value) => (object as { [key: string]: Value })[key];
  return (
    <JsonEditor
      key={name}
      name={name}
      label={label}
      value={{ [key]: value }}
      check={(object) => (isListOfObjects(listIn(object)) ? null : `${key} must be a list of objects`)}
      onChange={(object) => onChange(listIn(object) as Value[])}
    />
  );
}

const isListOfObjects = (value: Value | undefined): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === "object" && item !== null && !Array.isArray(item));
