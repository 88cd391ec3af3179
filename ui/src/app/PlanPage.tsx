/** The plan view: query and guard on the left, stages in the middle, what the plan costs and does below. */
import { useMemo } from "react";
import { Empty } from "../components/Empty";
import { Panes } from "../components/Panes";
import { PastNote, type Instant } from "../components/PastNote";
import { TabPanes } from "../components/TabPanes";
import { GuardPanel } from "../features/guard/GuardPanel";
import { PlanHeader } from "../features/plan/PlanHeader";
import { QueryPanel } from "../features/plan/QueryPanel";
import { Welcome } from "../features/plan/Welcome";
import { DebugPanel } from "../features/run/DebugPanel";
import { PauseBanner } from "../features/run/PauseBanner";
import { RunControls } from "../features/run/RunControls";
import { Scrubber } from "../features/run/Scrubber";
import { Timeline } from "../features/run/Timeline";
import { ToolsThen } from "../features/run/ToolsThen";
import { FunnelPanel } from "../features/visibility/FunnelPanel";
import { PromptPanel } from "../features/visibility/PromptPanel";
import { TokensPanel } from "../features/visibility/TokensPanel";
import { TurnsPanel } from "../features/visibility/TurnsPanel";
import type { PlanView, RunState } from "../ipc/client";
import { useJustChanged, usePlanning } from "../lib/planning";
import { blockedBecause, useLiveRun } from "../lib/running";
import { fatesOf } from "../lib/steps";
import { useWindow } from "../lib/store";
import { usePast } from "../lib/usePast";
import { GraphOrTable } from "./GraphOrTable";
import { Inspector, useInspects } from "./Inspector";
import { TokensThen } from "./PastPanels";
import { RunEvents } from "./RunBottom";

/** The run of the open planning, at its newest event and at the one that is shown. */
interface Shown {
  newest: RunState | null;
  state: RunState | null;
  instant: Instant | null;
}

function useShown(plan: number | null): Shown {
  const newest = useLiveRun();
  const mine = useWindow((s) => (s.live !== null && s.live.plan === plan ? s.live.run : null));
  const cursor = useWindow((s) => (mine === null ? null : s.planCursor));
  const past = usePast(mine, cursor);
  const state = cursor === null ? newest : (past.state ?? newest);
  const instant: Instant | null =
    mine !== null && newest && state ? { run: mine, at: state.seq, last: newest.seq, of: "planCursor" } : null;
  return { newest, state, instant };
}

/** The instant, where it is not the newest. */
const pastOf = (instant: Instant | null): Instant | null => (instant && instant.at < instant.last ? instant : null);

export function PlanPage() {
  const view = usePlanning((s) => s.view);
  const shown = useShown(view?.id ?? null);
  const { state, instant } = shown;
  const past = pastOf(instant);
  const source = view && {
    planning: view.planning,
    run: state,
    live: past ? null : (instant?.run ?? null),
    instant: past,
  };
  const inspects = useInspects(source);
  const fates = useMemo(() => view && fatesOf(view.planning, state), [view, state]);
  return (
    <Panes
      id="plan"
      panes={[
        {
          id: "query",
          size: 330,
          min: 240,
          content: (
            <div className="panel-column">
              <QueryPanel />
              {past && <PastNote instant={past} />}
              {view && fates && <GuardPanel planning={view.planning} fates={fates} />}
            </div>
          ),
        },
        { id: "stage", min: 320, content: view ? <Middle view={view} shown={shown} /> : <Welcome /> },
        ...(inspects ? [{ id: "inspector", size: 360, min: 280, content: <Inspector source={source} /> }] : []),
      ]}
    />
  );
}

function Middle({ view, shown }: { view: PlanView; shown: Shown }) {
  const { newest, state, instant } = shown;
  const changed = useJustChanged("step");
  const cursor = useWindow((s) => s.planCursor);
  const over = newest !== null && newest.outcome !== null;
  return (
    <Panes
      id="plan-middle"
      orientation="vertical"
      panes={[
        {
          id: "graph",
          min: 140,
          content: (
            <div className="run-stage" data-past={pastOf(instant) !== null || undefined}>
              <PlanHeader
                view={view}
                run={state}
                controls={<RunControls run={newest} blocked={blockedBecause(view, newest)} />}
              />
              {newest && instant && <PauseBanner run={instant.run} state={newest} />}
              {instant && (over || cursor !== null) && (
                <Scrubber run={instant.run} of="planCursor" last={instant.last} cursor={cursor} live={!over} />
              )}
              <GraphOrTable
                graph={view.graph}
                specs={view.planning.plan.steps}
                run={state}
                criticalPath={view.planning.shape.critical_path}
                changed={changed}
              />
            </div>
          ),
        },
        { id: "bottom", size: 230, min: 90, content: <Bottom view={view} shown={shown} /> },
      ]}
    />
  );
}

function Bottom({ view, shown: { newest, state, instant } }: { view: PlanView; shown: Shown }) {
  const tab = useWindow((s) => s.bottomTab);
  const set = useWindow((s) => s.set);
  const { planning, graph } = view;
  const run = instant?.run ?? null;
  const past = pastOf(instant);
  return (
    <TabPanes
      label="Details of the plan"
      testId="tab"
      value={tab}
      onChange={(bottomTab) => set({ bottomTab })}
      tabs={[
        {
          value: "events",
          label: "Events",
          content: () => <RunEvents run={run} of="planCursor" graph={graph} state={newest} at={state?.seq ?? null} />,
        },
        { value: "timeline", label: "Timeline", content: () => <Timeline run={run} graph={graph} /> },
        { value: "debug", label: "Debug", content: () => <DebugPanel graph={graph} state={state} /> },
        {
          value: "turns",
          label: `Turns${planning.turns.length > 0 ? ` ${planning.turns.length}` : ""}`,
          content: () => <TurnsPanel planning={planning} />,
        },
        {
          value: "tokens",
          label: "Tokens",
          content: () =>
            past ? <TokensThen instant={past} planning={planning} /> : <TokensPanel planning={planning} />,
        },
        { value: "prompt", label: "Prompt", content: () => <PromptPanel planning={planning} /> },
        { value: "funnel", label: "Funnel", content: () => <FunnelPanel rows={planning.funnel} /> },
        {
          value: "tools",
          label: "Tools",
          content: () =>
            instant ? (
              <ToolsThen instant={instant} />
            ) : (
              <Empty title="No run yet">
                <p>Run the plan with F5; what becomes of each tool of the catalog is followed here.</p>
              </Empty>
            ),
        },
      ]}
    />
  );
}
