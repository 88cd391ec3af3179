/** Above a graph of some size: how its steps stand, a click keeps one status, and a field that finds a step. */
import { ChevronDown, ChevronUp, Search, X } from "lucide-react";
import { useEffect, useRef } from "react";
import { IconButton } from "../components/IconButton";
import { StatusIcon } from "../components/Status";
import type { GraphView, StepStatus } from "../ipc/client";
import { count } from "../lib/format";
import type { StepLook } from "../lib/steps";
import { STATUS } from "../lib/words";
import { nextMatch, useFinding } from "./find";

const ORDER: StepStatus[] = ["running", "waiting", "ready", "failed", "succeeded", "skipped", "cancelled", "pending"];
const MANY = 12;

interface GraphBarProps {
  graph: GraphView;
  looks: Record<string, StepLook>;
  /** How many steps may run at once; those that are ready beyond it wait in the queue. */
  limit: number | null;
  matches: string[] | null;
  selected: string | null;
  onSelect: (id: string) => void;
}

export function GraphBar({ graph, looks, limit, matches, selected, onSelect }: GraphBarProps) {
  const { open, text, statuses, set } = useFinding();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (open) field.current?.select();
  }, [open]);

  const known = Object.values(looks);
  const counts = new Map<StepStatus, number>();
  for (const { status } of known) counts.set(status, (counts.get(status) ?? 0) + 1);
  if (graph.steps.length <= MANY && !open && statuses.size === 0 && text === "" && !counts.has("ready")) return null;

  const toggle = (status: StepStatus) => {
    const next = new Set(statuses);
    if (!next.delete(status)) next.add(status);
    set({ statuses: next });
  };
  const go = (by: 1 | -1) => {
    const next = nextMatch(matches ?? [], selected, by);
    if (next !== null) onSelect(next);
  };
  const at = matches && selected !== null ? matches.indexOf(selected) : -1;

  return (
    <div className="graph-bar" data-testid="graph-bar">
      <div className="graph-statuses" role="group" aria-label="Keep steps of a status">
        {ORDER.filter((status) => counts.has(status) || statuses.has(status)).map((status) => (
          <button
            key={status}
            type="button"
            data-testid={`status-filter-${status}`}
            aria-pressed={statuses.has(status)}
            title={status === "ready" ? "Everything it needs is there; it waits for a free place" : undefined}
            onClick={() => toggle(status)}
          >
            <StatusIcon status={status} />
            <span className="graph-status-word">{status === "ready" ? "Queued" : STATUS[status]}</span>
            <strong>
              {count(counts.get(status) ?? 0)}
              {status === "running" && limit !== null && ` of ${limit}`}
            </strong>
          </button>
        ))}
        {known.length === 0 && <span className="muted">{count(graph.steps.length)} steps planned</span>}
      </div>
      <span className="grow" />
      {matches !== null && (
        <span className="muted graph-matches" data-testid="graph-matches" aria-live="polite">
          {matches.length === 0
            ? "No step"
            : at < 0
              ? `${count(matches.length)} of ${count(graph.steps.length)}`
              : `${count(at + 1)} of ${count(matches.length)}`}
        </span>
      )}
      <label className="graph-find">
        <Search size={13} aria-hidden />
        <input
          ref={field}
          data-testid="graph-find"
          aria-label="Find step"
          placeholder="Find step (Ctrl+F)"
          value={text}
          onChange={(e) => set({ text: e.target.value })}
          onBlur={() => set({ open: false })}
          onKeyDown={(e) => {
            if (e.key === "Enter") go(e.shiftKey ? -1 : 1);
            else if (e.key === "Escape") {
              set({ text: "", open: false, statuses: new Set() });
              e.currentTarget.blur();
            } else return;
            e.preventDefault();
            e.stopPropagation();
          }}
        />
      </label>
      <IconButton
        label="Previous match"
        keys="Shift+Enter"
        icon={ChevronUp}
        disabled={!matches?.length}
        onClick={() => go(-1)}
      />
      <IconButton
        label="Next match"
        keys="Enter"
        icon={ChevronDown}
        disabled={!matches?.length}
        onClick={() => go(1)}
      />
      {matches !== null && (
        <IconButton label="Show all steps" keys="Esc" icon={X} onClick={() => set({ text: "", statuses: new Set() })} />
      )}
    </div>
  );
}
