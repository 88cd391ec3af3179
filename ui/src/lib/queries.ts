/** What the window asks Rust, as query options: one place per question, so that panels share answers. */
import { keepPreviousData, QueryClient, queryOptions } from "@tanstack/react-query";
import { client, type ExecutionState, type Request } from "../ipc/client";

export const queryClient = new QueryClient({
  // Rust is next door: a retry would only delay the message, and focus says nothing about freshness.
  defaultOptions: { queries: { retry: false, refetchOnWindowFocus: false, staleTime: Infinity, networkMode: "always" }, mutations: { networkMode: "always" } },
});

export const infoQuery = queryOptions({ queryKey: ["info"], queryFn: () => client.info() });

export const catalogQuery = (request: Request, plan: number | null) =>
  queryOptions({
    queryKey: ["catalog", plan, request],
    queryFn: () => client.catalog(request, plan),
    placeholderData: keepPreviousData,
  });

export const stateCatalogQuery = (request: Request, state: ExecutionState) => catalogQuery({ ...request, state }, null);

export const toolQuery = (name: string, request: Request, plan: number | null) =>
  queryOptions({
    queryKey: ["tool", name, plan, request],
    queryFn: () => client.tool(name, request, plan),
    // Between two plannings the same tool stays on screen; another tool's data must not.
    placeholderData: (previous) => (previous?.spec.name === name ? previous : undefined),
  });

export const runsQuery = queryOptions({ queryKey: ["runs"], queryFn: () => client.runs() });

export const runQuery = (run: number) =>
  queryOptions({ queryKey: ["run", run], queryFn: () => client.openRun(run) });

/** The newest state of a run: first from its journal, then from the events that tell of its progress. */
export const liveQuery = (run: number) =>
  queryOptions({ queryKey: ["live", run], queryFn: async () => (await client.openRun(run)).state });

export const runAtQuery = (run: number, seq: number) =>
  queryOptions({ queryKey: ["run-at", run, seq], queryFn: () => client.runAt(run, seq), placeholderData: keepPreviousData });

/** After an edit of the catalog or the settings, whatever was asked about them is asked again. */
export async function catalogChanged() {
  await Promise.all(["info", "catalog", "tool"].map((key) => queryClient.invalidateQueries({ queryKey: [key] })));
}
