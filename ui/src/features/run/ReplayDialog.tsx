/** Before a replay: who answers the calls of each tool. Nothing is live unless it is chosen here. */
import { useState } from "react";
import { DialogActions } from "../../components/DialogActions";
import { Modal } from "../../components/Modal";
import { ProblemNote } from "../../components/ProblemNote";
import { ValueField } from "../../components/ValueField";
import { client, Problem, type AnswerSource, type GraphView } from "../../ipc/client";
import { queryClient } from "../../lib/queries";
import { useWindow } from "../../lib/store";
import "./past.css";

const SPEEDS = [
  { label: "at once", speed: null },
  { label: "as it was", speed: 1 },
  { label: "2×", speed: 2 },
  { label: "10×", speed: 10 },
];

export type Sources = Record<string, AnswerSource | undefined>;

export function ReplayDialog({ run, graph, onClose }: { run: number; graph: GraphView; onClose: () => void }) {
  const [sources, setSources] = useState<Sources>({});
  const [speed, setSpeed] = useState<number | null>(null);
  const [valid, setValid] = useState(true);
  const [problem, setProblem] = useState<Problem | null>(null);
  const set = useWindow((s) => s.set);

  const start = async () => {
    try {
      const made = await client.replayRun(run, { tools: policyOf(sources) }, speed);
      await queryClient.invalidateQueries({ queryKey: ["runs"] });
      set({ openRun: made, cursor: null });
      onClose();
    } catch (thrown) {
      setProblem(Problem.from(thrown));
    }
  };
  const live = Object.values(sources).filter((s) => s?.kind === "live").length;

  return (
    <Modal title={`Replay run ${run}`} testId="replay-dialog" wide onClose={onClose}>
      <p className="muted">
        The recorded planning runs again. Each call is answered from the record of run {run}, unless another source is
        chosen for its tool; a call that the record does not hold fails the replay.
      </p>
      {problem && <ProblemNote problem={problem} onDismiss={() => setProblem(null)} />}
      <PolicyTable graph={graph} sources={sources} onChange={setSources} onValid={setValid} />
      <DialogActions
        action="Replay"
        testId="replay-start"
        disabled={!valid}
        onCancel={onClose}
        onAction={() => void start()}
      >
        <label className="choice">
          <span>Speed</span>
          <select
            value={String(speed)}
            onChange={(e) => setSpeed(e.target.value === "null" ? null : Number(e.target.value))}
          >
            {SPEEDS.map((s) => (
              <option key={s.label} value={String(s.speed)}>
                {s.label}
              </option>
            ))}
          </select>
        </label>
        <span className="muted">{live > 0 && `${live} ${live === 1 ? "tool is" : "tools are"} called for real`}</span>
      </DialogActions>
    </Modal>
  );
}

export function policyOf(sources: Sources): Record<string, AnswerSource> {
  return Object.fromEntries(Object.entries(sources).flatMap(([tool, s]) => (s ? [[tool, s] as const] : [])));
}

interface PolicyTableProps {
  graph: GraphView;
  /** Of a fork: what the record does not hold, SAFE tools answer themselves. */
  fork?: boolean;
  sources: Sources;
  onChange: (sources: Sources) => void;
  onValid: (valid: boolean) => void;
}

export function PolicyTable({ graph, fork = false, sources, onChange, onValid }: PolicyTableProps) {
  const tools = new Map<string, { calls: number; destructive: boolean }>();
  for (const { tool, classification } of graph.steps) {
    const known = tools.get(tool) ?? { calls: 0, destructive: classification !== "SAFE" };
    tools.set(tool, { ...known, calls: known.calls + 1 });
  }
  return (
    <ul className="policy" aria-label="Who answers">
      {[...tools].map(([tool, { calls, destructive }]) => {
        const usual = fork && !destructive ? "recorded_or_live" : "recorded";
        const source = sources[tool]?.kind ?? usual;
        return (
          <li key={tool} data-testid={`policy-${tool}`} data-live={source === "live" || undefined}>
            <code className="truncate grow">{tool}</code>
            <span className="muted">{calls === 1 ? "1 step" : `${calls} steps`}</span>
            <select
              data-testid={`policy-source-${tool}`}
              aria-label={`Who answers ${tool}`}
              value={source}
              onChange={(e) => {
                const kind = e.target.value as AnswerSource["kind"];
                onValid(true);
                onChange({
                  ...sources,
                  [tool]: kind === usual ? undefined : kind === "static" ? { kind, value: {} } : { kind },
                });
              }}
            >
              {fork && <option value="recorded_or_live">The record, else the tool</option>}
              <option value="recorded">The record{fork ? " alone" : ""}</option>
              <option value="static">A fixed value</option>
              <option value="live">The tool itself</option>
            </select>
            {(source === "live" || source === "recorded_or_live") && destructive && (
              <span className="field-error policy-warning">Not SAFE: it changes something each time it is called</span>
            )}
            {source === "static" && (
              <div className="policy-value">
                <ValueField
                  label="Its answer"
                  value={{}}
                  rows={3}
                  onChange={(value) => {
                    onValid(value !== undefined);
                    if (value !== undefined) onChange({ ...sources, [tool]: { kind: "static", value } });
                  }}
                />
              </div>
            )}
          </li>
        );
      })}
    </ul>
  );
}
