/** Below an open run: its journal as lines, where its time went, and what held at the instant that is shown. */
import { useMemo } from "react";
import type { Instant } from "../components/PastNote";
import { TabPanes } from "../components/TabPanes";
import { Compare } from "../features/run/Compare";
import { DebugPanel } from "../features/run/DebugPanel";
import { EventLog } from "../features/run/EventLog";
import { RunTree } from "../features/run/RunTree";
import { Timeline } from "../features/run/Timeline";
import { ToolsThen } from "../features/run/ToolsThen";
import type { GraphView, Planning, RunState } from "../ipc/client";
import { useWindow, type CursorOf } from "../lib/store";
import { TokensThen, VerdictsThen } from "./PastPanels";

interface RunBottomProps {
  instant: Instant;
  graph: GraphView;
  planning: Planning | null;
  /** At its newest event. */
  state: RunState;
  /** At the instant. */
  shown: RunState | null;
}

export function RunBottom({ instant, graph, planning, state, shown }: RunBottomProps) {
  const tab = useWindow((s) => s.runTab);
  const cursor = useWindow((s) => s.cursor);
  const set = useWindow((s) => s.set);
  const { run } = instant;
  return (
    <TabPanes
      label="Details of the run"
      testId="run-tab"
      value={tab}
      onChange={(runTab) => set({ runTab })}
      tabs={[
        {
          value: "events",
          label: "Events",
          content: () => <RunEvents run={run} of="cursor" graph={graph} state={state} at={cursor ?? instant.last} />,
        },
        { value: "timeline", label: "Timeline", content: () => <Timeline run={run} graph={graph} /> },
        {
          value: "verdicts",
          label: "Verdicts",
          content: () => <VerdictsThen instant={instant} planning={planning} state={shown} />,
        },
        { value: "tokens", label: "Tokens", content: () => <TokensThen instant={instant} planning={planning} /> },
        { value: "tools", label: "Tools", content: () => <ToolsThen instant={instant} /> },
        { value: "debug", label: "Debug", content: () => <DebugPanel graph={graph} state={shown} /> },
        { value: "compare", label: "Compare", content: () => <Compare run={run} /> },
        { value: "tree", label: "Origin", content: () => <RunTree run={run} /> },
      ]}
    />
  );
}

interface RunEventsProps {
  run: number | null;
  of: CursorOf;
  graph: GraphView;
  /** At its newest event. */
  state: RunState | null;
  /** Number of the event that is shown. */
  at: number | null;
}

/** The log of a run, where a click shows the run as it was at that event. */
export function RunEvents({ run, of, graph, state, at }: RunEventsProps) {
  const set = useWindow((s) => s.set);
  const step = useWindow((s) => s.step);
  const known = useMemo(
    () => ({ tool: [...new Set(graph.steps.map((s) => s.tool))], step: graph.steps.map((s) => s.id) }),
    [graph],
  );
  return (
    <EventLog
      run={run}
      startedMs={state?.started_ms ?? null}
      at={at}
      step={step}
      known={known}
      onSelect={(e) =>
        set({
          [of]: state === null || e.seq >= state.seq ? null : e.seq,
          ...(e.step !== "" ? { step: e.step, tool: null } : {}),
        })
      }
    />
  );
}
