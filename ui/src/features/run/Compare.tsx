/** Two runs side by side: where they part first, and everything that differs. */
import { useQuery } from "@tanstack/react-query";
import { Equal, Split } from "lucide-react";
import { Fragment } from "react";
import { OutcomeBadge } from "../../components/Badges";
import { ProblemNote } from "../../components/ProblemNote";
import { StatusIcon } from "../../components/Status";
import { ToolName } from "../../components/ToolName";
import { Problem, type Divergence, type PlanDiff, type RunDiff, type StepDiff, type Value } from "../../ipc/client";
import { count, duration, middle, UNKNOWN } from "../../lib/format";
import { diffQuery, runsQuery } from "../../lib/queries";
import { useWindow } from "../../lib/store";
import { GATE, RUN_OUTCOME } from "../../lib/words";
import "./past.css";

/** What of a path fits into its column; the title has all of it. */
const PATH_CHARS = 26;

export function Compare({ run }: { run: number }) {
  const { data: runs } = useQuery(runsQuery);
  const origin = runs?.find((r) => r.id === run)?.origin?.run ?? null;
  const asked = useWindow((s) => s.compareWith);
  const set = useWindow((s) => s.set);
  const others = runs?.filter((r) => r.id !== run) ?? [];
  const chosen = others.find((r) => r.id === asked) ?? others.find((r) => r.id === origin) ?? others[0];
  const { data: diff, error } = useQuery({ ...diffQuery(chosen?.id ?? 0, run), enabled: chosen !== undefined });
  if (!chosen) return <p className="muted compare-none">There is no other run to compare with.</p>;
  return (
    <div className="run-compare" data-testid="compare">
      <div className="compare-head">
        <label className="choice">
          <select
            aria-label="Compare with"
            data-testid="compare-with"
            value={chosen.id}
            onChange={(e) => set({ compareWith: Number(e.target.value) })}
          >
            {others.map((r) => (
              <option key={r.id} value={r.id}>
                Run {r.id} · {middle(r.query, 60)}
              </option>
            ))}
          </select>
        </label>
        <span className="muted compare-against">against run {run}</span>
        {diff && <Totals diff={diff} />}
      </div>
      {error && <ProblemNote problem={Problem.from(error)} />}
      {diff && <Verdict diff={diff} run={run} other={chosen.id} />}
      {diff && <Differences diff={diff} run={run} other={chosen.id} />}
    </div>
  );
}

function Totals({ diff: { outcome, duration_ms, calls } }: { diff: RunDiff }) {
  const word = (o: RunDiff["outcome"]["a"]) => (o === null ? "Running" : RUN_OUTCOME[o]);
  const pair = (a: string, b: string) => (a === b ? a : `${a} → ${b}`);
  return (
    <span className="compare-totals">
      <span>{pair(word(outcome.a), word(outcome.b))}</span>
      <span>{pair(duration(duration_ms.a), duration(duration_ms.b))}</span>
      <span>{pair(`${count(calls.a)} calls`, `${count(calls.b)} calls`)}</span>
    </span>
  );
}

function Verdict({ diff, run, other }: { diff: RunDiff; run: number; other: number }) {
  const set = useWindow((s) => s.set);
  if (diff.same) {
    return (
      <div className="compare-verdict" data-same data-testid="compare-same">
        <Equal size={14} aria-hidden /> Nothing differs but times.
      </div>
    );
  }
  if (!diff.divergence) return null;
  const { sentence, call, seq_a, seq_b }: Divergence = diff.divergence;
  const show = (run: number, seq: number | null) =>
    seq !== null && (
      <button
        type="button"
        className="link"
        onClick={() => set({ openRun: run, cursor: seq, compareWith: run === other ? null : other })}
      >
        run {run} at event {seq}
      </button>
    );
  return (
    <div className="compare-verdict" data-testid="compare-divergence">
      <Split size={14} aria-hidden />
      <span className="grow">
        <strong>{call > 0 ? `They part at call ${call}` : "They part"}</strong>: {sentence}
      </span>
      <span className="muted">
        {show(other, seq_a)} {seq_a !== null && seq_b !== null && "·"} {show(run, seq_b)}
      </span>
    </div>
  );
}

