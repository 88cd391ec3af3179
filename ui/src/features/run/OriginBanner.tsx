import { GitFork, Repeat } from "lucide-react";
import type { RunState, RunSummary } from "../../ipc/client";
import { useWindow } from "../../lib/store";
import { Faithful } from "./RunTree";
import "./past.css";

/** What a replay or a fork rests on. A replay's banner stays from its first event to its last. */
export function OriginBanner({ summary, state }: { summary: RunSummary; state: RunState | null }) {
  const set = useWindow((s) => s.set);
  const { origin } = summary;
  if (!origin) return null;
  const live = Object.entries(state?.origin?.policy.tools ?? {}).filter(([, source]) => source.kind === "live");
  const from =
    origin.run === null ? (
      "a run of another workspace"
    ) : (
      <button type="button" className="link" onClick={() => set({ openRun: origin.run, cursor: null })}>
        run {origin.run}
      </button>
    );
  return (
    <div className="replay-banner" data-kind={origin.kind} data-testid="origin-banner">
      {origin.kind === "replay" ? <Repeat size={14} aria-hidden /> : <GitFork size={14} aria-hidden />}
      <span className="grow truncate">
        <strong>{origin.kind === "replay" ? "Replay" : "Fork"}</strong> of {from}
        {origin.kind === "replay" ? " · answered from the record" : ` at event ${origin.at}: ${origin.change}`}
        {live.length > 0 && ` · live: ${live.map(([tool]) => tool).join(", ")}`}
      </span>
      {summary.faithful !== null && <Faithful is={summary.faithful} />}
      {state?.divergence && <span className="muted truncate">{state.divergence.sentence}</span>}
      {origin.run !== null && (
        <button
          type="button"
          className="button small"
          onClick={() => set({ runTab: "compare", compareWith: origin.run })}
        >
          Compare
        </button>
      )}
    </div>
  );
}
