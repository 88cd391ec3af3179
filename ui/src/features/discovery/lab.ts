/** The search lab's query, and its answer as columns. */
import { create } from "zustand";
import type { LabMethod, LabRow, MatchedField, SearchLab, SearchQuery } from "../../ipc/client";

export const METHODS: readonly LabMethod[] = ["exact", "regex", "lexical", "semantic"];

/** Rust takes no more than this. */
export const MOST = 20;

interface LabState {
  query: string;
  limit: number;
  tags: string[];
  namespace: string;
  /** Also what the session does not see. */
  hidden: boolean;
  set: (change: Partial<Omit<LabState, "set">>) => void;
}

export const useLab = create<LabState>()((set) => ({
  query: "",
  limit: 12,
  tags: [],
  namespace: "",
  hidden: true,
  set,
}));

export function searchQuery({ query, limit, tags, namespace }: Omit<LabState, "set" | "hidden">): SearchQuery {
  const trimmed = namespace.trim();
  return {
    query: query.trim(),
    search_type: "fts",
    limit,
    include_always_loaded: true,
    tags,
    namespace: trimmed === "" ? null : trimmed,
  };
}

/** The rows that one method found, best first. */
export function ranked(lab: SearchLab, method: LabMethod): LabRow[] {
  return lab.rows.filter((row) => row[method] !== null).sort((a, b) => a[method]!.rank - b[method]!.rank);
}

/** How far apart the columns put a tool: the ranks that the others give it, in words. */
export function elsewhere(row: LabRow, method: LabMethod): string {
  const others = METHODS.filter((m) => m !== method && row[m] !== null);
  return others.map((m) => `${m} ${row[m]!.rank}`).join(" · ");
}

const ARGUMENT_NAMES: Record<Exclude<LabMethod, "semantic">, SearchQuery["search_type"]> = {
  exact: "exact",
  regex: "regex",
  lexical: "fts",
};

/** The call of `tool_search` that asks the same, as the model would write it: defaults are left out. */
export function toolSearchCall(asked: SearchQuery, method: Exclude<LabMethod, "semantic">) {
  const search_type = ARGUMENT_NAMES[method];
  return {
    name: "tool_search",
    arguments: {
      query: asked.query,
      ...(search_type !== "fts" && { search_type }),
      limit: asked.limit,
      ...(asked.include_always_loaded && { include_always_loaded: true }),
      ...(asked.tags.length > 0 && { tags: asked.tags }),
      ...(asked.namespace !== null && { namespace: asked.namespace }),
    },
  };
}

/** What the model gets back: the visible tools only, in the shape of the tool's answer. */
export function toolSearchResult(lab: SearchLab, method: Exclude<LabMethod, "semantic">) {
  const search_type = ARGUMENT_NAMES[method];
  return {
    tools: ranked(lab, method)
      .filter((row) => row.visible)
      .map((row) => ({
        name: row.tool,
        score: Number((row[method]!.score ?? 0).toFixed(3)),
        match_type: search_type,
        loading_mode: row.loading,
      })),
    requested_search_type: search_type,
    effective_search_type: search_type,
  };
}

/** Room for a matched field's text in a column. */
const ROOM = 90;

export interface Snippet {
  before: string;
  marked: string;
  after: string;
}

/** The stretch of a field around its first match. */
export function snippet({ text, spans }: MatchedField): Snippet {
  const first = spans[0];
  if (!first) return { before: text.slice(0, ROOM), marked: "", after: "" };
  const from = Math.max(0, first.start - 24);
  const until = Math.min(text.length, Math.max(first.end, from + ROOM));
  return {
    before: (from > 0 ? "…" : "") + text.slice(from, first.start),
    marked: text.slice(first.start, first.end),
    after: text.slice(first.end, until) + (until < text.length ? "…" : ""),
  };
}
