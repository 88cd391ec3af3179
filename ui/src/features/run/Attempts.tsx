import { ToolName } from "../../components/ToolName";
import type { Attempt, StepState } from "../../ipc/client";
import { duration, inline, json, percent } from "../../lib/format";

/** What became of a step: the answer or the reason why there is none, and every attempt on the way. */
export function Attempts({ state }: { state: StepState }) {
  const { result, error, skip, attempts } = state;
  return (
    <section className="section" aria-label="Result">
      <h3>Result</h3>
      {result && (
        <div data-testid="step-result">
          <pre className="json-block">{typeof result.data === "string" ? result.data : json(result.data)}</pre>
          {result.confidence !== null && <p className="muted">Confidence {percent(result.confidence)}</p>}
          {result.sources.length > 0 && (
            <ul className="sources" aria-label="Sources">
              {result.sources.map((source) => (
                <li key={source}>{source}</li>
              ))}
            </ul>
          )}
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
            <AttemptLine key={`${attempt.tool}-${attempt.number}-${attempt.started_ms}`} attempt={attempt} />
          ))}
        </ol>
      )}
    </section>
  );
}

function AttemptLine({ attempt }: { attempt: Attempt }) {
  const { outcome } = attempt;
  const open = attempt.given_up ? "cancelled" : attempt.unknown ? "interrupted" : "running";
  const word = outcome?.kind ?? open;
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
