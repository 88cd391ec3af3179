import { useState } from "react";
import { client, Problem, type Breakpoint, type GraphView } from "../../ipc/client";
import { breakpointWords, setBreakpoints, useDebug, withBreakpoint } from "../../lib/debug";
import { runUnderWay, useRunning } from "../../lib/running";
import { useWindow } from "../../lib/store";
import { DebugAdd, DebugRow } from "./DebugRow";

/** Kinds of breakpoints to begin with; the text is finished by hand. */
const STARTS = [
  { text: "error", says: "any failed attempt" },
  { text: "guard", says: "a drop by the guard" },
  { text: "tool:", says: "before a call of a tool" },
  { text: "step:", says: "before a step; step:ID:after stops behind it" },
  { text: "duration>2000", says: "an attempt longer than so many ms" },
  { text: "cost>0.5", says: "the run has cost more than so many dollars" },
  { text: "result /items/0 exists", says: "a value in a result" },
  { text: 'arguments /query contains "x"', says: "a value in the arguments" },
];

export function Breakpoints({ graph }: { graph: GraphView }) {
  const breakpoints = useDebug((s) => s.breakpoints);
  const attempt = useRunning((s) => s.attempt);
  const set = useWindow((s) => s.set);
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);

  const keep = (next: Breakpoint[]) => void attempt(() => setBreakpoints(next, runUnderWay()));
  const add = async () => {
    if (text.trim() === "") return;
    try {
      keep(withBreakpoint(breakpoints, await client.parseBreakpoint(text)));
      setText("");
      setProblem(null);
    } catch (thrown) {
      setProblem(Problem.from(thrown));
    }
  };
  const tools = [...new Set(graph.steps.map((s) => s.tool))];
  return (
    <section className="debug-part" aria-label="Breakpoints">
      <h3>Breakpoints</h3>
      <DebugAdd
        testId="breakpoint-input"
        label="New breakpoint"
        placeholder="error, tool:web_fetch, duration>2000"
        value={text}
        invalid={problem !== null}
        list="breakpoint-starts"
        addLabel="Add the breakpoint"
        onChange={setText}
        onAdd={() => void add()}
      >
        <datalist id="breakpoint-starts">
          {STARTS.map((s) => (
            <option key={s.text} value={s.text}>
              {s.says}
            </option>
          ))}
          {tools.map((tool) => (
            <option key={tool} value={`tool:${tool}`} />
          ))}
        </datalist>
      </DebugAdd>
      {problem && (
        <p className="field-error" role="alert">
          {problem.message}; {problem.hint}
        </p>
      )}
      <ul className="debug-list">
        {breakpoints.map((b) => (
          <DebugRow
            key={b.id}
            testId={`breakpoint-${b.id}`}
            on={b.enabled}
            label={`Breakpoint ${breakpointWords(b.on)}`}
            removeLabel="Remove the breakpoint"
            onSwitch={(enabled) => keep(breakpoints.map((o) => (o === b ? { ...b, enabled } : o)))}
            onRemove={() => keep(breakpoints.filter((o) => o !== b))}
          >
            <button
              type="button"
              className="truncate grow plain-button"
              title={breakpointWords(b.on)}
              onClick={() => b.on.kind === "step" && set({ step: b.on.step, tool: null })}
            >
              {breakpointWords(b.on)}
            </button>
          </DebugRow>
        ))}
      </ul>
      {breakpoints.length === 0 && <p className="muted">F9 breaks before the chosen step.</p>}
    </section>
  );
}
