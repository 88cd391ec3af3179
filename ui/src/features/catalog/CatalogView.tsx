/** Every tool of the workspace, and where its way ended for the open query. */
import { useQuery } from "@tanstack/react-query";
import { Check, EyeOff, X } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { ClassificationBadge, OutcomeBadge } from "../../components/Badges";
import { DataTable, type Column } from "../../components/DataTable";
import { Empty } from "../../components/Empty";
import { ProblemNote } from "../../components/ProblemNote";
import { Problem, type CatalogRow, type Outcome } from "../../ipc/client";
import { count, counted } from "../../lib/format";
import { useContextRequest, useJustChanged } from "../../lib/planning";
import { catalogQuery } from "../../lib/queries";
import { useWindow } from "../../lib/store";
import { GATE, OUTCOME } from "../../lib/words";
import { Classify } from "./Classify";
import { FACETS, facetCounts, filterRows, isFiltered, noFilter, toggleFacet, type FacetName } from "./filter";
import "./catalog.css";

const columns: Column<CatalogRow>[] = [
  {
    id: "name",
    header: "Tool",
    value: (r) => r.name,
    title: (r) => r.title ?? r.name,
    width: "minmax(164px, 1.2fr)",
    mono: true,
  },
  {
    id: "class",
    header: "Class",
    value: (r) => r.classification,
    cell: (r) =>
      r.classification === "unclassified" ? <Classify tool={r.name} /> : <ClassificationBadge of={r.classification} />,
    width: "180px",
  },
  { id: "tokens", header: "Tokens", value: (r) => r.tokens, width: "62px", numeric: true },
  {
    id: "visible",
    header: "Visible",
    value: (r) => (r.visible ? 0 : 1),
    cell: (r) =>
      r.visible ? (
        <span className="yes">
          <Check size={13} aria-hidden /> yes
        </span>
      ) : (
        <span className="no">
          <EyeOff size={13} aria-hidden /> no
        </span>
      ),
    width: "62px",
  },
  {
    id: "outcome",
    header: "Outcome",
    value: (r) => OUTCOME[r.outcome],
    cell: (r) => <OutcomeBadge of={r.outcome} />,
    width: "104px",
  },
  { id: "gate", header: "Ended at", value: (r) => GATE[r.gate], width: "92px" },
  { id: "reason", header: "Why", value: (r) => r.reason, width: "minmax(180px, 2fr)" },
  { id: "group", header: "Group", value: (r) => r.group || "none", width: "84px" },
  { id: "loading", header: "Loading", value: (r) => r.loading, width: "74px" },
];

export function CatalogView() {
  const { request, plan } = useContextRequest();
  const { data, error } = useQuery(catalogQuery(request, plan));
  const tool = useWindow((s) => s.tool);
  const set = useWindow((s) => s.set);
  const [filter, setFilter] = useState(noFilter);
  const box = useRef<HTMLInputElement>(null);
  const rows = useMemo(() => data ?? [], [data]);
  const shown = useMemo(() => filterRows(rows, filter), [rows, filter]);
  const changed = useJustChanged("verdict");

  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLElement && event.target.closest("input, textarea, select, .cm-editor");
      if (event.key !== "/" || typing) return;
      event.preventDefault();
      box.current?.focus();
    };
    window.addEventListener("keydown", focus);
    return () => window.removeEventListener("keydown", focus);
  }, []);

  return (
    <div className="panel-column">
      <div className="toolbar">
        <h2>Catalog</h2>
        <input
          ref={box}
          type="search"
          className="filter-box"
          data-testid="catalog-filter"
          aria-label="Filter tools"
          placeholder="Filter by name, tag, reason…  ( / )"
          value={filter.text}
          onChange={(e) => setFilter({ ...filter, text: e.target.value })}
        />
        <span className="muted" data-testid="catalog-count">
          {isFiltered(filter)
            ? `${count(shown.length)} of ${counted(rows.length, "tool")}`
            : counted(rows.length, "tool")}
        </span>
        {isFiltered(filter) && (
          <button type="button" className="button small" onClick={() => setFilter(noFilter)}>
            <X size={12} aria-hidden /> Clear
          </button>
        )}
        {request.query === "" && <span className="muted">Plan a query to see how far each tool gets.</span>}
      </div>
      <div className="facets">
        {FACETS.map((facet) => (
          <Facet
            key={facet}
            facet={facet}
            counts={facetCounts(rows, facet)}
            chosen={filter.facets[facet]}
            onToggle={(v) => setFilter(toggleFacet(filter, facet, v))}
          />
        ))}
      </div>
      {error && <ProblemNote problem={Problem.from(error)} />}
      {data && shown.length === 0 ? (
        <Empty title={rows.length === 0 ? "The catalog is empty" : "No tool matches the filter"}>
          <p>
            {rows.length === 0
              ? "Register tools with `toolplan tools import FILE`."
              : "Clear the filter or choose fewer facets."}
          </p>
        </Empty>
      ) : (
        <DataTable
          label="Tools"
          rows={shown}
          columns={columns}
          rowId={(r) => r.name}
          rowTestId={(r) => `catalog-row-${r.name}`}
          selected={tool}
          changed={changed}
          onSelect={(r) => set({ tool: r.name, step: null })}
        />
      )}
    </div>
  );
}

interface FacetProps {
  facet: FacetName;
  counts: [string, number][];
  chosen: string[];
  onToggle: (value: string) => void;
}

/** More values than this would push the table off the screen; the filter box finds the others. */
const SHOWN_VALUES = 12;

function Facet({ facet, counts, chosen, onToggle }: FacetProps) {
  const word = (value: string) => (facet === "outcome" ? OUTCOME[value as Outcome] : value || "no group");
  return (
    <div className="facet" role="group" aria-label={facet}>
      <span className="muted">{facet}</span>
      {counts.slice(0, SHOWN_VALUES).map(([value, n]) => (
        <button
          type="button"
          key={value}
          className="facet-chip"
          aria-pressed={chosen.includes(value)}
          data-testid={`facet-${facet}-${value}`}
          onClick={() => onToggle(value)}
        >
          {word(value)} <span>{count(n)}</span>
        </button>
      ))}
    </div>
  );
}
