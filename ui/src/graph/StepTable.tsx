/** The table twin of the graph: the same steps in reading order, which is also what a screen reader gets. */
import { useMemo } from "react";
import { DataTable, type Column } from "../components/DataTable";
import { ClassificationBadge } from "../components/Badges";
import { StatusIcon } from "../components/Status";
import type { GraphStep, GraphView } from "../ipc/client";
import { duration, expected } from "../lib/format";
import type { StepLook } from "../lib/steps";
import { STATUS } from "../lib/words";

interface Row extends GraphStep {
  after: string;
  look: StepLook | undefined;
}

export interface StepTableProps {
  graph: GraphView;
  looks: Record<string, StepLook>;
  selected: string | null;
  changed: ReadonlySet<string>;
  /** Ids that a search or filter left; null means all. */
  shown: ReadonlySet<string> | null;
  onSelect: (id: string | null) => void;
}

const columns: Column<Row>[] = [
  { id: "stage", header: "Stage", value: (r) => r.stage, width: "52px", numeric: true },
  { id: "id", header: "Step", value: (r) => r.id, width: "88px", mono: true },
  { id: "tool", header: "Tool", value: (r) => r.tool, width: "minmax(120px, 1fr)", mono: true },
  {
    id: "status",
    header: "Status",
    value: (r) => (r.look ? STATUS[r.look.status] : "Planned"),
    cell: (r) => (
      <span data-testid={`step-status-${r.id}`} data-status={r.look?.status ?? "planned"}>
        {r.look ? <StatusIcon status={r.look.status} /> : null} {r.look ? STATUS[r.look.status] : "Planned"}
      </span>
    ),
    width: "104px",
  },
  {
    id: "class",
    header: "Class",
    value: (r) => r.classification,
    cell: (r) => <ClassificationBadge of={r.classification} />,
    width: "112px",
  },
  {
    id: "argument",
    header: "Argument",
    value: (r) => r.look?.argument ?? r.key_argument,
    width: "minmax(140px, 2fr)",
    mono: true,
  },
  { id: "after", header: "After", value: (r) => r.after, width: "minmax(80px, 1fr)", mono: true },
  {
    id: "time",
    header: "Time",
    value: (r) => r.look?.elapsed_ms ?? r.expected_ms ?? -1,
    cell: (r) => (r.look?.elapsed_ms != null ? duration(r.look.elapsed_ms) : expected(r.expected_ms)),
    width: "80px",
    numeric: true,
  },
];

export function StepTable({ graph, looks, selected, changed, shown, onSelect }: StepTableProps) {
  const before = useMemo(() => {
    const map = new Map<string, string[]>();
    for (const { from, to, implied } of graph.edges) if (!implied) map.set(to, [...(map.get(to) ?? []), from]);
    return map;
  }, [graph]);
  const rows = useMemo(
    () =>
      [...graph.steps]
        .filter((step) => shown === null || shown.has(step.id))
        .sort((a, b) => a.stage - b.stage)
        .map((step): Row => ({ ...step, after: before.get(step.id)?.join(", ") ?? "", look: looks[step.id] })),
    [graph, before, looks, shown],
  );
  return (
    <DataTable
      label="Steps"
      rows={rows}
      columns={columns}
      rowId={(r) => r.id}
      rowTestId={(r) => `step-${r.id}`}
      selected={selected}
      changed={changed}
      onSelect={(r) => onSelect(r.id)}
    />
  );
}
