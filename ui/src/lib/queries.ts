/** What the window asks Rust, as query options: one place per question, so that panels share answers. */
import { keepPreviousData, QueryClient, queryOptions } from "@tanstack/react-query";
import {
  client,
  noFilter,
  type CatalogQuery,
  type Gate,
  type LintQuery,
  type PauseReason,
  type Request,
  type RunAdvanced,
  type RunState,
  type SearchQuery,
  type WhyQuery,
} from "../ipc/client";

export const queryClient = new QueryClient({
  // Rust is next door: a retry would only delay the message, and focus says nothing about freshness.
  defaultOptions: {
    queries: { retry: false, refetchOnWindowFocus: false, staleTime: Infinity, networkMode: "always" },
    mutations: { networkMode: "always" },
  },
});

export const infoQuery = queryOptions({ queryKey: ["info"], queryFn: () => client.info() });

/** Who decides each setting: the environment, the workspace, or nobody. */
export const originsQuery = queryOptions({
  queryKey: ["setting-origins", null],
  queryFn: () => client.settingOrigins(),
});

/** Every planning brings answers of its own; a catalog of many thousand rows is not kept for the old ones. */
const KEPT_MS = 20_000;

/** The tools that a few words name, best first. */
export const toolsByWords = (text: string, request: Request, plan: number | null) =>
  queryOptions({
    queryKey: ["catalog-page", plan, "words", text, request],
    queryFn: () => client.catalogQuery({ ...everyTool, filter: { ...noFilter, text }, request, plan, limit: 30 }),
    gcTime: KEPT_MS,
    placeholderData: keepPreviousData,
  });

const everyTool: Omit<CatalogQuery, "request" | "plan"> = {
  filter: noFilter,
  sort: "relevance",
  descending: false,
  offset: 0,
  limit: 0,
};

/**
 * Questions whose answers an edit of the catalog or the settings may change. Their second part is the planning that they
 * are about, or null.
 */
export const ABOUT_CATALOG = [
  "catalog", "tool", "catalog-page", "lints", "catalog-history", "tool-diff", "catalog-diff", "matrix", "why",
  "planning-view", "tool-then", "tools-at", "search-lab", "directory", "session", "embedding-model",
  "setting-origins",
]; // prettier-ignore

export const lintsQuery = (query: LintQuery) =>
  queryOptions({
    queryKey: ["lints", null, query],
    queryFn: () => client.lints(query),
    placeholderData: keepPreviousData,
  });

export const historyQuery = (limit: number) =>
  queryOptions({
    queryKey: ["catalog-history", null, limit],
    queryFn: () => client.catalogHistory(0, limit),
    placeholderData: keepPreviousData,
  });

export const toolDiffQuery = (name: string, from: number, to: number | null) =>
  queryOptions({ queryKey: ["tool-diff", null, name, from, to], queryFn: () => client.toolDiff(name, from, to) });

export const catalogDiffQuery = (from: number, to: number | null, limit: number) =>
  queryOptions({
    queryKey: ["catalog-diff", null, from, to, limit],
    queryFn: () => client.catalogDiff(from, to, 0, limit),
  });

export const whyQuery = (tool: string, query: WhyQuery) =>
  queryOptions({
    queryKey: ["why", null, tool, query],
    queryFn: () => client.whyHidden(tool, query),
    gcTime: KEPT_MS,
  });

export const planningViewQuery = (extensions: string[] | null) =>
  queryOptions({
    queryKey: ["planning-view", null, extensions],
    queryFn: () => client.planningView(extensions),
    placeholderData: keepPreviousData,
  });

export const searchLabQuery = (request: Request, query: SearchQuery, hidden: boolean) =>
  queryOptions({
    queryKey: ["search-lab", null, request, query, hidden],
    queryFn: () => client.searchLab(request, query, hidden),
    gcTime: KEPT_MS,
    placeholderData: keepPreviousData,
  });

export const directoryQuery = (request: Request) =>
  queryOptions({
    queryKey: ["directory", null, request],
    queryFn: () => client.toolDirectory(request),
    placeholderData: keepPreviousData,
  });

export const sessionQuery = (id: string) =>
  queryOptions({ queryKey: ["session", null, id], queryFn: () => client.session(id) });

/** While the model reads the catalog, how far it is. */
export const modelQuery = queryOptions({
  queryKey: ["embedding-model", null],
  queryFn: () => client.embeddingModel(),
  refetchInterval: (query) => (query.state.data?.indexing ? 400 : false),
});

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

/** Asked once: each answer is a planning of its own. */
export const replanQuery = (run: number) =>
  queryOptions({
    queryKey: ["run", run, "replan"],
    queryFn: () => client.replanRun(run),
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });

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

/** One tool as it was at the run, at an event. */
export const toolThenQuery = (run: number, seq: number, name: string) =>
  queryOptions({
    queryKey: ["tool-then", null, run, seq, name],
    queryFn: () => client.runTool(run, seq, name),
    gcTime: 3000,
    placeholderData: (previous) => (previous?.spec.name === name ? previous : undefined),
  });

/** The tools whose way ended at the gate. */
export const toolsAtGate = (gate: Gate, request: Request, plan: number | null, limit: number) =>
  queryOptions({
    queryKey: ["catalog-page", plan, "gate", gate, request, limit],
    queryFn: () =>
      client.catalogQuery({ ...everyTool, filter: { ...everyTool.filter, gates: [gate] }, request, plan, limit }),
    gcTime: KEPT_MS,
    placeholderData: keepPreviousData,
  });
