import { useState } from "react";
import type { RunState } from "../../ipc/client";
import { at, readWatch, useDebug } from "../../lib/debug";
import { useWindow } from "../../lib/store";
import { DebugAdd, DebugRow } from "./DebugRow";

/** Values in results, at the instant that is shown. */
export function Watches({ state }: { state: RunState | null }) {
  const watches = useDebug((s) => s.watches);
  const set = useDebug((s) => s.set);
  const select = useWindow((s) => s.set);
  const [text, setText] = useState("");
  const add = () => {
    const watch = readWatch(text);
    if (!watch) return;
    // One line per place, however often it is asked for.
    const known = watches.some((w) => w.step === watch.step && w.path === watch.path);
    if (!known) set({ watches: [...watches, watch] });
    setText("");
  };
  return (
    <section className="debug-part" aria-label="Watched values">
      <h3>Watch</h3>
      <DebugAdd
        testId="watch-input"
        label="New watched value"
        placeholder="step-1 /items/0/id"
        value={text}
        addLabel="Watch the value"
        onChange={setText}
        onAdd={add}
      />
      <ul className="debug-list">
        {watches.map((watch, i) => {
          const step = state?.steps[watch.step];
          const value = at(step?.result?.data, watch.path);
          return (
            <DebugRow
              key={`${watch.step} ${watch.path}`}
              testId={`watch-${watch.step}`}
              label={`${watch.step} ${watch.path}`}
              removeLabel="Watch no longer"
              onRemove={() => set({ watches: watches.filter((_, k) => k !== i) })}
            >
              <button
                type="button"
                className="plain-button mono"
                onClick={() => select({ step: watch.step, tool: null })}
              >
                {watch.step}
                <span className="muted"> {watch.path}</span>
              </button>
              <code
                className="truncate grow watch-value"
                title={value === undefined ? undefined : JSON.stringify(value, null, 2)}
              >
                {!step?.result ? (
                  <span className="muted">no result yet</span>
                ) : value === undefined ? (
                  <span className="muted">nothing there</span>
                ) : (
                  JSON.stringify(value)
                )}
              </code>
            </DebugRow>
          );
        })}
      </ul>
      {watches.length === 0 && <p className="muted">A step and a path into its result; it follows the scrubber.</p>}
    </section>
  );
}
