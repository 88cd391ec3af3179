/** What the window asks Rust, as query options: one place per question, so that panels share answers. */
import { keepPreviousData, QueryClient, queryOptions } from "@tanstack/react-query";
import {
  client,
  type ExecutionState,
  type PauseReason,
  type Request,
  type RunAdvanced,
  type RunState,
} from "../ipc/client";

export const queryClient = new QueryClient({
  // Rust is next door: a retry would only delay the message, and focus says nothing about freshness.
  defaultOptions: {
    queries: { retry: false, refetchOnWindowFocus: false, staleTime: Infinity, networkMode: "always" },
    mutations: { networkMode: "always" },
  },
});

export const infoQuery = queryOptions({ queryKey: ["info"], queryFn: () => client.info() });

/** Every planning brings answers of its own; a catalog of many thousand rows is not kept for the old ones. */
const KEPT_MS = 20_000;

export const catalogQuery = (request: Request, plan: number | null) =>
  queryOptions({
    queryKey: ["catalog", plan, request],
    queryFn: () => client.catalog(request, plan),
    gcTime: KEPT_MS,
    placeholderData: keepPreviousData,
  });

export const stateCatalogQuery = (request: Request, state: ExecutionState) => catalogQuery({ ...request, state }, null);

export const toolQuery = (name: string, request: Request, plan: number | null) =>
  queryOptions({
    queryKey: ["tool", plan, name, request],
    queryFn: () => client.tool(name, request, plan),
    gcTime: KEPT_MS,
    // Between two plannings the same tool stays on screen; another tool's data must not.
    placeholderData: (previous) => (previous?.spec.name === name ? previous : undefined),
  });

export const runsQuery = queryOptions({ queryKey: ["runs"], queryFn: () => client.runs() });

export const runQuery = (run: number) =>
  queryOptions({ queryKey: ["run", run, "detail"], queryFn: () => client.openRun(run) });

/** Rows of the log are asked for in pages of this many. */
export const EVENT_PAGE = 200;

/** One page of the events that a filter lets through. Under the run's key, so that progress reads it again. */
export const eventPageQuery = (run: number, filter: string, page: number) =>
  queryOptions({
    queryKey: ["run", run, "events", filter, page],
    queryFn: () => client.runEvents(run, filter, page * EVENT_PAGE, EVENT_PAGE),
    gcTime: KEPT_MS,
  });

export const marksQuery = (run: number) =>
  queryOptions({ queryKey: ["run", run, "marks"], queryFn: () => client.runMarks(run) });

/** What can be done with a run now; asked again whenever it pauses for another reason. */
export const controlQuery = (run: number, paused: PauseReason | null) =>
  queryOptions({ queryKey: ["run", run, "control", paused], queryFn: () => client.runControlState(run) });

export const treeQuery = (run: number) =>
  queryOptions({ queryKey: ["runs", "tree", run], queryFn: () => client.runTree(run) });

export const diffQuery = (a: number, b: number) =>
  queryOptions({ queryKey: ["run", a, "diff", b], queryFn: () => client.diffRuns(a, b), gcTime: KEPT_MS });

export const storageQuery = queryOptions({ queryKey: ["storage"], queryFn: () => client.storage(), staleTime: 0 });

export const timelineQuery = (run: number) =>
  queryOptions({ queryKey: ["run", run, "timeline"], queryFn: () => client.runTimeline(run) });

/** The newest state of a run: first from its journal, then from the events that tell of its progress. */
export const liveQuery = (run: number) =>
  queryOptions({
    queryKey: ["live", run],
    queryFn: async () => {
      const { state } = await openedRun(run);
      return newer(queryClient.getQueryData<RunState>(["live", run]), state);
    },
  });

/** Reads the journal once for the panels that want it at the same moment. */
const openedRun = (run: number) => queryClient.fetchQuery({ ...runQuery(run), staleTime: 0 });

/** Takes in what an event tells. Events and answers may overtake one another; the later state wins. */
export function runAdvanced({ run, state }: RunAdvanced) {
  queryClient.setQueryData<RunState>(["live", run], (known) => newer(known, state));
}

function newer(known: RunState | undefined, told: RunState): RunState {
  return known && known.seq > told.seq ? known : told;
}

export const runAtQuery = (run: number, seq: number) =>
  queryOptions({
    queryKey: ["run-at", run, seq],
    queryFn: () => client.runAt(run, seq),
    // A state of a large run is large, and a scrub passes many.
    gcTime: 3000,
    placeholderData: keepPreviousData,
  });
