/** What the tool definitions cost in the prompt, per state, per turn and per tool, and what hiding them saves. */
import { useMemo } from "react";
import { DataTable, type Column } from "../../components/DataTable";
import { ToolName } from "../../components/ToolName";
import type { Planning, StateTokens, TokenReport } from "../../ipc/client";
import { countsAs } from "../../lib/context";
import { count, counted, reduction } from "../../lib/format";
import { useWindow } from "../../lib/store";
import { SavingsTable } from "./SavingsTable";
import "./visibility.css";

type ToolRow = TokenReport["tools"][number];

const columns: Column<ToolRow>[] = [
  {
    id: "tool",
    header: "Tool",
    value: (r) => r.tool,
    cell: (r) => <ToolName name={r.tool} plain dimmed={!r.visible} />,
    width: "minmax(150px, 1fr)",
    mono: true,
  },
  { id: "name", header: "Name", value: (r) => r.cost.name, width: "56px", numeric: true },
  { id: "description", header: "Description", value: (r) => r.cost.description, width: "88px", numeric: true },
  { id: "schema", header: "Schema", value: (r) => r.cost.schema, width: "68px", numeric: true },
  { id: "total", header: "Total", value: (r) => r.total, width: "64px", numeric: true },
  { id: "visible", header: "In prompt", value: (r) => (r.visible ? "yes" : "no"), width: "88px" },
];

export function TokensPanel({ planning }: { planning: Planning }) {
  const { tokens, request, savings, blocks, guidance } = planning;
  const tool = useWindow((s) => s.tool);
  const set = useWindow((s) => s.set);
  const widest = useMemo(() => Math.max(1, ...tokens.states.map((s) => s.full)), [tokens]);
  return (
    <div className="beside">
      <div className="side-list tokens-states">
        <p className="muted">
          Tokens of definitions, {tokens.encoding}, {tokens.exact ? "exact" : "estimated"}
        </p>
        {tokens.states.map((state) => (
          <StateBar key={state.state} row={state} widest={widest} current={state.state === countsAs(request)} />
        ))}
        {(blocks.tokens > 0 || guidance.tokens > 0) && (
          <p className="muted small tokens-also">
            Also in the prompt:{" "}
            {[
              ...blocks.blocks.map((b) => `${b.kind} ${count(b.tokens)}`),
              ...(guidance.tokens > 0 ? [`guidance ${count(guidance.tokens)}`] : []),
            ].join(", ")}
            .{" "}
            <button type="button" className="link" onClick={() => set({ bottomTab: "prompt" })}>
              Show
            </button>
          </p>
        )}
      </div>
      <div className="tokens-right">
        {savings.rows.length > 0 && <SavingsTable savings={savings} turns={planning.turns} />}
        <DataTable
          label="Tokens per tool"
          rows={tokens.tools}
          columns={columns}
          rowId={(r) => r.tool}
          selected={tool}
          initialSort={[{ id: "total", desc: true }]}
          onSelect={(r) => set({ tool: r.tool, step: null })}
        />
      </div>
    </div>
  );
}

function StateBar({ row, widest, current }: { row: StateTokens; widest: number; current: boolean }) {
  return (
    <div
      className="state-bar"
      data-testid={`tokens-${row.state}`}
      data-current={current || undefined}
      data-visible={row.visible}
      data-full={row.full}
    >
      <div className="state-bar-head">
        <strong>{row.state}</strong>
        <span>
          <span data-testid={`tokens-visible-${row.state}`}>{count(row.visible)}</span> of {count(row.full)}
        </span>
      </div>
      <div
        className="bar"
        style={{ width: `${(row.full / widest) * 100}%` }}
        title={`${counted(row.visible_tools, "tool")} of ${count(row.full_tools)} visible`}
      >
        <div style={{ width: `${row.full === 0 ? 0 : (row.visible / row.full) * 100}%` }} />
      </div>
      <div className="muted small">
        {count(row.visible_tools)} of {counted(row.full_tools, "tool")}{" "}
        <span className="state-saved">
          gross {count(row.saved)} ({reduction(row.visible, row.full)})
        </span>
      </div>
    </div>
  );
}
