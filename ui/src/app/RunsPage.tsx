/** Past runs: the list, and one of them at any of its instants. */
import { useQuery } from "@tanstack/react-query";
import { RunOutcomeBadge } from "../components/Badges";
import { Empty } from "../components/Empty";
import { Panes } from "../components/Panes";
import { ProblemNote } from "../components/ProblemNote";
import { StepProgress } from "../components/StepProgress";
import { ImportButton } from "../features/run/Import";
import { OriginBanner } from "../features/run/OriginBanner";
import { PauseBanner } from "../features/run/PauseBanner";
import { RunActions } from "../features/run/RunActions";
import { RunControls } from "../features/run/RunControls";
import { RunList } from "../features/run/RunList";
import { Scrubber } from "../features/run/Scrubber";
import { Problem, type RunDetail, type RunState } from "../ipc/client";
import { duration } from "../lib/format";
import { liveQuery, runQuery } from "../lib/queries";
import { useRunning } from "../lib/running";
import { useWindow } from "../lib/store";
import { usePast } from "../lib/usePast";
import { RunBottom } from "./RunBottom";
import { GraphOrTable } from "./GraphOrTable";
import { Inspector, useInspects } from "./Inspector";

const NO_PATH: readonly string[] = [];
const UNCHANGED: ReadonlySet<string> = new Set();

export function RunsPage() {
  const open = useWindow((s) => s.openRun);
  const cursor = useWindow((s) => s.cursor);
  const { data: detail, error } = useQuery({ ...runQuery(open ?? 0), enabled: open !== null });
  const { data: live } = useQuery({ ...liveQuery(open ?? 0), enabled: open !== null });
  const past = usePast(open, cursor);
  const state = cursor === null ? (live ?? detail?.state ?? null) : past.state;
  const planning = detail?.state.planning ?? null;
  const last = Math.max(live?.seq ?? 0, detail?.state.seq ?? 0);
  const instant = open !== null && state && { run: open, at: state.seq, last, of: "cursor" as const };
  const source = planning && { planning, run: state, live: cursor === null ? open : null, instant: instant || null };
  const inspects = useInspects(source);
  const failed = error ?? past.error;

  return (
    <Panes
      id="runs"
      panes={[
        {
          id: "list",
          size: 330,
          min: 220,
          content: (
            <div className="panel-column">
              <div className="toolbar">
                <h2 className="grow">Runs</h2>
                <ImportButton />
              </div>
              <RunList />
            </div>
          ),
        },
        {
          id: "run",
          min: 320,
          content: (
            <>
              {failed && <ProblemNote problem={Problem.from(failed)} />}
              {open === null && (
                <div className="graph-empty">
                  <Empty title="Choose a run">
                    <p>Its graph and journal appear here, and the arrow keys step through what happened.</p>
                  </Empty>
                </div>
              )}
              {open !== null && detail && <OpenRun detail={detail} state={state} cursor={cursor} />}
            </>
          ),
        },
        ...(inspects ? [{ id: "inspector", size: 360, min: 280, content: <Inspector source={source} /> }] : []),
      ]}
    />
  );
}

function OpenRun({ detail, state, cursor }: { detail: RunDetail; state: RunState | null; cursor: number | null }) {
  const { summary, graph } = detail;
  const { data: live } = useQuery(liveQuery(summary.id));
  const newest = live ?? detail.state;
  const { problem, dismiss } = useRunning();
  const last = Math.max(live?.seq ?? 0, detail.state.seq);
  const outcome = state?.outcome ?? null;
  return (
    <div className="run-stage" data-past={(cursor !== null && cursor < last) || undefined}>
      <div className="plan-header">
        <div className="plan-line">
          {newest.outcome === null && <RunControls run={newest} />}
          <strong>Run {summary.id}</strong>
          <span data-testid="run-outcome" data-outcome-of-run={outcome ?? "running"}>
            <RunOutcomeBadge of={outcome} paused={state?.paused != null} />
          </span>
          {state && <StepProgress run={state} />}
          {outcome !== null && <span className="muted">{duration(summary.duration_ms)}</span>}
          <span className="truncate grow" title={summary.query}>
            {summary.query}
          </span>
          <span className="muted run-catalog">catalog r{summary.catalog_revision}</span>
          <RunActions summary={summary} graph={graph} state={state ?? newest} cursor={cursor} />
        </div>
      </div>
      {problem && <ProblemNote problem={problem} onDismiss={dismiss} />}
      <OriginBanner summary={summary} state={state} />
      <PauseBanner run={summary.id} state={newest} />
      <Scrubber run={summary.id} of="cursor" last={last} cursor={cursor} live={newest.outcome === null} />
      <Panes
        id="run-middle"
        orientation="vertical"
        panes={[
          {
            id: "run-graph",
            min: 140,
            content: (
              <GraphOrTable
                graph={graph}
                specs={detail.state.plan.steps}
                run={state}
                criticalPath={detail.state.planning?.shape.critical_path ?? NO_PATH}
                changed={UNCHANGED}
              />
            ),
          },
          {
            id: "run-events",
            size: 260,
            min: 90,
            content: (
              <RunBottom
                instant={{ run: summary.id, at: state?.seq ?? last, last, of: "cursor" }}
                graph={graph}
                planning={detail.state.planning}
                state={newest}
                shown={state}
              />
            ),
          },
        ]}
      />
    </div>
  );
}
