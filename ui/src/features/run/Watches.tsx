import { Plus, X } from "lucide-react";
import { useState } from "react";
import type { RunState } from "../../ipc/client";
import { at, readWatch, useDebug } from "../../lib/debug";
import { useWindow } from "../../lib/store";

/** Values in results, at the instant that is shown. */
export function Watches({ state }: { state: RunState | null }) {
  const watches = useDebug((s) => s.watches);
  const set = useDebug((s) => s.set);
  const select = useWindow((s) => s.set);
  const [text, setText] = useState("");
  const add = () => {
    const watch = readWatch(text);
    if (!watch) return;
    set({ watches: [...watches, watch] });
    setText("");
  };
  return (
    <section className="debug-part" aria-label="Watched values">
      <h3>Watch</h3>
      <div className="debug-add">
        <input
          className="mono"
          data-testid="watch-input"
          aria-label="New watched value"
          placeholder="step-1 /items/0/id"
          value={text}
          onChange={(e) => setText(e.target.value)}
          onKeyDown={(e) => {
            if (e.key !== "Enter") return;
            e.preventDefault();
            add();
          }}
        />
        <button type="button" className="icon-button" aria-label="Watch the value" title="Add (Enter)" onClick={add}>
          <Plus size={14} />
        </button>
      </div>
      <ul className="debug-list">
        {watches.map((watch, i) => {
          const step = state?.steps[watch.step];
          const value = at(step?.result?.data, watch.path);
          return (
            <li key={`${watch.step} ${watch.path}`} data-testid={`watch-${watch.step}`}>
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
              <button
                type="button"
                className="icon-button"
                aria-label="Watch no longer"
                onClick={() => set({ watches: watches.filter((_, k) => k !== i) })}
              >
                <X size={13} />
              </button>
            </li>
          );
        })}
      </ul>
      {watches.length === 0 && <p className="muted">A step and a path into its result; it follows the scrubber.</p>}
    </section>
  );
}
