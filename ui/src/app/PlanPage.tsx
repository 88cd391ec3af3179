/** The plan view: query and guard on the left, stages in the middle, what the plan costs and does below. */
import * as Tabs from "@radix-ui/react-tabs";
import { Panes } from "../components/Panes";
import { GuardPanel } from "../features/guard/GuardPanel";
import { PlanHeader } from "../features/plan/PlanHeader";
import { QueryPanel } from "../features/plan/QueryPanel";
import { Welcome } from "../features/plan/Welcome";
import { EventLog } from "../features/run/EventLog";
import { DebugPanel } from "../features/run/DebugPanel";
import { PauseBanner } from "../features/run/PauseBanner";
import { RunControls } from "../features/run/RunControls";
import { Timeline } from "../features/run/Timeline";
import { FunnelPanel } from "../features/visibility/FunnelPanel";
import { PromptPanel } from "../features/visibility/PromptPanel";
import { TokensPanel } from "../features/visibility/TokensPanel";
import { TurnsPanel } from "../features/visibility/TurnsPanel";
import type { PlanView } from "../ipc/client";
import { useJustChanged, usePlanning } from "../lib/planning";
import { blockedBecause, useLiveRun } from "../lib/running";
import { useWindow, type BottomTab } from "../lib/store";
import { GraphOrTable } from "./GraphOrTable";
import { Inspector, useInspects } from "./Inspector";

export function PlanPage() {
  const view = usePlanning((s) => s.view);
  const run = useLiveRun();
  const mine = useMine(view?.id ?? null);
  const source = view && { planning: view.planning, run, live: mine };
  const inspects = useInspects(source);
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
              {view && <GuardPanel planning={view.planning} />}
            </div>
          ),
        },
        { id: "stage", min: 320, content: view ? <Middle view={view} /> : <Welcome /> },
        ...(inspects ? [{ id: "inspector", size: 360, min: 280, content: <Inspector source={source} /> }] : []),
      ]}
    />
  );
}

function Middle({ view }: { view: PlanView }) {
  const run = useLiveRun();
  const mine = useMine(view.id);
  const changed = useJustChanged("step");
  return (
    <Panes
      id="plan-middle"
      orientation="vertical"
      panes={[
        {
          id: "graph",
          min: 140,
          content: (
            <>
              <PlanHeader view={view} controls={<RunControls run={run} blocked={blockedBecause(view, run)} />} />
              {run && mine !== null && <PauseBanner run={mine} state={run} />}
              <GraphOrTable
                graph={view.graph}
                specs={view.planning.plan.steps}
                run={run}
                criticalPath={view.planning.shape.critical_path}
                changed={changed}
              />
            </>
          ),
        },
        { id: "bottom", size: 230, min: 90, content: <Bottom view={view} /> },
      ]}
    />
  );
}

function Bottom({ view }: { view: PlanView }) {
  const run = useLiveRun();
  const tab = useWindow((s) => s.bottomTab);
  const set = useWindow((s) => s.set);
  return (
    <Tabs.Root value={tab} onValueChange={(value) => set({ bottomTab: value as BottomTab })} className="bottom">
      <Tabs.List className="tabs" aria-label="Details of the plan">
        <Tabs.Trigger value="events" data-testid="tab-events">
          Events
        </Tabs.Trigger>
        <Tabs.Trigger value="timeline" data-testid="tab-timeline">
          Timeline
        </Tabs.Trigger>
        <Tabs.Trigger value="debug" data-testid="tab-debug">
          Debug
        </Tabs.Trigger>
        <Tabs.Trigger value="turns" data-testid="tab-turns">
          Turns{view.planning.turns.length > 0 && ` ${view.planning.turns.length}`}
        </Tabs.Trigger>
        <Tabs.Trigger value="tokens" data-testid="tab-tokens">
          Tokens
        </Tabs.Trigger>
        <Tabs.Trigger value="prompt" data-testid="tab-prompt">
          Prompt
        </Tabs.Trigger>
        <Tabs.Trigger value="funnel" data-testid="tab-funnel">
          Funnel
        </Tabs.Trigger>
      </Tabs.List>
      <Tabs.Content value="events" className="tab-body">
        <LiveEvents view={view} />
      </Tabs.Content>
      <Tabs.Content value="timeline" className="tab-body">
        <LiveTimeline view={view} />
      </Tabs.Content>
      <Tabs.Content value="debug" className="tab-body">
        <DebugPanel graph={view.graph} state={run} />
      </Tabs.Content>
      <Tabs.Content value="turns" className="tab-body">
        <TurnsPanel planning={view.planning} />
      </Tabs.Content>
      <Tabs.Content value="tokens" className="tab-body">
        <TokensPanel planning={view.planning} />
      </Tabs.Content>
      <Tabs.Content value="prompt" className="tab-body">
        <PromptPanel planning={view.planning} />
      </Tabs.Content>
      <Tabs.Content value="funnel" className="tab-body">
        <FunnelPanel rows={view.planning.funnel} />
      </Tabs.Content>
    </Tabs.Root>
  );
}

/** The run that this window started of the open planning; null when there is none. */
function useMine(plan: number | null): number | null {
  return useWindow((s) => (s.live !== null && s.live.plan === plan ? s.live.run : null));
}

function LiveEvents({ view }: { view: PlanView }) {
  const run = useMine(view.id);
  const state = useLiveRun();
  const set = useWindow((s) => s.set);
  const step = useWindow((s) => s.step);
  return (
    <EventLog
      run={run}
      startedMs={state?.started_ms ?? null}
      at={state?.seq ?? null}
      step={step}
      known={{ tool: [...new Set(view.graph.steps.map((s) => s.tool))], step: view.graph.steps.map((s) => s.id) }}
      onSelect={(e) => e.step !== "" && set({ step: e.step, tool: null })}
    />
  );
}

function LiveTimeline({ view }: { view: PlanView }) {
  const run = useMine(view.id);
  return <Timeline run={run} graph={view.graph} />;
}
