/** Which rows of the catalog a filter lets through, and how many each facet would. */
import type { CatalogRow } from "../../ipc/client";

export type FacetName = "classification" | "group" | "outcome";
export interface CatalogFilter {
  text: string;
  /** Per facet the chosen values; an empty list means all. */
  facets: Record<FacetName, string[]>;
}

export const FACETS: readonly FacetName[] = ["classification", "group", "outcome"];
export const noFilter: CatalogFilter = { text: "", facets: { classification: [], group: [], outcome: [] } };

export const isFiltered = (filter: CatalogFilter) =>
  filter.text.trim() !== "" || FACETS.some((f) => filter.facets[f].length > 0);

function matchesText(row: CatalogRow, text: string): boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const hay =
    `${row.name} ${row.title ?? ""} ${row.namespace} ${row.group} ${row.tags.join(" ")} ${row.reason}`.toLowerCase();
  return words.every((word) => hay.includes(word));
}

export function filterRows(rows: CatalogRow[], filter: CatalogFilter): CatalogRow[] {
  return rows.filter(
    (row) =>
      matchesText(row, filter.text) &&
      FACETS.every((f) => filter.facets[f].length === 0 || filter.facets[f].includes(row[f])),
  );
}

/** Values of a facet with the number of tools that have them, most frequent first. */
export function facetCounts(rows: CatalogRow[], facet: FacetName): [string, number][] {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row[facet], (counts.get(row[facet]) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

export function toggleFacet(filter: CatalogFilter, facet: FacetName, value: string): CatalogFilter {
  const chosen = filter.facets[facet];
  const next = chosen.includes(value) ? chosen.filter((v) => v !== value) : [...chosen, value];
  return { ...filter, facets: { ...filter.facets, [facet]: next } };
}
