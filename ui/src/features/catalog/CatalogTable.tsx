/** Every tool of the workspace, and where its way ended for the open query. */
import { PanelLeft, X } from "lucide-react";
import { useEffect, useMemo, useState, type MouseEvent } from "react";
import { Empty } from "../../components/Empty";
import { PagedTable, type PagedColumn } from "../../components/PagedTable";
import { ProblemNote } from "../../components/ProblemNote";
import { isTyping, SearchBox } from "../../components/SearchBox";
import { client, Problem, type CatalogItem, type CatalogPage, type CatalogSort } from "../../ipc/client";
import { fitting } from "../../components/tracks";
import { count, counted } from "../../lib/format";
import { usePages, useRowReader } from "../../lib/pages";
import { useContextRequest, useJustChanged } from "../../lib/planning";
import { countOf, everything, extended, isChosen, only, stretch, these, toggled } from "../../lib/selection";
import { useWindow } from "../../lib/store";
import { useWidth } from "../../lib/useWidth";
import { BulkBar } from "./BulkBar";
import { ColumnMenu } from "./ColumnMenu";
import { COLUMNS, type CatalogColumn } from "./columns";
import { FacetPanel } from "./FacetPanel";
import { isFiltered, noFilter, queryOf, setFilter, sortBy, useTable } from "./table";
import "./catalog.css";

const rowsOf = (page: CatalogPage) => page.rows;

/** The facet counts walk the whole catalog; the table itself needs them with its first page only. */
function useCatalogPages() {
  const { request, plan } = useContextRequest();
  const filter = useTable((s) => s.filter);
  const sort = useTable((s) => s.sort);
  const descending = useTable((s) => s.descending);
  const query = useMemo(
    () => queryOf({ filter, sort, descending }, request, plan),
    [filter, sort, descending, request, plan],
  );
  const asked = {
    queryKey: ["catalog-page", plan, query],
    load: (offset: number, limit: number) => client.catalogQuery({ ...query, offset, limit }),
    rowsOf,
  };
  return { query, plan, request, asked };
}

/** "f" opens and closes the facets. */
function useFacetKey() {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== "f" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      const { facetsOpen, set } = useTable.getState();
      set({ facetsOpen: !facetsOpen });
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);
}

export function CatalogTable() {
  useFacetKey();
  const { query, plan, request, asked } = useCatalogPages();
  const [pages, setPages] = useState<readonly number[]>([0]);
  const { first, rowAt, error } = usePages({ ...asked, pages });
  const read = useRowReader(asked);
  const { filter, sort, descending, columns, chosen, cursor, facetsOpen, set } = useTable();
  const total = first?.total ?? 0;
  const changed = useJustChanged("verdict");
  const keys = useKeys(rowAt, read, total);

  const [tableRef, room] = useWidth();
  const wanted = useMemo(() => [CHECK, ...COLUMNS.filter((c) => columns.includes(c.id)).map(sortable)], [columns]);
  const shown = useMemo(() => fitting(wanted, room), [wanted, room]);
  const several = countOf(chosen, total) > 1;

  return (
    <>
      <div className="toolbar">
        <SearchBox
          label="Search tools"
          testId="catalog-filter"
          placeholder="Name, description, tag"
          value={filter.text}
          onChange={(text) => setFilter({ text })}
        />
        <span className="muted" data-testid="catalog-count">
          {first &&
            (isFiltered(filter) ? `${count(total)} of ${counted(first.all, "tool")}` : counted(first.all, "tool"))}
        </span>
        {isFiltered(filter) && (
          <button type="button" className="button small" onClick={() => setFilter(noFilter)}>
            <X size={12} aria-hidden /> Clear
          </button>
        )}
        <span className="grow" />
        {request.query === "" && <span className="muted wide-only">Plan a query to see how far each tool gets.</span>}
        <button
          type="button"
          className="button small"
          aria-pressed={facetsOpen}
          title="Facets (f)"
          onClick={() => set({ facetsOpen: !facetsOpen })}
        >
          <PanelLeft size={13} aria-hidden /> Facets
        </button>
        <ColumnMenu noRoom={wanted.length - shown.length} />
      </div>
      {error && <ProblemNote problem={Problem.from(error)} />}
      <div className="beside catalog-body">
        {facetsOpen && first && <FacetPanel facets={first.facets} />}
        {first && total === 0 ? (
          <Nothing empty={first.all === 0} />
        ) : (
          <div className="catalog-table" ref={tableRef}>
            <PagedTable
              label="Tools"
              total={total}
              rowAt={rowAt}
              rowId={(item) => item.row.name}
              rowTestId={(item) => `catalog-row-${item.row.name}`}
              columns={shown}
              keys={keys}
              cursor={cursor}
              isChosen={(item) => isChosen(chosen, item.row.name)}
              changed={changed}
              sorted={{ id: sortColumn(sort), descending }}
              onSort={(id) => sortBy(COLUMNS.find((c) => c.id === id)?.sort ?? "relevance")}
              onPages={setPages}
            />
          </div>
        )}
      </div>
      {several && <BulkBar chosen={chosen} query={query} total={total} plan={plan} />}
    </>
  );
}

