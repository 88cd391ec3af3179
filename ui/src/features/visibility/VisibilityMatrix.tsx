/** Which tools the model sees in which state, for the tenant, mode and intent of the top bar. */
import { useQueries } from "@tanstack/react-query";
import { Check, EyeOff, Hourglass } from "lucide-react";
import { useMemo, useState } from "react";
import { ClassificationBadge } from "../../components/Badges";
import { DataTable, type Column } from "../../components/DataTable";
import { ProblemNote } from "../../components/ProblemNote";
import { EXECUTION_STATES, Problem, type CatalogRow, type ExecutionState } from "../../ipc/client";
import { useContextRequest } from "../../lib/planning";
import { stateCatalogQuery } from "../../lib/queries";
import { useWindow } from "../../lib/store";
import { GATE } from "../../lib/words";
import "./visibility.css";

interface Row {
  name: string;
  group: string;
  classification: CatalogRow["classification"];
  states: Record<ExecutionState, CatalogRow | undefined>;
}

function stateColumn(state: ExecutionState): Column<Row> {
  return {
    id: state,
    header: state,
    value: (r) => (r.states[state]?.visible ? 0 : 1),
    title: (r) => r.states[state]?.reason ?? "",
    cell: (r) => <Cell row={r.states[state]} />,
    width: "minmax(120px, 1fr)",
  };
}

const columns: Column<Row>[] = [
  { id: "name", header: "Tool", value: (r) => r.name, width: "minmax(180px, 1.4fr)", mono: true },
  { id: "group", header: "Group", value: (r) => r.group, width: "110px" },
  {
    id: "class",
    header: "Class",
    value: (r) => r.classification,
    cell: (r) => <ClassificationBadge of={r.classification} />,
    width: "118px",
  },
  ...EXECUTION_STATES.map(stateColumn),
];

function Cell({ row }: { row: CatalogRow | undefined }) {
  if (!row) return null;
  if (row.visible) {
    return (
      <span className="cell-visible">
        <Check size={13} aria-hidden /> visible
      </span>
    );
  }
  const deferred = row.outcome === "deferred";
  const Icon = deferred ? Hourglass : EyeOff;
  return (
    <span className={deferred ? "cell-deferred" : "cell-hidden"}>
      <Icon size={13} aria-hidden /> {deferred ? "deferred" : `hidden: ${GATE[row.gate].toLowerCase()}`}
    </span>
  );
}

export function VisibilityMatrix() {
  const { request } = useContextRequest();
  const tool = useWindow((s) => s.tool);
  const set = useWindow((s) => s.set);
  const [onlyDifferent, setOnlyDifferent] = useState(false);
  const answers = useQueries({ queries: EXECUTION_STATES.map((state) => stateCatalogQuery(request, state)) });
  const failed = answers.find((a) => a.error);
  const [first, second, third] = answers.map((a) => a.data);

  const rows = useMemo(() => {
    const catalogs = [first, second, third];
    const byName = catalogs.map((rows) => new Map(rows?.map((r) => [r.name, r])));
    return (first ?? []).map((r): Row => {
      const [REQUEST, REASONING, ACTION] = byName.map((m) => m.get(r.name));
      return { name: r.name, group: r.group, classification: r.classification, states: { REQUEST, REASONING, ACTION } };
    });
  }, [first, second, third]);
  const shown = onlyDifferent
    ? rows.filter((r) => new Set(Object.values(r.states).map((s) => s?.visible)).size > 1)
    : rows;

  return (
    <div className="panel-column">
      <div className="toolbar">
        <h2>Visibility</h2>
        {EXECUTION_STATES.map((state) => (
          <span key={state} className="muted" data-testid={`visible-count-${state}`}>
            {state} {rows.filter((r) => r.states[state]?.visible).length} of {rows.length}
          </span>
        ))}
        {request.intent === "" && <span className="muted">No intent is chosen, so ACTION counts as REASONING.</span>}
        <label className="check">
          <input type="checkbox" checked={onlyDifferent} onChange={(e) => setOnlyDifferent(e.target.checked)} /> only
          tools that differ between states
        </label>
      </div>
      {failed?.error && <ProblemNote problem={Problem.from(failed.error)} />}
      <DataTable
        label="Visibility by state"
        rows={shown}
        columns={columns}
        rowId={(r) => r.name}
        rowTestId={(r) => `visibility-row-${r.name}`}
        selected={tool}
        onSelect={(r) => set({ tool: r.name, step: null })}
      />
    </div>
  );
}
