/** Tools against states for the tenant, mode and flags of the top bar; ACTION as it is with an intent. */
import { useMemo, useState } from "react";
import { ClassificationBadge } from "../../components/Badges";
import { Empty } from "../../components/Empty";
import { PagedTable, type PagedColumn } from "../../components/PagedTable";
import { ProblemNote } from "../../components/ProblemNote";
import { SearchBox } from "../../components/SearchBox";
import { Seen } from "../../components/Seen";
import { ToolName } from "../../components/ToolName";
import {
  client,
  EXECUTION_STATES,
  Problem,
  type ExecutionState,
  type MatrixOnly,
  type MatrixPage,
  type MatrixQuery,
  type MatrixRow,
} from "../../ipc/client";
import { count } from "../../lib/format";
import { usePages } from "../../lib/pages";
import { useContextRequest } from "../../lib/planning";
import { useWindow } from "../../lib/store";

const ONLY: [MatrixOnly, string][] = [
  ["all", "All tools"],
  ["differs", "Differ between states"],
  ["hidden", "Hidden in every state"],
  ["unclassified", "Unclassified"],
];

function stateColumn(state: ExecutionState, i: number, page: MatrixPage | undefined): PagedColumn<MatrixRow> {
  const all = page?.states.find((s) => s.state === state);
  return {
    id: state,
    name:
      all && `${count(all.visible)} visible, ${count(all.in_prompt)} in the prompt with ${count(all.tokens)} tokens`,
    header: (
      <span className="matrix-state" data-testid={`visible-count-${state}`}>
        {state}{" "}
        {all && (
          <span className="muted">
            {count(all.visible)}
            <span className="matrix-tokens"> · {count(all.tokens)} tok</span>
          </span>
        )}
      </span>
    ),
    cell: (row) => <Cell row={row} at={i} />,
    title: (row) => row.cells[i]?.reason ?? "",
    width: "minmax(118px, 1fr)",
  };
}

const columnsOf = (page: MatrixPage | undefined): PagedColumn<MatrixRow>[] => [
  {
    id: "tool",
    header: "Tool",
    cell: (row) => <ToolName name={row.tool} plain />,
    width: "minmax(170px, 1.4fr)",
  },
  {
    id: "class",
    header: "Class",
    cell: (row) => <ClassificationBadge of={row.classification} />,
    width: "112px",
  },
  { id: "group", header: "Group", cell: (row) => row.group || "none", width: "88px" },
  ...EXECUTION_STATES.map((state, i) => stateColumn(state, i, page)),
  { id: "tokens", header: "Tokens", cell: (row) => count(row.tokens), width: "76px", numeric: true },
];

function Cell({ row, at }: { row: MatrixRow; at: number }) {
  const cell = row.cells[at];
  return cell && <Seen how={cell.in_prompt ? "visible" : cell.visible ? "deferred" : "hidden"} gate={cell.gate} />;
}

const rowsOf = (page: MatrixPage) => page.rows;

export function Matrix() {
  const { request } = useContextRequest();
  const set = useWindow((s) => s.set);
  const tool = useWindow((s) => s.tool);
  const [filter, setFilter] = useState("");
  const [only, setOnly] = useState<MatrixOnly>("all");
  const [cursor, setCursor] = useState(-1);
  const [pages, setPages] = useState<readonly number[]>([0]);
  const { session, mode } = request;
  const query = useMemo<Omit<MatrixQuery, "offset" | "limit">>(
    () => ({ session, mode, filter, only }),
    [session, mode, filter, only],
  );
  const { first, rowAt, error } = usePages({
    queryKey: ["matrix", null, query],
    load: (offset, limit) => client.visibilityMatrix({ ...query, offset, limit }),
    rowsOf,
    pages,
  });
  const total = first?.matching ?? 0;
  const columns = useMemo(() => columnsOf(first), [first]);
  const open = (index: number) => {
    setCursor(index);
    const row = rowAt(index);
    if (row) set({ tool: row.tool, step: null });
  };
  return (
    <>
      <div className="toolbar">
        <SearchBox
          label="Filter tools"
          testId="matrix-filter"
          placeholder="Name, namespace, group or tag"
          value={filter}
          onChange={(text) => {
            setFilter(text);
            setCursor(-1);
          }}
        />
        <select
          aria-label="Which tools"
          data-testid="matrix-only"
          value={only}
          onChange={(e) => setOnly(e.target.value as MatrixOnly)}
        >
          {ONLY.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        <span className="muted" data-testid="matrix-count">
          {first && `${count(total)} of ${count(first.tools)} tools`}
        </span>
      </div>
      {error && <ProblemNote problem={Problem.from(error)} />}
      {first && total === 0 ? (
        <Empty title="No tool is like that">
          <p>The matrix holds for the tenant, mode and flags of the top bar.</p>
          <button
            type="button"
            className="button"
            onClick={() => {
              setFilter("");
              setOnly("all");
            }}
          >
            Show all tools
          </button>
        </Empty>
      ) : (
        <div className="matrix">
          <PagedTable
            label="Visibility by state"
            total={total}
            rowAt={rowAt}
            rowId={(row) => row.tool}
            rowTestId={(row) => `visibility-row-${row.tool}`}
            columns={columns}
            keys={{ move: open, click: open }}
            cursor={cursor}
            isChosen={(row) => row.tool === tool}
            onPages={setPages}
          />
        </div>
      )}
    </>
  );
}
