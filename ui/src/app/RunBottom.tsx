/** Below an open run: its journal as lines, and where its time went. */
import * as Tabs from "@radix-ui/react-tabs";
import { useMemo } from "react";
import { Compare } from "../features/run/Compare";
import { DebugPanel } from "../features/run/DebugPanel";
import { EventLog } from "../features/run/EventLog";
import { RunTree } from "../features/run/RunTree";
import { Timeline } from "../features/run/Timeline";
import type { GraphView, RunState } from "../ipc/client";
import { useWindow } from "../lib/store";

interface RunBottomProps {
  run: number;
  graph: GraphView;
  /** At its newest event. */
  state: RunState;
  /** Number of the event that is shown. */
  at: number;
}

export function RunBottom({ run, graph, state, shown, at }: RunBottomProps & { shown: RunState | null }) {
  const tab = useWindow((s) => s.runTab);
  const set = useWindow((s) => s.set);
  return (
    <Tabs.Root value={tab} onValueChange={(value) => set({ runTab: value as typeof tab })} className="bottom">
      <Tabs.List className="tabs" aria-label="Details of the run">
        <Tabs.Trigger value="events" data-testid="run-tab-events">
          Events
        </Tabs.Trigger>
        <Tabs.Trigger value="timeline" data-testid="run-tab-timeline">
          Timeline
        </Tabs.Trigger>
        <Tabs.Trigger value="debug" data-testid="run-tab-debug">
          Debug
        </Tabs.Trigger>
        <Tabs.Trigger value="compare" data-testid="run-tab-compare">
          Compare
        </Tabs.Trigger>
        <Tabs.Trigger value="tree" data-testid="run-tab-tree">
          Origin
        </Tabs.Trigger>
      </Tabs.List>
      <Tabs.Content value="events" className="tab-body">
        <RunEvents run={run} graph={graph} state={state} at={at} />
      </Tabs.Content>
      <Tabs.Content value="timeline" className="tab-body">
        <Timeline run={run} graph={graph} />
      </Tabs.Content>
      <Tabs.Content value="debug" className="tab-body">
        <DebugPanel graph={graph} state={shown} />
      </Tabs.Content>
      <Tabs.Content value="compare" className="tab-body">
        <Compare run={run} />
      </Tabs.Content>
      <Tabs.Content value="tree" className="tab-body">
        <RunTree run={run} />
      </Tabs.Content>
    </Tabs.Root>
  );
}

/** The log of a run, where a click shows the run as it was at that event. */
export function RunEvents({ run, graph, state, at }: RunBottomProps) {
  const set = useWindow((s) => s.set);
  const step = useWindow((s) => s.step);
  const known = useMemo(
    () => ({ tool: [...new Set(graph.steps.map((s) => s.tool))], step: graph.steps.map((s) => s.id) }),
    [graph],
  );
  return (
    <EventLog
      run={run}
      startedMs={state.started_ms}
      at={at}
      step={step}
      known={known}
      onSelect={(e) =>
        set({
          openRun: run,
          cursor: e.seq >= state.seq ? null : e.seq,
          ...(e.step !== "" ? { step: e.step, tool: null } : {}),
        })
      }
    />
  );
}
