/** Where a filter of events is typed: keys and values are offered, used filters come back, a mistake is named. */
import { Filter, X } from "lucide-react";
import { useRef, useState, type KeyboardEvent } from "react";
import type { Problem } from "../../ipc/client";
import { recentFilters, rememberFilter, suggest } from "./filter";

interface FilterFieldProps {
  value: string;
  /** What can stand after a key, by key. */
  known: Record<string, readonly string[]>;
  problem: Problem | null;
  onChange: (filter: string) => void;
}

export function FilterField({ value, known, problem, onChange }: FilterFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const [caret, setCaret] = useState(0);
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(-1);

  const recent = value === "" ? recentFilters() : [];
  const { from, to, options } = suggest(value, caret, known);
  const lines = [
    ...recent.map((filter) => ({ insert: filter, hint: "used before", whole: true })),
    ...options.map((option) => ({ ...option, whole: false })),
  ];

  const choose = (line: (typeof lines)[number]) => {
    const next = line.whole ? line.insert : value.slice(0, from) + line.insert + value.slice(to).trimStart();
    const end = line.whole ? next.length : from + line.insert.length;
    onChange(next);
    setAt(-1);
    setCaret(end);
    requestAnimationFrame(() => field.current?.setSelectionRange(end, end));
  };
  const press = (event: KeyboardEvent) => {
    const chosen = lines[at];
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      setOpen(true);
      setAt((i) => Math.max(-1, Math.min(lines.length - 1, i + (event.key === "ArrowDown" ? 1 : -1))));
    } else if ((event.key === "Enter" || event.key === "Tab") && open && chosen) choose(chosen);
    else if (event.key === "Enter") {
      rememberFilter(value);
      setOpen(false);
    } else if (event.key === "Escape" && open && lines.length > 0) setOpen(false);
    else if (event.key === "Escape" && value !== "") onChange("");
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div className="event-filter" data-bad={problem !== null || undefined}>
      <Filter size={13} aria-hidden />
      <input
        ref={field}
        data-testid="event-filter"
        role="combobox"
        aria-label="Filter events"
        aria-expanded={open}
        aria-controls="event-filter-options"
        aria-invalid={problem !== null}
        aria-describedby={problem ? "event-filter-problem" : undefined}
        className="mono"
        spellCheck={false}
        placeholder="Filter: status:failed tool:jira dur:>500ms -kind:step_ready"
        value={value}
        onChange={(e) => {
          onChange(e.target.value);
          setCaret(e.target.selectionStart ?? e.target.value.length);
          setOpen(true);
          setAt(-1);
        }}
        onSelect={(e) => setCaret(e.currentTarget.selectionStart ?? 0)}
        onFocus={() => setOpen(true)}
        onBlur={() => {
          setOpen(false);
          if (!problem) rememberFilter(value);
        }}
        onKeyDown={press}
      />
      {value !== "" && (
        <button
          type="button"
          className="icon-button"
          aria-label="Clear the filter"
          title="Clear (Esc)"
          onClick={() => onChange("")}
        >
          <X size={13} />
        </button>
      )}
      {open && lines.length > 0 && (
        <ul className="popover event-filter-options" id="event-filter-options" role="listbox">
          {lines.map((line, i) => (
            <li
              key={`${line.whole} ${line.insert}`}
              role="option"
              aria-selected={i === at}
              onMouseDown={(e) => {
                // The field keeps the focus.
                e.preventDefault();
                choose(line);
              }}
            >
              <code>{line.insert}</code>
              <span className="muted">{line.hint}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
