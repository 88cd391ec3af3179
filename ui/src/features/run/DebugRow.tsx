import { Plus, X } from "lucide-react";
import type { ReactNode } from "react";
import { IconButton } from "../../components/IconButton";

interface DebugAddProps {
  testId: string;
  label: string;
  placeholder: string;
  value: string;
  invalid?: boolean;
  /** Id of the list of suggestions. */
  list?: string;
  addLabel: string;
  onChange: (value: string) => void;
  onAdd: () => void;
  children?: ReactNode;
}

/** A field whose line Enter adds to the list below. */
export function DebugAdd(props: DebugAddProps) {
  return (
    <div className="debug-add">
      <input
        className="mono"
        list={props.list}
        data-testid={props.testId}
        aria-label={props.label}
        aria-invalid={props.invalid}
        placeholder={props.placeholder}
        value={props.value}
        onChange={(e) => props.onChange(e.target.value)}
        onKeyDown={(e) => {
          if (e.key !== "Enter") return;
          e.preventDefault();
          props.onAdd();
        }}
      />
      {props.children}
      <IconButton label={props.addLabel} keys="Enter" icon={Plus} onClick={props.onAdd} />
    </div>
  );
}

interface DebugRowProps {
  testId: string;
  /** Whether it is on, where it can be switched. */
  on?: boolean;
  label: string;
  removeLabel: string;
  onSwitch?: (on: boolean) => void;
  onRemove: () => void;
  children: ReactNode;
}

/** A line of such a list: switched on and off, and taken away. */
export function DebugRow({ testId, on, label, removeLabel, onSwitch, onRemove, children }: DebugRowProps) {
  return (
    <li data-testid={testId} data-off={on === false || undefined}>
      {onSwitch && (
        <input type="checkbox" checked={on} aria-label={label} onChange={(e) => onSwitch(e.target.checked)} />
      )}
      {children}
      <IconButton label={removeLabel} icon={X} size={13} onClick={onRemove} />
    </li>
  );
}
