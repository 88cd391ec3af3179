import { useCallback, useMemo } from "react";
import { Empty } from "../components/Empty";
import { StageGraph } from "../graph/StageGraph";
import { StepTable } from "../graph/StepTable";
import type { GraphView, RunState } from "../ipc/client";
import { looksOf } from "../lib/steps";
import { useWindow } from "../lib/store";

interface GraphOrTableProps {
  graph: GraphView;
  run: RunState | null;
  criticalPath: readonly string[];
  changed: ReadonlySet<string>;
}

/** The stages as a picture or as a table, whichever the person chose; both show the same selection and instant. */
export function GraphOrTable({ graph, run, criticalPath, changed }: GraphOrTableProps) {
  const asTable = useWindow((s) => s.asTable);
  const selected = useWindow((s) => s.step);
  const set = useWindow((s) => s.set);
  const looks = useMemo(() => looksOf(run), [run]);
  const select = useCallback((step: string | null) => set({ step, tool: null }), [set]);
  if (graph.steps.length === 0) {
    return (
      <div className="graph-empty">
        <Empty title="The plan has no steps">
          <p>
            No call passed the guard. The guard panel tells which rule stopped each one; the funnel shows where the
            other tools were lost.
          </p>
        </Empty>
      </div>
    );
  }
  const shared = { graph, looks, selected, changed, onSelect: select };
  return asTable ? <StepTable {...shared} /> : <StageGraph {...shared} criticalPath={criticalPath} />;
}