const sortable = (column: CatalogColumn): PagedColumn<CatalogItem> => ({
  ...column,
  sortable: column.sort !== undefined,
});

/** The first column that sorts like this; the arrow stands there. */
const sortColumn = (sort: CatalogSort) => COLUMNS.find((c) => c.sort === sort)?.id ?? "";

const CHECK: PagedColumn<CatalogItem> = {
  id: "check",
  header: "",
  name: "Chosen",
  cell: ({ row }) => <Tick name={row.name} />,
  width: "30px",
};

function Tick({ name }: { name: string }) {
  const on = useTable((s) => isChosen(s.chosen, name));
  return <input type="checkbox" tabIndex={-1} checked={on} readOnly aria-label={`Choose ${name}`} data-tick />;
}

function useKeys(
  rowAt: (index: number) => CatalogItem | undefined,
  read: (from: number, to: number) => Promise<CatalogItem[]>,
  total: number,
) {
  const inspect = (name: string) => useWindow.getState().set({ tool: name, step: null });
  const names = async (from: number, to: number) => (await read(from, to)).map((item) => item.row.name);

  const toggle = async (index: number) => {
    const { chosen, set } = useTable.getState();
    const name = rowAt(index)?.row.name;
    if (name === undefined) return;
    const all = chosen.kind === "all" ? await names(0, total - 1) : [];
    set({ chosen: toggled(chosen, name, all), cursor: index, anchor: index });
  };
  const extend = async (index: number, add: boolean) => {
    const { chosen, anchor, set } = useTable.getState();
    const from = anchor < 0 ? index : anchor;
    set({ cursor: index, anchor: from });
    const stretched = await names(...stretch(from, index));
    set({ chosen: add ? extended(chosen, stretched) : these(stretched) });
  };
  const goTo = async (index: number) => {
    const { set } = useTable.getState();
    set({ cursor: index, anchor: index });
    const name = rowAt(index)?.row.name ?? (await names(index, index))[0];
    if (name === undefined || useTable.getState().cursor !== index) return;
    set({ chosen: only(name) });
    inspect(name);
  };

  return {
    move: (index: number, extending: boolean) => void (extending ? extend(index, false) : goTo(index)),
    click: (index: number, event: MouseEvent) => {
      const tick = event.target instanceof HTMLElement && event.target.closest("[data-tick]") !== null;
      if (event.shiftKey) {
        // The browser marks text on Shift and click.
        getSelection()?.removeAllRanges();
        void extend(index, event.ctrlKey || event.metaKey);
      } else if (tick || event.ctrlKey || event.metaKey) void toggle(index);
      else void goTo(index);
    },
    toggle: (index: number) => void toggle(index),
    open: (index: number) => {
      const name = rowAt(index)?.row.name;
      if (name !== undefined) inspect(name);
    },
    all: () => useTable.getState().set({ chosen: everything }),
  };
}

function Nothing({ empty }: { empty: boolean }) {
  return (
    <Empty title={empty ? "The catalog is empty" : "No tool fits the filter"}>
      <p>
        {empty
          ? "Register tools with `toolplan tools import FILE`."
          : "Search for fewer words, or clear the filter. Words are looked for in names, descriptions and tags."}
      </p>
      {!empty && (
        <button type="button" className="button" onClick={() => setFilter(noFilter)}>
          Clear the filter
        </button>
      )}
    </Empty>
  );
}
