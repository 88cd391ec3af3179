/** The buttons of a debugger: run and go on, pause, one step, one stage, stop; and how runs are started. */
import * as Popover from "@radix-ui/react-popover";
import { FastForward, Pause, Play, Settings2, Square, StepForward } from "lucide-react";
import { NumberField } from "../../components/NumberField";
import type { RunState } from "../../ipc/client";
import { faultWords, useDebug } from "../../lib/debug";
import { counted } from "../../lib/format";
import { useRunning } from "../../lib/running";
import "./debug.css";

interface RunControlsProps {
  run: RunState | null;
  /** Why no run can be started, or null; absent where none can be. */
  blocked?: string | null;
}

export function RunControls({ run, blocked }: RunControlsProps) {
  const { start, stop, pause, step, nextStage, starting } = useRunning();
  const going = run !== null && run.outcome === null;
  const paused = going && run.paused !== null;
  const startable = blocked === null && !starting;
  return (
    <div className="run-controls" role="group" aria-label="Run">
      {going && !paused && (
        <button
          type="button"
          className="button"
          data-testid="pause-button"
          title="Pause (F6)"
          onClick={() => void pause()}
        >
          <Pause size={13} aria-hidden /> Pause
        </button>
      )}
      {(paused || (!going && blocked !== undefined)) && (
        <button
          type="button"
          className="button primary"
          data-testid={paused ? "continue-button" : "run-button"}
          disabled={!paused && !startable}
          title={paused ? "Continue (F5)" : (blocked ?? "Run (F5)")}
          onClick={() => void start()}
        >
          <Play size={13} aria-hidden /> {paused ? "Continue" : "Run"}
        </button>
      )}
      {(paused || (!going && blocked !== undefined)) && (
        <button
          type="button"
          className="icon-button"
          data-testid="step-button"
          disabled={!paused && !startable}
          aria-label="One step"
          title={paused ? "One step (F10)" : "Run, paused before the first step (F10)"}
          onClick={() => void step()}
        >
          <StepForward size={15} />
        </button>
      )}
      {paused && (
        <button
          type="button"
          className="icon-button"
          data-testid="stage-button"
          aria-label="To the end of the stage"
          title="To the end of the stage (F11)"
          onClick={() => void nextStage()}
        >
          <FastForward size={15} />
        </button>
      )}
      {going && (
        <button
          type="button"
          className={paused ? "icon-button" : "button"}
          data-testid="stop-button"
          disabled={run.cancelling}
          aria-label="Stop"
          title="Stop (Shift+F5)"
          onClick={() => void stop()}
        >
          <Square size={13} aria-hidden /> {!paused && (run.cancelling ? "Stopping…" : "Stop")}
        </button>
      )}
      {!going && blocked !== undefined && <Options />}
    </div>
  );
}

/** What the next run is started with. */
function Options() {
  const { noCache, seed, jitter, faults, breakpoints, set } = useDebug();
  const changed = noCache || seed !== 0 || jitter !== null || faults.some((f) => !f.off);
  return (
    <Popover.Root>
      <Popover.Trigger
        className="icon-button"
        aria-label="Options of the run"
        title="Options of the run"
        data-changed-options={changed || undefined}
      >
        <Settings2 size={14} />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className="popover run-options" align="start" sideOffset={4}>
          <label className="check">
            <input type="checkbox" checked={noCache} onChange={(e) => set({ noCache: e.target.checked })} />
            Answer nothing from the result cache
          </label>
          <NumberField label="Seed of faults and jitter" value={seed} onChange={(n) => set({ seed: n ?? 0 })} />
          <NumberField
            label="Jitter of retries, percent"
            value={jitter}
            unset="as set for the workspace"
            max={100}
            onChange={(n) => set({ jitter: n })}
          />
          {faults.length > 0 && (
            <fieldset className="run-faults">
              <legend>Faults on purpose</legend>
              {faults.map((rule, i) => (
                <label key={i} className="check">
                  <input
                    type="checkbox"
                    checked={!rule.off}
                    onChange={(e) =>
                      set({ faults: faults.map((f, k) => (k === i ? { ...f, off: !e.target.checked } : f)) })
                    }
                  />
                  {faultWords(rule)}
                </label>
              ))}
            </fieldset>
          )}
          <p className="muted">
            {counted(breakpoints.filter((b) => b.enabled).length, "breakpoint")} and{" "}
            {counted(faults.filter((f) => !f.off).length, "fault")} go along; they stand in the Debug tab.
          </p>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
