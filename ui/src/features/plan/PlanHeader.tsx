/** Above the graph: the plan in a line, what is wrong with it, and the buttons that run it. */
import { Table2, TriangleAlert, Workflow } from "lucide-react";
import type { ReactNode } from "react";
import { ProblemNote } from "../../components/ProblemNote";
import { RunOutcomeBadge } from "../../components/Badges";
import { StepProgress } from "../../components/StepProgress";
import type { Finding, PlanView, RunState } from "../../ipc/client";
import { counted, duration, expected } from "../../lib/format";
import { useRunning } from "../../lib/running";
import { useWindow } from "../../lib/store";

interface PlanHeaderProps {
  view: PlanView;
  /** The run of the plan, at the instant that is shown. */
  run: RunState | null;
  /** They start and stop runs, and belong to another feature. */
  controls: ReactNode;
}

export function PlanHeader({ view, run, controls }: PlanHeaderProps) {
  const { problem, dismiss } = useRunning();
  const asTable = useWindow((s) => s.asTable);
  const live = useWindow((s) => s.live);
  const set = useWindow((s) => s.set);
  const { findings } = view.planning;

  return (
    <div className="plan-header">
      <div className="plan-line">
        {controls}
        {run && live && (
          <button type="button" className="link" onClick={() => set({ view: "runs", openRun: live.run, cursor: null })}>
            Run {live.run}
          </button>
        )}
        {run && (
          <span data-testid="run-outcome" data-outcome-of-run={run.outcome ?? "running"}>
            <RunOutcomeBadge of={run.outcome} paused={run.paused !== null} />
          </span>
        )}
        {run && <StepProgress run={run} />}
        <span className="muted truncate grow" data-testid="plan-summary">
          {summary(view)}
        </span>
        <button
          type="button"
          className="button small"
          data-testid="table-toggle"
          aria-pressed={asTable}
          title={asTable ? "Show the graph (t)" : "Show the table (t)"}
          onClick={() => set({ asTable: !asTable })}
        >
          {asTable ? <Workflow size={13} aria-hidden /> : <Table2 size={13} aria-hidden />}{" "}
          {asTable ? "Graph" : "Table"}
        </button>
      </div>
      {problem && <ProblemNote problem={problem} onDismiss={dismiss} />}
      {findings.length > 0 && <Findings findings={findings} />}
    </div>
  );
}

function summary({ graph, planning: { shape }, decided_in_ms }: PlanView): string {
  const decided = `decided in ${duration(decided_in_ms)}`;
  if (graph.steps.length === 0) return `No steps · ${decided}`;
  const parts = [
    `${counted(graph.steps.length, "step")} in ${counted(graph.stages.length, "stage")}`,
    `duration ${expected(shape.duration_ms)}`,
    ...(shape.cost === null || shape.cost === 0 ? [] : [`≈ $${shape.cost.toFixed(4)}`]),
    decided,
  ];
  return parts.join(" · ");
}

function Findings({ findings }: { findings: Finding[] }) {
  const set = useWindow((s) => s.set);
  return (
    <ul className="findings" data-testid="findings" aria-label="Findings">
      {findings.map((finding, i) => (
        <li key={i} data-code={finding.code}>
          <TriangleAlert size={13} aria-hidden />
          {finding.step !== "" && (
            <button type="button" className="link mono" onClick={() => set({ step: finding.step, tool: null })}>
              {finding.step}
            </button>
          )}
          <span>{finding.message}</span>
          <span className="hint">{finding.hint}</span>
          <code className="rule">{finding.code}</code>
        </li>
      ))}
    </ul>
  );
}
