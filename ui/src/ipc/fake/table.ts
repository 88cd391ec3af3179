/** The catalog's table of the in-browser host: filter, facets, pages, bulk edits. */
import type {
  BulkPreview,
  CatalogItem,
  CatalogPage,
  CatalogQuery,
  Change,
  Facet,
  FacetName,
  Lint,
  Selection,
  Suggestion,
  ToolPatch,
  ToolSpec,
} from "../client";
import { diffOf, type Desk } from "./desk";
import { lintsOf } from "./lints";
import { costOf, decided, rowOf, visibilityTrail } from "./visibility";

const WRITES = ["create", "update", "delete", "archive", "write", "send", "export", "run", "commit"];

export function suggestionFor(spec: ToolSpec): Suggestion | null {
  if (spec.classification !== "unclassified") return null;
  const write = WRITES.find((w) => spec.name.includes(w));
  return write
    ? { classification: "DESTRUCTIVE", reason: `Its name says that it changes something`, evidence: write }
    : { classification: "SAFE", reason: "It only reads: nothing in it speaks of change", evidence: "count" };
}

interface Entry {
  item: CatalogItem;
  hay: string;
  values: Record<FacetName, string[]>;
}

/** The lists of the filter and the facet that each stands for. */
const LISTS: FacetName[] = [
  "namespaces", "groups", "categories", "classifications", "loadings", "side_effects", "tags", "gates", "lints", "ages",
]; // prettier-ignore

export class Table {
  private cache = { key: "", entries: [] as Entry[] };
  private last: { key: string; all: Entry[]; sorted: Entry[]; facets: Facet[] } | null = null;

  constructor(
    private readonly desk: Desk,
    private readonly trailsOf: (plan: number | null) => Map<string, CatalogItem["row"]> | null,
  ) {}

  private entries({ request, plan }: CatalogQuery): Entry[] {
    const { desk } = this;
    const key = JSON.stringify([desk.revision, plan, { ...request, query: "" }]);
    if (this.cache.key === key) return this.cache.entries;
    const planned = this.trailsOf(plan);
    const lints = new Map<string, Lint[]>();
    for (const lint of lintsOf(desk)) for (const t of lint.tools) lints.set(t, [...(lints.get(t) ?? []), lint]);
    const changedAt = new Map<string, [number, number]>();
    for (const { row, changes } of desk.revisions)
      for (const name of changes.keys()) changedAt.set(name, [row.revision, row.at_ms]);
    const window = desk.settings.planner.context_window;
    const entries = desk.tools.map((spec): Entry => {
      const trail = visibilityTrail(spec, request, desk.settings);
      const visible = trail.verdicts.every((v) => v.outcome === "kept");
      const row = planned?.get(spec.name) ?? rowOf(spec, trail, visible);
      const cost = costOf(spec);
      const [changed_revision, changed_ms] = changedAt.get(spec.name) ?? [1, Date.now() - 30 * 3_600_000];
      const item: CatalogItem = {
        row,
        description: spec.description,
        capabilities: spec.capabilities,
        cost,
        share: (cost.name + cost.description + cost.schema) / window,
        lints: (lints.get(spec.name) ?? []).map(({ code, severity }) => ({ code, severity })),
        suggestion: suggestionFor(spec),
        stats: null,
        changed_revision,
        changed_ms,
      };
      const decidedAt = decided(trail);
      return {
        item,
        hay: `${spec.name} ${spec.title ?? ""} ${spec.description} ${spec.tags.join(" ")} ${spec.group}`.toLowerCase(),
        values: {
          namespaces: [spec.namespace],
          groups: [spec.group],
          categories: [spec.category],
          classifications: [spec.classification],
          loadings: [spec.loading],
          side_effects: [spec.side_effects],
          tags: spec.tags,
          gates: [planned ? row.gate : decidedAt.gate],
          visible: [String(row.visible)],
          lints: item.lints.map((l) => l.code),
          ages: [changed_revision === desk.revision ? "newest" : changed_revision > 1 ? "day" : "week"],
        },
      };
    });
    this.cache = { key, entries };
    return entries;
  }

  found(query: CatalogQuery): { all: Entry[]; found: Entry[]; facets: Facet[] } {
    const all = this.entries(query);
    const { filter } = query;
    const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = (name: FacetName): string[] =>
      name === "visible" ? (filter.visible === null ? [] : [String(filter.visible)]) : (filter[name] as string[]);
    const names: FacetName[] = [...LISTS, "visible"];
    const active = names.filter((n) => chosen(n).length > 0);
    const fits = (entry: Entry, name: FacetName) => {
      const wanted = chosen(name);
      return name === "tags"
        ? wanted.every((t) => entry.values.tags.includes(t))
        : wanted.some((v) => entry.values[name].includes(v));
    };
    const counts = new Map(names.map((n) => [n, new Map<string, number>()]));
    const found: Entry[] = [];
    for (const entry of all) {
      if (!words.every((w) => entry.hay.includes(w))) continue;
      const misses = active.filter((n) => !fits(entry, n));
      if (misses.length > 1) continue;
      if (misses.length === 0) found.push(entry);
      for (const name of misses.length === 1 ? misses : names) {
        const count = counts.get(name)!;
        for (const value of entry.values[name]) count.set(value, (count.get(value) ?? 0) + 1);
      }
    }
    const facets = names.map((name): Facet => {
      const values = [...counts.get(name)!].sort((a, b) => b[1] - a[1]);
      return {
        name,
        distinct: values.length,
        values: values.slice(0, 200).map(([value, n]) => ({ value, count: n, selected: chosen(name).includes(value) })),
      };
    });
    return { all, found, facets };
  }

