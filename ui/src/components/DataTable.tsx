/**
 * A sortable table that draws only the rows in sight, so twenty thousand rows scroll like twenty. Rows are chosen with
 * the pointer, the arrow keys or J and K.
 */
import {
  createColumnHelper,
  createSortedRowModel,
  rowSortingFeature,
  sortFn_basic,
  tableFeatures,
  useTable,
  type SortingState,
} from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import { useEffect, useId, useMemo, useRef, type KeyboardEvent, type ReactNode } from "react";
import { tableWidth } from "./tracks";
import "./table.css";

const ROW = 28;

export interface Column<Row> {
  id: string;
  header: string;
  /** What sorting compares, and what is shown unless `cell` says otherwise. */
  value: (row: Row) => string | number;
  cell?: (row: Row) => ReactNode;
  title?: (row: Row) => string;
  /** A track of CSS grid. */
  width: string;
  numeric?: boolean;
  mono?: boolean;
}

interface DataTableProps<Row> {
  label: string;
  rows: Row[];
  columns: Column<Row>[];
  rowId: (row: Row) => string;
  rowTestId?: (row: Row) => string;
  selected: string | null;
  changed?: ReadonlySet<string>;
  initialSort?: SortingState;
  onSelect: (row: Row) => void;
}

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { basic: sortFn_basic },
});

export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { rows, columns, rowId, selected, onSelect } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();

  const definitions = useMemo(() => {
    const helper = createColumnHelper<typeof features, Row>();
    return columns.map((c) =>
      helper.accessor((row): unknown => c.value(row), { id: c.id, header: c.header, sortFn: "basic" }),
    );
  }, [columns]);
  const table = useTable({
    features,
    columns: definitions,
    data: rows,
    getRowId: rowId,
    initialState: { sorting: props.initialSort ?? [] },
  });
  const sorted = table.getRowModel().rows;

  const virtual = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  });

  const at = sorted.findIndex((r) => r.id === selected);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: "auto" });
    // Only a new selection scrolls; new data under it must not.
  }, [selected]);

  const walk = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (by === undefined || sorted.length === 0) return;
    event.preventDefault();
    const next = sorted[Math.min(sorted.length - 1, Math.max(0, at + by))];
    if (next) onSelect(next.original);
  };

  const template = columns.map((c) => c.width).join(" ");
  const width = tableWidth(columns);
  return (
    <div
      className="table"
      ref={scroller}
      role="grid"
      aria-label={props.label}
      aria-rowcount={rows.length}
      aria-activedescendant={virtual.getVirtualItems().some((i) => i.index === at) ? `${id}-${at}` : undefined}
      tabIndex={0}
      onKeyDown={walk}
    >
      <div className="table-head" role="row" style={{ gridTemplateColumns: template, width }}>
        {table.getHeaderGroups()[0]?.headers.map((header, i) => {
          const direction = header.column.getIsSorted();
          return (
            <button
              type="button"
              key={header.id}
              role="columnheader"
              aria-sort={direction === "asc" ? "ascending" : direction === "desc" ? "descending" : "none"}
              data-numeric={columns[i]?.numeric || undefined}
              onClick={header.column.getToggleSortingHandler()}
            >
              {columns[i]?.header}
              {direction === "asc" && <ArrowUp size={11} />}
              {direction === "desc" && <ArrowDown size={11} />}
            </button>
          );
        })}
      </div>
      <div className="table-body" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const row = sorted[item.index]!;
          return (
            <div
              key={row.id}
              id={`${id}-${item.index}`}
              role="row"
              className="table-row"
              data-testid={props.rowTestId?.(row.original)}
              data-selected={row.id === selected || undefined}
              data-changed={props.changed?.has(row.id) || undefined}
              aria-selected={row.id === selected}
              aria-rowindex={item.index + 1}
              style={{ gridTemplateColumns: template, width, transform: `translateY(${item.start}px)`, height: ROW }}
              onClick={() => onSelect(row.original)}
            >
              {columns.map((c) => (
                <div
                  key={c.id}
                  role="gridcell"
                  data-numeric={c.numeric || undefined}
                  data-mono={c.mono || undefined}
                  title={c.title?.(row.original) ?? (c.cell ? undefined : String(c.value(row.original)))}
                >
                  {c.cell ? c.cell(row.original) : c.value(row.original)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}
