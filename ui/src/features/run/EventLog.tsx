import { Empty } from "../../components/Empty";
import { DataTable, type Column } from "../../components/DataTable";
import type { EventRow } from "../../ipc/client";
import { timeOfDay } from "../../lib/format";
import "./run.css";

const columns: Column<EventRow>[] = [
  { id: "seq", header: "#", value: (r) => r.seq, width: "44px", numeric: true },
  { id: "at", header: "Time", value: (r) => r.at_ms, cell: (r) => timeOfDay(r.at_ms), width: "106px" },
  { id: "kind", header: "Event", value: (r) => r.kind.replaceAll("_", " "), width: "116px" },
  { id: "step", header: "Step", value: (r) => r.step, width: "72px", mono: true },
  { id: "text", header: "What happened", value: (r) => r.text, width: "minmax(180px, 1fr)" },
];

/** The journal of a run as lines. */
export function EventLog({
  events,
  at,
  onSelect,
}: {
  events: EventRow[];
  at: number | null;
  onSelect: (event: EventRow) => void;
}) {
  if (events.length === 0) {
    return (
      <Empty title="No events yet">
        <p>Run the plan with F5; each thing that happens becomes a line here.</p>
      </Empty>
    );
  }
  return (
    <DataTable
      label="Events"
      rows={events}
      columns={columns}
      rowId={(r) => String(r.seq)}
      rowTestId={(r) => `event-${r.seq}`}
      selected={at === null ? null : String(at)}
      onSelect={onSelect}
    />
  );
}
