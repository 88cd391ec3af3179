/** The catalog as it was at a run, each tool with what had become of it by one event. */
import { Search } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { ClassificationBadge, OutcomeBadge } from "../../components/Badges";
import { PagedTable, type PagedColumn } from "../../components/PagedTable";
import { PastNote, type Instant } from "../../components/PastNote";
import { ProblemNote } from "../../components/ProblemNote";
import { StatusIcon } from "../../components/Status";
import { client, Problem, type ToolAt, type ToolsAt } from "../../ipc/client";
import { count, counted } from "../../lib/format";
import { usePages } from "../../lib/pages";
import { useWindow } from "../../lib/store";
import { usedWords } from "./toolWords";
import "./then.css";

const columns: PagedColumn<ToolAt>[] = [
  { id: "tool", header: "Tool", cell: (r) => r.name, title: (r) => r.name, width: "minmax(118px, 1fr)", mono: true },
  {
    id: "status",
    header: "In the run",
    cell: (r) => (
      <span
        data-testid={`then-status-${r.name}`}
        data-status={r.status ?? "unused"}
        className={r.status ? "" : "muted"}
      >
        {r.status && <StatusIcon status={r.status} />} {usedWords(r)}
      </span>
    ),
    width: "minmax(146px, 190px)",
  },
  {
    id: "calls",
    header: "Calls",
    cell: (r) => (
      <span data-testid={`then-calls-${r.name}`}>
        {count(r.calls)}
        {r.failures > 0 && <span className="then-failures"> −{count(r.failures)}</span>}
      </span>
    ),
    title: (r) => `${counted(r.calls, "call")}${r.failures > 0 ? `, ${count(r.failures)} of them failed` : ""}`,
    width: "52px",
    numeric: true,
  },
  {
    id: "verdict",
    header: "Verdict",
    cell: (r) =>
      r.verdict ? (
        <span data-testid={`then-verdict-${r.name}`} data-rule={r.verdict.rule}>
          <OutcomeBadge of={r.verdict.outcome} /> {r.verdict.reason}
        </span>
      ) : (
        <span className="muted">not planned yet</span>
      ),
    title: (r) => r.verdict?.reason ?? "",
    width: "minmax(120px, 2fr)",
  },
  {
    id: "today",
    header: "Today",
    cell: (r) => (
      <span className={r.unchanged ? "muted" : "then-differs"}>
        {r.removed ? "gone" : r.unchanged ? "the same" : "differs"}
      </span>
    ),
    width: "86px",
  },
  { id: "class", header: "Class", cell: (r) => <ClassificationBadge of={r.classification} />, width: "104px" },
];

export function ToolsThen({ instant }: { instant: Instant }) {
  const { run, at } = instant;
  const [text, setText] = useState("");
  const wanted = useDeferredValue(text.trim());
  const [pages, setPages] = useState<number[]>([0]);
  const tool = useWindow((s) => s.tool);
  const set = useWindow((s) => s.set);
  const { first, rowAt, error } = usePages<ToolsAt, ToolAt>({
    queryKey: ["tools-at", null, run, at, wanted],
    load: (offset, limit) => client.runTools(run, at, wanted, offset, limit),
    rowsOf: (page) => page.rows,
    pages,
  });
  const total = first?.total ?? 0;
  const chosen = first?.rows.findIndex((r) => r.name === tool) ?? -1;
  const open = (index: number) => {
    const row = rowAt(index);
    if (row) set({ tool: row.name });
  };
  return (
    <div className="then" data-testid="tools-then">
      <PastNote instant={instant} />
      <div className="then-bar">
        <label className="graph-find">
          <Search size={13} aria-hidden />
          <input
            aria-label="Find a tool of the run"
            data-testid="then-find"
            placeholder="Find a tool"
            value={text}
            onChange={(e) => setText(e.target.value)}
          />
        </label>
        {first && (
          <span className="muted truncate">
            {wanted === "" ? counted(first.all, "tool") : `${count(total)} of ${counted(first.all, "tool")}`} · catalog
            r{first.revision}, as it was at the run
          </span>
        )}
      </div>
      {error && <ProblemNote problem={Problem.from(error)} />}
      <PagedTable
        label="Tools as they were at the run"
        total={total}
        rowAt={rowAt}
        rowId={(r) => r.name}
        rowTestId={(r) => `then-${r.name}`}
        columns={columns}
        cursor={chosen}
        isChosen={(r) => r.name === tool}
        keys={{ move: open, click: open }}
        onPages={setPages}
      />
    </div>
  );
}