function Differences({ diff, run, other }: { diff: RunDiff; run: number; other: number }) {
  const { plan, steps } = diff;
  const first = diff.divergence?.step_a ?? diff.divergence?.step_b;
  return (
    <table className="compare-table">
      <thead>
        <tr>
          <th>What</th>
          <th>Run {other}</th>
          <th>Run {run}</th>
        </tr>
      </thead>
      <tbody>
        <PlanRows plan={plan} />
        {steps.map((step) => (
          <StepRows key={step.id.a ?? step.id.b} step={step} first={(step.id.a ?? step.id.b) === first} />
        ))}
      </tbody>
    </table>
  );
}

/** What differs between two plannings; their steps too, where no runs of them are compared. */
export function PlanRows({ plan, steps }: { plan: PlanDiff; steps?: boolean }) {
  const planned = (step: PlanDiff["steps"][number], side: "a" | "b") =>
    step.id[side] === null ? <span className="muted">not planned</span> : <code>{step.tool[side]}</code>;
  return (
    <>
      {plan.facts.map((fact) => (
        <tr key={fact.name}>
          <th>{fact.name.replaceAll("_", " ")}</th>
          <td title={fact.a}>{fact.a}</td>
          <td title={fact.b}>{fact.b}</td>
        </tr>
      ))}
      {steps &&
        plan.steps.map((step) => (
          <Fragment key={`${step.id.a} ${step.id.b}`}>
            <tr>
              <th className="mono">{step.id.b ?? step.id.a}</th>
              <td>{planned(step, "a")}</td>
              <td>{planned(step, "b")}</td>
            </tr>
            <ValueRows changed={step.changed} />
          </Fragment>
        ))}
      {plan.verdicts.map((v) => (
        <tr key={v.tool}>
          <th>{steps ? <code>{v.tool}</code> : <ToolName name={v.tool} />}</th>
          <td>
            <VerdictCell end={v.a} />
          </td>
          <td>
            <VerdictCell end={v.b} />
          </td>
        </tr>
      ))}
      {plan.tokens.map((t) => (
        <tr key={t.state}>
          <th>tokens in {t.state}</th>
          <td>{count(t.visible.a)}</td>
          <td>{count(t.visible.b)}</td>
        </tr>
      ))}
    </>
  );
}

function VerdictCell({ end }: { end: PlanDiff["verdicts"][number]["a"] }) {
  if (!end) return <span className="muted">not there</span>;
  return (
    <>
      <OutcomeBadge of={end.outcome} /> {end.reason} <span className="muted">({GATE[end.gate]})</span>
    </>
  );
}

function ValueRows({ changed }: { changed: StepDiff["changed"] }) {
  return changed.map((change) => (
    <tr key={change.path} className="compare-change">
      <th className="mono" title={change.path || undefined}>
        {middle(change.path || "all", PATH_CHARS)}
      </th>
      <td>
        <Cell value={change.a} side="a" />
      </td>
      <td>
        <Cell value={change.b} side="b" />
      </td>
    </tr>
  ));
}

function StepRows({ step, first }: { step: StepDiff; first: boolean }) {
  const set = useWindow((s) => s.set);
  const id = step.id.b ?? step.id.a ?? "";
  const side = (which: "a" | "b") => {
    const status = step.status[which];
    if (status === null) return <span className="muted">not there</span>;
    const took = step.duration_ms[which];
    return (
      <>
        <StatusIcon status={status} /> <code>{step.tool[which]}</code>{" "}
        <span className="muted">
          {took === null ? UNKNOWN : duration(took)}
          {step.attempts[which] > 1 && ` · ${step.attempts[which]} attempts`}
        </span>
      </>
    );
  };
  return (
    <>
      <tr data-first={first || undefined} data-testid={`compare-${id}`}>
        <th>
          <button type="button" className="link mono" onClick={() => set({ step: id, tool: null })}>
            {id}
          </button>
        </th>
        <td>{side("a")}</td>
        <td>{side("b")}</td>
      </tr>
      <ValueRows changed={step.changed} />
    </>
  );
}

function Cell({ value, side }: { value: Value | null; side: "a" | "b" }) {
  const text = value === null ? "nothing" : typeof value === "string" ? value : JSON.stringify(value);
  return (
    <code className="compare-value" data-side={side} title={text.length > 2000 ? `${text.slice(0, 2000)}…` : text}>
      {text}
    </code>
  );
}
