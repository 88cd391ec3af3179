/** What the catalog's table shows and what is chosen in it. It outlives the view, so another look loses nothing. */
import { create } from "zustand";
import { createJSONStorage, persist } from "zustand/middleware";
import {
  noFilter,
  type CatalogFilter,
  type CatalogQuery,
  type CatalogSort,
  type Facet,
  type FacetName,
  type Request,
} from "../../ipc/client";
import { nothing, type Chosen } from "../../lib/selection";

export { noFilter };

export const DEFAULT_COLUMNS = ["name", "class", "lints", "tokens", "share", "visible", "reason", "loading", "group"];

interface TableState {
  filter: CatalogFilter;
  sort: CatalogSort;
  descending: boolean;
  columns: string[];
  facetsOpen: boolean;
  chosen: Chosen;
  /** Index of the row that the keys are at; -1 before the first. */
  cursor: number;
  /** Where a stretch chosen with Shift begins. */
  anchor: number;
  set: (change: Partial<Omit<TableState, "set">>) => void;
}

export const useTable = create<TableState>()(
  persist(
    (set) => ({
      filter: noFilter,
      sort: "relevance",
      descending: false,
      columns: DEFAULT_COLUMNS,
      facetsOpen: true,
      chosen: nothing,
      cursor: -1,
      anchor: -1,
      set,
    }),
    {
      name: "toolplan.catalog",
      storage: createJSONStorage(() => localStorage),
      partialize: ({ columns, facetsOpen }) => ({ columns, facetsOpen }),
    },
  ),
);

/** Another filter finds other rows: what was chosen among the old ones is let go. */
export function setFilter(change: Partial<CatalogFilter>) {
  const { filter, set } = useTable.getState();
  set({ filter: { ...filter, ...change }, chosen: nothing, cursor: -1, anchor: -1 });
}

export function sortBy(id: CatalogSort) {
  const { sort, descending, set } = useTable.getState();
  // A third click goes back to the order of relevance.
  if (sort !== id) set({ sort: id, descending: ["tokens", "calls", "failure_rate", "lints", "changed"].includes(id) });
  else if (!descending === ["tokens", "calls", "failure_rate", "lints", "changed"].includes(id))
    set({ sort: "relevance", descending: false });
  else set({ descending: !descending });
}

export function queryOf(
  { filter, sort, descending }: Pick<TableState, "filter" | "sort" | "descending">,
  request: Request,
  plan: number | null,
): CatalogQuery {
  return { request, plan, filter, sort, descending, offset: 0, limit: 0 };
}

export const isFiltered = (filter: CatalogFilter): boolean =>
  filter.text.trim() !== "" ||
  filter.visible !== null ||
  Object.values(filter).some((v) => Array.isArray(v) && v.length > 0);

/** The filter with the value of a facet in if it was out, and out if it was in. */
export function withFacet(filter: CatalogFilter, name: FacetName, value: string): CatalogFilter {
  if (name === "visible") {
    const wanted = value === "true";
    return { ...filter, visible: filter.visible === wanted ? null : wanted };
  }
  const chosen = filter[name] as string[];
  const next = chosen.includes(value) ? chosen.filter((v) => v !== value) : [...chosen, value];
  return { ...filter, [name]: next };
}

/** The values of a facet to show: the chosen ones always, the others as far as there is room. */
export function shownValues(facet: Facet, room: number): Facet["values"] {
  const chosen = facet.values.filter((v) => v.selected);
  const rest = facet.values.filter((v) => !v.selected).slice(0, Math.max(0, room - chosen.length));
  return facet.values.filter((v) => v.selected || rest.includes(v));
}
