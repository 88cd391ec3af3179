import { ToolName } from "../../components/ToolName";
import type { Attempt, StepState, StepStatus } from "../../ipc/client";
import { duration, inline } from "../../lib/format";
import { Answer } from "./Answer";

/** What became of a step: the answer or the reason why there is none, and every attempt on the way. */
export function Attempts({ state }: { state: StepState }) {
  const { result, error, skip, attempts } = state;
  return (
    <section className="section" aria-label="Result">
      <h3>Result</h3>
      {result && (
        <div data-testid="step-result">
          <Answer result={result} />
        </div>
      )}
      {error && (
        <div className="problem" data-testid="step-error">
          <div>
            <span className="badge" data-outcome="dropped">
              {error.class.replaceAll("_", " ")}
            </span>{" "}
            {error.message}
            {error.hint !== "" && <div className="hint">{error.hint}</div>}
          </div>
        </div>
      )}
      {skip && (
        <p data-testid="step-skip">
          {skip.kind === "by_hand" ? (
            "Skipped by hand."
          ) : (
            <>
              Skipped: {skip.kind === "dependency" ? "it depends on" : "the run was stopped by"}{" "}
              <code>{skip.root}</code>, which failed.
            </>
          )}
        </p>
      )}
      {!result && !error && !skip && <p className="muted">No answer yet.</p>}
      {attempts.length > 0 && (
        <ol className="attempts">
          {attempts.map((attempt) => (
            <AttemptLine
              key={`${attempt.tool}-${attempt.number}-${attempt.started_ms}`}
              attempt={attempt}
              word={attemptWord(attempt, state.status)}
            />
          ))}
        </ol>
      )}
    </section>
  );
}

/** An attempt without an answer runs only as long as its step does. */
export function attemptWord({ outcome, unknown, given_up }: Attempt, status: StepStatus): string {
  if (outcome !== null) return outcome.kind;
  if (given_up || status === "cancelled") return "cancelled";
  if (unknown) return "outcome unknown";
  return status === "running" ? "running" : "no answer";
}

function AttemptLine({ attempt, word }: { attempt: Attempt; word: string }) {
  const { outcome } = attempt;
  return (
    <li data-attempt={word}>
      <div className="run-line">
        <strong>Attempt {attempt.number}</strong>
        <ToolName name={attempt.tool} />
        <span className="badge" data-run-outcome={word}>
          {word}
        </span>
        <span className="run-time">{attempt.duration_ms === null ? "" : duration(attempt.duration_ms)}</span>
      </div>
      <div className="mono muted truncate" title={inline(attempt.arguments)}>
        {inline(attempt.arguments)}
      </div>
      {outcome?.kind === "failed" && <div className="field-error">{outcome.error.message}</div>}
    </li>
  );
}
