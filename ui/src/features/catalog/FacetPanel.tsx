/** Beside the table: how many tools have which property, and the filter by it. */
import { useState } from "react";
import type { Facet, FacetName, Gate } from "../../ipc/client";
import { count } from "../../lib/format";
import { GATE } from "../../lib/words";
import { setFilter, shownValues, useTable, withFacet } from "./table";

const TITLE: Record<FacetName, string> = {
  classifications: "Classification",
  visible: "Visible",
  gates: "Ended at",
  loadings: "Loading",
  side_effects: "Side effects",
  lints: "Lints",
  namespaces: "Namespace",
  groups: "Group",
  categories: "Category",
  tags: "Tags",
  ages: "Changed",
};
const ORDER = Object.keys(TITLE) as FacetName[];
const SHOWN = 6;

const AGE: Record<string, string> = {
  newest: "by the last edit",
  day: "within a day",
  week: "within a week",
  older: "earlier",
};

function word(name: FacetName, value: string): string {
  if (name === "visible") return value === "true" ? "yes" : "no";
  if (name === "gates") return GATE[value as Gate] ?? value;
  if (name === "ages") return AGE[value] ?? value;
  return value || "none";
}

export function FacetPanel({ facets }: { facets: Facet[] }) {
  const byName = new Map(facets.map((f) => [f.name, f]));
  return (
    <div className="side-list facet-panel" role="group" aria-label="Facets">
      {ORDER.map((name) => {
        const facet = byName.get(name);
        return facet && facet.values.length > 0 && <FacetGroup key={name} facet={facet} />;
      })}
    </div>
  );
}

function FacetGroup({ facet }: { facet: Facet }) {
  const [all, setAll] = useState(false);
  const values = shownValues(facet, all ? 200 : SHOWN);
  const rest = facet.distinct - values.length;
  return (
    <div className="facet" role="group" aria-label={TITLE[facet.name]}>
      <h3>{TITLE[facet.name]}</h3>
      {values.map(({ value, count: n, selected }) => (
        <button
          type="button"
          key={value}
          className="side-choice facet-value"
          aria-pressed={selected}
          data-testid={`facet-${facet.name}-${value}`}
          onClick={() => setFilter(withFacet(useTable.getState().filter, facet.name, value))}
        >
          <span className="grow truncate">{word(facet.name, value)}</span>
          <span className="side-count">{count(n)}</span>
        </button>
      ))}
      {(rest > 0 || all) && facet.distinct > SHOWN && (
        <button type="button" className="link small" onClick={() => setAll(!all)}>
          {all ? "fewer" : `${count(rest)} more`}
        </button>
      )}
    </div>
  );
}
