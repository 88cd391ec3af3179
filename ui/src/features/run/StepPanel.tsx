/** One step: its call and where each argument comes from, what the guard said, and every attempt with its answer. */
import { StatusIcon } from "../../components/Status";
import { ToolName } from "../../components/ToolName";
import { TrailList } from "../../components/TrailList";
import type { Planning, RunState, StepSpec, StepState, Value } from "../../ipc/client";
import { duration, inline, json } from "../../lib/format";
import { asReference } from "../../lib/steps";
import { STATUS } from "../../lib/words";
import { Attempts } from "./Attempts";
import { StepActions } from "./StepActions";
import "./run.css";

interface StepPanelProps {
  spec: StepSpec;
  planning: Planning;
  /** Null before the step was part of a run. */
  state: StepState | null;
  /** The run that the step can be changed in: at its newest event, and null where there is none. */
  target: { run: number; state: RunState } | null;
  onOpenTool: (tool: string) => void;
}

export function StepPanel({ spec, planning, state, target, onOpenTool }: StepPanelProps) {
  // The steps were made from the calls that went on, in the same order.
  const calls = planning.guard.calls.filter((c) => c.outcome !== "dropped");
  const call = calls[planning.plan.steps.findIndex((s) => s.id === spec.id)];
  const edited = state?.edited_arguments ?? null;
  const args = edited ?? spec.arguments;
  const subQuery = planning.decomposition.sub_queries.find((s) => s.id === spec.sub_query);
  return (
    <div className="panel-column">
      <section className="section">
        <div className="step-title">
          <code data-testid="inspector-step">{spec.id}</code>
          <ToolName name={spec.tool} onOpen={onOpenTool} />
          <span className="step-title-status">
            {state ? (
              <>
                <StatusIcon status={state.status} /> {STATUS[state.status]}
              </>
            ) : (
              <span className="muted">Planned</span>
            )}
          </span>
        </div>
        {subQuery && <p className="muted">Serves “{subQuery.query}”</p>}
        <Facts spec={spec} />
        <StepActions key={spec.id} spec={spec} run={target?.run ?? null} state={target?.state ?? null} />
      </section>
      <section className="section" aria-label="Arguments">
        <h3>Arguments</h3>
        {edited && (
          <p className="muted">
            Changed by hand. The plan says <code>{inline(spec.arguments)}</code>
          </p>
        )}
        <dl className="arguments">
          {Object.entries(args).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Argument value={value} />
              </dd>
            </div>
          ))}
        </dl>
        {Object.keys(args).length === 0 && <p className="muted">The call takes no arguments.</p>}
      </section>
      {state && <Attempts state={state} />}
      {call?.call.tool === spec.tool && (
        <section className="section" aria-label="Guard">
          <h3>What the guard said</h3>
          <TrailList verdicts={call.verdicts} />
        </section>
      )}
    </div>
  );
}

function Facts({ spec }: { spec: StepSpec }) {
  const facts = [
    spec.dependencies.length > 0 && `after ${spec.dependencies.join(", ")}`,
    spec.mode === "sequential" && "runs alone among sequential steps",
    spec.critical && "critical: its failure stops the run",
    spec.expected_ms !== null && `expected ≈ ${duration(spec.expected_ms)}`,
    spec.timeout_ms !== null && `timeout ${duration(spec.timeout_ms)}`,
    spec.retry !== null && `up to ${spec.retry.max_retries} retries from ${duration(spec.retry.base_ms)}`,
    spec.fallback !== null &&
      `falls back to ${spec.fallback.tool} ${spec.fallback.condition === "on_error" ? "on an error" : "on low confidence"}`,
  ].filter((fact) => fact !== false);
  return facts.length > 0 ? <p className="muted">{facts.join(" · ")}</p> : null;
}

/** A value as it is, or the earlier result that it will be taken from. */
function Argument({ value }: { value: Value }) {
  const reference = asReference(value);
  if (!reference) return <pre className="json-block">{json(value)}</pre>;
  return (
    <span className="provenance">
      ← result of <code>{reference.step}</code> {reference.path === "" ? "(all of it)" : <code>{reference.path}</code>}
    </span>
  );
}
