/** Before a fork: the one thing that shall be different, and from which event on. */
import { useState } from "react";
import { JsonEditor } from "../../components/JsonEditor";
import { DialogActions } from "../../components/DialogActions";
import { Modal } from "../../components/Modal";
import { ProblemNote } from "../../components/ProblemNote";
import { ValueField } from "../../components/ValueField";
import { client, Problem, type ForkChange, type GraphView, type RunState, type Value } from "../../ipc/client";
import { queryClient } from "../../lib/queries";
import { useWindow } from "../../lib/store";
import { ForkForesight } from "./ForkForesight";
import { PolicyTable, policyOf, type Sources } from "./ReplayDialog";
import "./past.css";

interface ForkDialogProps {
  run: number;
  graph: GraphView;
  /** At the instant that is shown. */
  state: RunState;
  /** The event that is shown; null means the last. */
  cursor: number | null;
  step: string | null;
  onClose: () => void;
}

type Kind = "arguments" | "result" | "skip";
type Arguments = Record<string, Value>;

export function ForkDialog({ run, graph, state, cursor, step: chosen, onClose }: ForkDialogProps) {
  const ids = state.plan.steps.map((s) => s.id);
  const [step, setStep] = useState(chosen !== null && ids.includes(chosen) ? chosen : (ids[0] ?? ""));
  const [kind, setKind] = useState<Kind>("arguments");
  const [here, setHere] = useState(false);
  const [sources, setSources] = useState<Sources>({});
  const [valid, setValid] = useState(true);
  const [problem, setProblem] = useState<Problem | null>(null);
  const set = useWindow((s) => s.set);

  const spec = state.plan.steps.find((s) => s.id === step);
  const was = state.steps[step];
  const before: Arguments = was?.attempts.at(-1)?.arguments ?? spec?.arguments ?? {};
  const [args, setArgs] = useState<Record<string, Arguments>>({});
  const [results, setResults] = useState<Record<string, Value | undefined>>({});
  const result = step in results ? results[step] : (was?.result?.data ?? null);

  const change: ForkChange =
    kind === "arguments"
      ? { kind, step, arguments: args[step] ?? before }
      : kind === "result"
        ? { kind, step, value: result ?? null }
        : { kind, step };
  const fork = { change, at: here ? cursor : null };
  const policy = { tools: policyOf(sources) };
  const complete = valid && step !== "" && (kind !== "result" || result !== undefined);

  const start = async () => {
    try {
      const made = await client.forkRun(run, fork, policy, null);
      await queryClient.invalidateQueries({ queryKey: ["runs"] });
      set({ openRun: made, cursor: null, runTab: "compare", compareWith: run });
      onClose();
    } catch (thrown) {
      setProblem(Problem.from(thrown));
    }
  };

  return (
    <Modal title={`Fork run ${run}`} testId="fork-dialog" wide onClose={onClose}>
      {problem && <ProblemNote problem={problem} onDismiss={() => setProblem(null)} />}
      <div className="fork-line">
        <select
          aria-label="What is different"
          data-testid="fork-kind"
          value={kind}
          onChange={(e) => setKind(e.target.value as Kind)}
        >
          <option value="arguments">Other arguments for</option>
          <option value="result">Another result of</option>
          <option value="skip">Leave out</option>
        </select>
        <select
          className="mono grow"
          aria-label="Step"
          data-testid="fork-step"
          value={step}
          onChange={(e) => setStep(e.target.value)}
        >
          {state.plan.steps.map((s) => (
            <option key={s.id} value={s.id}>
              {s.id} · {s.tool}
            </option>
          ))}
        </select>
      </div>
      {kind === "arguments" && (
        <JsonEditor
          key={step}
          name={`fork-${run}-${step}`}
          label="Arguments"
          value={args[step] ?? before}
          onChange={(v) => setArgs({ ...args, [step]: v as Arguments })}
          testId="fork-arguments"
        />
      )}
      {kind === "result" && (
        <ValueField
          key={step}
          label="Result"
          value={was?.result?.data ?? null}
          testId="fork-result"
          onChange={(v) => setResults({ ...results, [step]: v })}
        />
      )}
      <div className="fork-line">
        <label className="check">
          <input type="radio" checked={!here} onChange={() => setHere(false)} /> As late as the change can have an
          effect
        </label>
        <label className="check">
          <input type="radio" checked={here} disabled={cursor === null} onChange={() => setHere(true)} />
          {cursor === null ? "At the shown event (go to one first)" : `At event ${cursor}`}
        </label>
      </div>
      <details>
        <summary className="muted" data-testid="fork-policy">
          Who answers the calls after it
        </summary>
        <PolicyTable graph={graph} fork sources={sources} onChange={setSources} onValid={setValid} />
      </details>
      {complete && <ForkForesight run={run} fork={fork} policy={policy} />}
      <DialogActions
        action="Fork"
        testId="fork-start"
        disabled={!complete}
        onCancel={onClose}
        onAction={() => void start()}
      />
    </Modal>
  );
}
