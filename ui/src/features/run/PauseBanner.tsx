import { useQuery } from "@tanstack/react-query";
import { CirclePause, RotateCcw } from "lucide-react";
import { useState } from "react";
import { client, type PauseReason, type RunState } from "../../ipc/client";
import { breakpointWords } from "../../lib/debug";
import { controlQuery } from "../../lib/queries";
import { useRunning } from "../../lib/running";
import { useWindow } from "../../lib/store";

/** Why nothing moves, and the keys that make it move again. */
export function PauseBanner({ run, state }: { run: number; state: RunState }) {
  const { data: control } = useQuery({
    ...controlQuery(run, state.paused),
    enabled: state.paused !== null || state.outcome === "interrupted",
  });
  if (state.outcome === "interrupted")
    return control?.resumable ? <Resume run={run} unconfirmed={control.unconfirmed} /> : null;
  const { paused } = state;
  if (paused === null || state.outcome !== null) return null;
  return (
    <div className="pause-banner" role="status" data-testid="pause-banner" data-reason={paused.kind}>
      <CirclePause size={14} aria-hidden />
      <span className="grow truncate">
        <strong>Paused</strong> <Why reason={paused} state={state} />
      </span>
      <span className="muted pause-keys">
        <kbd>F5</kbd> continue <kbd>F10</kbd> step <kbd>F11</kbd> stage
      </span>
    </div>
  );
}

function Why({ reason, state }: { reason: PauseReason; state: RunState }) {
  const set = useWindow((s) => s.set);
  const link = (step: string) => (
    <button type="button" className="link mono" onClick={() => set({ step, tool: null })}>
      {step}
    </button>
  );
  switch (reason.kind) {
    case "start":
      return <>before the first step</>;
    case "by_hand":
      return <>by hand; calls under way go on</>;
    case "breakpoint": {
      const on = state.breakpoints.find((b) => b.id === reason.breakpoint)?.on;
      const error = state.steps[reason.step]?.attempts.at(-1)?.outcome;
      return (
        <>
          {on?.kind === "step" ? on.when : on ? `at ${breakpointWords(on)}` : `at breakpoint ${reason.breakpoint}`}
          {reason.step !== "" && (
            <>
              {on?.kind === "step" ? " " : " · "}
              {link(reason.step)}
            </>
          )}
          {error?.kind === "failed" && <> · {error.error.message}</>}
        </>
      );
    }
    case "stepped":
      return <>after {link(reason.step)}</>;
    case "staged":
      return <>after stage {reason.stage + 1}</>;
    case "reached":
      return <>before {link(reason.step)}</>;
    case "unknown_outcome":
      return (
        <>
          nobody knows whether these calls took effect:{" "}
          {reason.steps.map((step) => (
            <span key={step}>{link(step)} </span>
          ))}
        </>
      );
  }
}

/** A run whose process died can be gone on with; a call that may have taken effect is made again only on a person's word. */
function Resume({ run, unconfirmed }: { run: number; unconfirmed: string[] }) {
  const attempt = useRunning((s) => s.attempt);
  const [confirmed, setConfirmed] = useState<string[]>([]);
  const resume = (paused: boolean) => void attempt(() => client.resumeRun(run, confirmed, paused));
  return (
    <div className="pause-banner" role="status" data-testid="resume-banner">
      <RotateCcw size={14} aria-hidden />
      <span className="grow">
        <strong>Interrupted</strong> Toolplan ended while this ran.
        {unconfirmed.length > 0 && " Nobody knows whether these calls took effect; tick those that may be made again:"}
        {unconfirmed.map((step) => (
          <label key={step} className="check inline-check">
            <input
              type="checkbox"
              checked={confirmed.includes(step)}
              onChange={(e) =>
                setConfirmed(e.target.checked ? [...confirmed, step] : confirmed.filter((s) => s !== step))
              }
            />
            <code>{step}</code>
          </label>
        ))}
      </span>
      <button type="button" className="button small" onClick={() => resume(true)}>
        Resume paused
      </button>
      <button type="button" className="button small primary" data-testid="resume-button" onClick={() => resume(false)}>
        Resume
      </button>
    </div>
  );
}