  /** Other pages of the same question need not be found again. */
  private sorted(query: CatalogQuery) {
    const key = JSON.stringify([this.desk.revision, { ...query, offset: 0, limit: 0 }]);
    if (this.last?.key !== key) {
      const { all, found, facets } = this.found(query);
      this.last = { key, all, facets, sorted: sortItems(found, query) };
    }
    return this.last;
  }

  page(query: CatalogQuery): CatalogPage {
    const began = performance.now();
    const { all, sorted, facets } = this.sorted(query);
    return {
      revision: this.desk.revision,
      all: all.length,
      total: sorted.length,
      offset: query.offset,
      rows: sorted.slice(query.offset, query.offset + Math.min(query.limit, 500)).map((e) => e.item),
      facets,
      context_window: this.desk.settings.planner.context_window,
      undo: this.desk.undoState(),
      took_ms: performance.now() - began,
    };
  }

  names(selection: Selection): string[] {
    return selection.kind === "tools" ? selection.names : this.found(selection.query).found.map((e) => e.item.row.name);
  }

  edited(selection: Selection, patch: ToolPatch): { before: ToolSpec; after: ToolSpec }[] {
    const names = new Set(this.names(selection));
    return this.desk.tools
      .filter((t) => names.has(t.name))
      .map((before) => ({ before, after: patched(before, patch) }))
      .filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after));
  }

  preview(selection: Selection, patch: ToolPatch, changes: Change[]): BulkPreview {
    const edited = this.edited(selection, patch);
    return {
      selected: this.names(selection).length,
      changed: edited.length,
      examples: edited.slice(0, 50).map(({ before, after }) => diffOf(before.name, before, after)),
      changes,
      problems: [],
    };
  }
}

function sortItems(found: Entry[], { sort, descending, filter }: CatalogQuery): Entry[] {
  const word = filter.text.toLowerCase();
  const value: Partial<Record<CatalogQuery["sort"], (e: Entry) => string | number>> = {
    name: (e) => e.item.row.name,
    namespace: (e) => e.item.row.namespace,
    group: (e) => e.item.row.group,
    category: (e) => e.item.row.category,
    classification: (e) => e.item.row.classification,
    loading: (e) => e.item.row.loading,
    side_effects: (e) => e.item.row.side_effects,
    gate: (e) => e.item.row.gate,
    tokens: (e) => e.item.row.tokens,
    changed: (e) => e.item.changed_ms,
    lints: (e) => e.item.lints.length,
    ...(word !== "" && { relevance: (e: Entry) => (e.item.row.name.includes(word) ? 0 : 1) }),
  };
  const of = value[sort];
  if (!of) return descending ? [...found].reverse() : found;
  const by = descending ? -1 : 1;
  return [...found].sort((a, b) => {
    const [x, y] = [of(a), of(b)];
    return x < y ? -by : x > y ? by : 0;
  });
}

export function patched(spec: ToolSpec, patch: ToolPatch): ToolSpec {
  const lists = (own: string[], add: string[], remove: string[]) => [
    ...own.filter((t) => !remove.includes(t)),
    ...add.filter((t) => !own.includes(t)),
  ];
  const suggested = patch.accept_suggestions ? suggestionFor(spec)?.classification : undefined;
  return {
    ...spec,
    classification: patch.classification ?? suggested ?? spec.classification,
    loading: patch.loading ?? spec.loading,
    category: patch.category ?? spec.category,
    side_effects: patch.side_effects ?? spec.side_effects,
    group: patch.group ?? spec.group,
    namespace: patch.namespace ?? spec.namespace,
    critical: patch.critical ?? spec.critical,
    timeout_ms: patch.timeout_ms === 0 ? null : (patch.timeout_ms ?? spec.timeout_ms),
    tags: lists(spec.tags, patch.add_tags, patch.remove_tags),
    capabilities: lists(spec.capabilities, patch.add_capabilities, patch.remove_capabilities),
    guidance: lists(spec.guidance, patch.add_guidance, patch.remove_guidance),
  };
}

export function labelOf(count: number, patch: ToolPatch): string {
  const empty = (v: unknown) => v === null || v === false || (Array.isArray(v) && v.length === 0);
  const parts = Object.entries(patch).flatMap(([k, v]) => (empty(v) ? [] : [k.replaceAll("_", " ")]));
  return `${count} ${count === 1 ? "tool" : "tools"}: ${parts.join(", ")}`;
}
