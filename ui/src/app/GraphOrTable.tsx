import { useCallback, useDeferredValue, useMemo } from "react";
import { Empty } from "../components/Empty";
import { found, searchTexts, useFinding } from "../graph/find";
import { GraphBar } from "../graph/GraphBar";
import { StageGraph } from "../graph/StageGraph";
import { StepTable } from "../graph/StepTable";
import type { GraphView, RunState, StepSpec } from "../ipc/client";
import { useRunning, useStepBreakpoints } from "../lib/running";
import { looksOf } from "../lib/steps";
import { useWindow } from "../lib/store";

interface GraphOrTableProps {
  graph: GraphView;
  /** The plan's steps, whose arguments a search looks through. */
  specs: readonly StepSpec[];
  run: RunState | null;
  criticalPath: readonly string[];
  changed: ReadonlySet<string>;
}

/** The stages as a picture or as a table, whichever the person chose; both show the same selection and instant. */
export function GraphOrTable({ graph, specs, run, criticalPath, changed }: GraphOrTableProps) {
  const asTable = useWindow((s) => s.asTable);
  const selected = useWindow((s) => s.step);
  const set = useWindow((s) => s.set);
  const text = useDeferredValue(useFinding((s) => s.text));
  const statuses = useFinding((s) => s.statuses);
  const looks = useMemo(() => looksOf(run), [run]);
  const texts = useMemo(() => searchTexts(graph, specs), [graph, specs]);
  const matches = useMemo(() => found(graph, texts, looks, text, statuses), [graph, texts, looks, text, statuses]);
  const shown = useMemo(() => matches && new Set(matches), [matches]);
  const select = useCallback((step: string | null) => set({ step, tool: null }), [set]);
  const breakpoints = useStepBreakpoints();
  const breakAt = useRunning((s) => s.toggleBreakpoint);
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
  const debug = { breakpoints, onBreakpoint: breakAt };
  const shared = { graph, looks, selected, changed, shown, onSelect: select };
  return (
    <>
      <GraphBar
        graph={graph}
        looks={looks}
        limit={run?.parallel_limit ?? null}
        matches={matches}
        selected={selected}
        onSelect={select}
      />
      {asTable ? <StepTable {...shared} /> : <StageGraph {...shared} {...debug} criticalPath={criticalPath} />}
    </>
  );
}
