/**
 * A table whose rows are read page by page as they come into sight, so that it is as fast with twenty thousand rows as
 * with twenty. It knows rows by their index; what is chosen, sorted and opened is the caller's.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import {
  memo,
  useEffect,
  useId,
  useMemo,
  useRef,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type Ref,
  type RefObject,
} from "react";
import { PAGE, pagesOf } from "../lib/pages";
import { tableWidth } from "./tracks";
import "./table.css";

const ROW = 28;
const AHEAD = 60;

export interface PagedColumn<Row> {
  id: string;
  header: ReactNode;
  /** For screen readers and the chooser, where the header is no text. */
  name?: string;
  cell: (row: Row, index: number) => ReactNode;
  title?: (row: Row) => string;
  /** A track of CSS grid. */
  width: string;
  numeric?: boolean;
  mono?: boolean;
  sortable?: boolean;
}

export interface Sorted {
  id: string;
  descending: boolean;
}

/** What a key or a click in the table means. */
export interface TableKeys {
  /** The cursor goes to a row; `extend` chooses everything on the way. */
  move: (index: number, extend: boolean) => void;
  click: (index: number, event: MouseEvent) => void;
  toggle?: (index: number) => void;
  open?: (index: number) => void;
  all?: () => void;
}

interface PagedTableProps<Row> {
  label: string;
  total: number;
  rowAt: (index: number) => Row | undefined;
  rowId: (row: Row) => string;
  columns: PagedColumn<Row>[];
  keys: TableKeys;
  cursor: number;
  isChosen?: (row: Row) => boolean;
  changed?: ReadonlySet<string>;
  rowTestId?: (row: Row) => string;
  sorted?: Sorted;
  onSort?: (id: string) => void;
  /** Tells which pages are in sight. */
  onPages: (pages: number[]) => void;
  ref?: Ref<HTMLDivElement>;
}

const STEP: Record<string, number> = { ArrowDown: 1, j: 1, J: 1, ArrowUp: -1, k: -1, K: -1, PageDown: 20, PageUp: -20 };

export function PagedTable<Row>(props: PagedTableProps<Row>) {
  const { columns, total, rowAt, rowId, keys, cursor, sorted } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const virtual = useVirtualizer({
    count: total,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 10,
  });
  const items = virtual.getVirtualItems();
  const [start, end] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  // A little more than is in sight, so that a steady scroll never waits.
  const pages = pagesOf(start - AHEAD, end + AHEAD)
    .filter((page) => page * PAGE < Math.max(1, total))
    .join();
  // A row that comes into sight takes over the elements of one that left it.
  const slots = useRef(1);
  slots.current = Math.max(slots.current, items.length);
  useEffect(() => props.onPages(pages.split(",").map(Number)), [pages]);

  useEffect(() => {
    if (cursor >= 0 && cursor < total) virtual.scrollToIndex(cursor, { align: "auto" });
    // Only a move of the cursor scrolls; new rows under it must not.
  }, [cursor]);

  const press = (event: KeyboardEvent) => {
    const { key, shiftKey } = event;
    const control = event.ctrlKey || event.metaKey;
    if (event.target instanceof HTMLElement && event.target.closest("input:not([type=checkbox]), select")) return;
    const clamp = (at: number) => Math.min(total - 1, Math.max(0, at));
    const step = STEP[key];
    if (control && key.toLowerCase() === "a" && keys.all) keys.all();
    else if (control) return;
    else if (total === 0) return;
    else if (step !== undefined) keys.move(clamp(cursor + step), shiftKey);
    else if (key === "Home") keys.move(0, shiftKey);
    else if (key === "End") keys.move(total - 1, shiftKey);
    else if (key === " " && keys.toggle) keys.toggle(clamp(cursor));
    else if (key === "Enter" && keys.open && event.target === scroller.current) keys.open(clamp(cursor));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const latestKeys = useRef(keys);
  latestKeys.current = keys;
  const template = useMemo(() => columns.map((c) => c.width).join(" "), [columns]);
  const width = tableWidth(columns);
  return (
    <div
      className="table"
      ref={(element) => {
        scroller.current = element;
        if (typeof props.ref === "function") props.ref(element);
        else if (props.ref) props.ref.current = element;
      }}
      role="grid"
      aria-label={props.label}
      aria-rowcount={total}
      aria-multiselectable={keys.toggle !== undefined}
      aria-activedescendant={items.some((i) => i.index === cursor) ? `${id}-${cursor}` : undefined}
      tabIndex={0}
      onKeyDown={press}
    >
      <div className="table-head" role="row" style={{ gridTemplateColumns: template, width }}>
        {columns.map((c) => {
          const direction = sorted?.id === c.id ? (sorted.descending ? "descending" : "ascending") : undefined;
          return c.sortable && props.onSort ? (
            <button
              type="button"
              key={c.id}
              role="columnheader"
              aria-sort={direction ?? "none"}
              data-numeric={c.numeric || undefined}
              title={c.name}
              onClick={() => props.onSort?.(c.id)}
            >
              {c.header}
              {direction === "ascending" && <ArrowUp size={11} />}
              {direction === "descending" && <ArrowDown size={11} />}
            </button>
          ) : (
            <div key={c.id} role="columnheader" data-numeric={c.numeric || undefined} title={c.name}>
              {c.header}
            </div>
          );
        })}
      </div>
      <div className="table-body" style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const row = rowAt(item.index);
          const name = row && rowId(row);
          return (
            <TableRow
              key={item.index % slots.current}
              id={`${id}-${item.index}`}
              row={row}
              index={item.index}
              start={item.start}
              chosen={(row !== undefined && props.isChosen?.(row)) || false}
              atCursor={item.index === cursor}
              changed={(name !== undefined && props.changed?.has(name)) || false}
              testId={row && props.rowTestId?.(row)}
              columns={columns}
              template={template}
              width={width}
              keys={latestKeys}
            />
          );
        })}
      </div>
    </div>
  );
}

interface TableRowProps<Row> {
  id: string;
  row: Row | undefined;
  index: number;
  start: number;
  chosen: boolean;
  atCursor: boolean;
  changed: boolean;
  testId: string | undefined;
  columns: PagedColumn<Row>[];
  template: string;
  width: string;
  keys: RefObject<TableKeys>;
}

function PlainRow<Row>(props: TableRowProps<Row>) {
  const { row, index, chosen, columns, keys } = props;
  return (
    <div
      id={props.id}
      role="row"
      className="table-row"
      data-testid={props.testId}
      data-selected={chosen || undefined}
      data-cursor={props.atCursor || undefined}
      data-changed={props.changed || undefined}
      aria-selected={chosen}
      aria-rowindex={index + 1}
      style={{
        gridTemplateColumns: props.template,
        width: props.width,
        transform: `translateY(${props.start}px)`,
        height: ROW,
      }}
      onClick={(event) => row !== undefined && keys.current.click(index, event)}
      onDoubleClick={() => row !== undefined && keys.current.open?.(index)}
    >
      {row === undefined ? (
        <div role="gridcell" className="muted">
          …
        </div>
      ) : (
        columns.map((c) => (
          <div
            key={c.id}
            role="gridcell"
            data-numeric={c.numeric || undefined}
            data-mono={c.mono || undefined}
            title={c.title?.(row)}
          >
            {c.cell(row, index)}
          </div>
        ))
      )}
    </div>
  );
}

/** While the table scrolls, the rows that stay in sight are not drawn again. */
const TableRow = memo(PlainRow) as typeof PlainRow;
