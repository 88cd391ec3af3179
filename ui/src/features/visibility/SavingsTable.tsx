/** Gross, overhead and net of the planning's turns. Net may be negative: hiding tools is not free. */
import "../../components/table.css";
import type { Savings, SavingsRow, TurnRecord } from "../../ipc/client";
import { count, percent } from "../../lib/format";

interface SavingsTableProps {
  savings: Savings;
  turns: TurnRecord[];
}

/** With its sign: what is saved is plus. */
export function signed(tokens: number | null): string {
  if (tokens === null) return count(null);
  const whole = Math.round(tokens);
  return whole < 0 ? `−${count(-whole)}` : whole > 0 ? `+${count(whole)}` : "0";
}

function overheadWords({ blocks, searches, extra_turn, lost_cache }: SavingsRow): string {
  const parts: [string, number | null][] = [
    ["blocks", blocks],
    ["searches and results", searches],
    ["extra turn", extra_turn],
    ["lost cache", lost_cache],
  ];
  return parts
    .filter(([, n]) => n !== null && Math.round(n) > 0)
    .map(([word, n]) => `${word} ${count(n)}`)
    .join(", ");
}

export function SavingsTable({ savings, turns }: SavingsTableProps) {
  const { gross, overhead, net, encoding, exact, rows } = savings;
  return (
    <section className="savings" aria-label="Savings over the turns" data-testid="savings">
      <div className="savings-sum">
        <Figure word="Gross" value={signed(gross)} title="Definitions that the prompts leave out" />
        <span aria-hidden>−</span>
        <Figure
          word="Overhead"
          value={count(overhead)}
          title="Searches and their results, extra turns, blocks, lost prompt cache"
        />
        <span aria-hidden>=</span>
        <Figure word="Net" value={signed(net)} title="What hiding tools saved" good={net !== null && net >= 0} />
        <span className="muted small">
          tokens over {rows.length} {rows.length === 1 ? "turn" : "turns"}, {encoding}, {exact ? "exact" : "estimated"}
        </span>
      </div>
      <table className="plain-table">
        <thead>
          <tr>
            <th>Turn</th>
            <th>State</th>
            <th className="numeric">Tools</th>
            <th className="numeric">Definitions</th>
            <th
              className="numeric"
              title="Searches, selections and their results, of this turn and repeated of earlier ones"
            >
              Searches
            </th>
            <th className="numeric" title="Hints, directory and what else stands there only because tools are hidden">
              Blocks
            </th>
            <th className="numeric">Cached</th>
            <th className="numeric">Gross</th>
            <th className="numeric">Overhead</th>
            <th className="numeric">Net</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.turn} data-testid={`savings-turn-${row.turn}`}>
              <td>
                {row.turn}
                {row.tokens.extra && (
                  <span className="muted" title="An extra turn: sent only to search or to select">
                    {" "}
                    +
                  </span>
                )}
              </td>
              <td>
                <code>{turns[row.turn - 1]?.state}</code>
              </td>
              <td className="numeric">{count(row.tokens.tools)}</td>
              <td className="numeric" title={`Of a prompt of ${count(row.prompt)} tokens`}>
                {count(row.tokens.definitions)}
              </td>
              <td className="numeric">{count(row.searches)}</td>
              <td className="numeric">{count(row.blocks)}</td>
              <td className="numeric" title={cacheTitle(row)} data-negative={(row.lost_cache ?? 0) >= 1 || undefined}>
                {row.stability === null ? "first" : percent(row.stability)}
              </td>
              <td className="numeric">{signed(row.gross)}</td>
              <td className="numeric" title={overheadWords(row)}>
                {count(row.overhead)}
              </td>
              <td className="numeric" data-negative={(row.net ?? 0) < 0 || undefined}>
                {signed(row.net)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** How much of the prompt before begins this one, and may come from the provider's cache. */
function cacheTitle({ stability, lost_cache, cached }: SavingsRow): string {
  if (stability === null) return "The first prompt: nothing is cached yet";
  const kept = `${percent(stability)} of the prompt before begins this one; ${count(cached)} tokens may be cached`;
  return (lost_cache ?? 0) >= 1
    ? `${kept}. Other tools at its beginning lost ${count(lost_cache)} tokens' worth`
    : kept;
}

function Figure({ word, value, title, good }: { word: string; value: string; title: string; good?: boolean }) {
  return (
    <span className="figure" title={title} data-good={good}>
      <span className="muted small">{word}</span>
      <strong data-testid={`savings-${word.toLowerCase()}`}>{value}</strong>
    </span>
  );
}
