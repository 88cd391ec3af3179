/** What can be done with a run that is open: play it again, change one thing, compare, take it along, keep or remove it. */
import { Download, GitFork, ListRestart, Pin, PinOff, Repeat, Trash2 } from "lucide-react";
import { useEffect, useState } from "react";
import { IconButton } from "../../components/IconButton";
import { CALLED_OFF, client, Problem, type GraphView, type RunState, type RunSummary } from "../../ipc/client";
import { count } from "../../lib/format";
import { queryClient } from "../../lib/queries";
import { useRunning } from "../../lib/running";
import { useWindow, type RunDialog } from "../../lib/store";
import { ForkDialog } from "./ForkDialog";
import { ReplanDialog } from "./ReplanDialog";
import { ReplayDialog } from "./ReplayDialog";
import "./past.css";

interface RunActionsProps {
  summary: RunSummary;
  graph: GraphView;
  state: RunState;
  cursor: number | null;
}

export function RunActions({ summary, graph, state, cursor }: RunActionsProps) {
  const open = useWindow((s) => s.runDialog);
  const [exported, setExported] = useState<string | null>(null);
  const attempt = useRunning((s) => s.attempt);
  const step = useWindow((s) => s.step);
  const set = useWindow((s) => s.set);
  const { id, pinned } = summary;
  const over = summary.outcome !== null;
  const setOpen = (runDialog: RunDialog | null) => set({ runDialog });

  // A dialog is about one run.
  useEffect(() => () => useWindow.getState().set({ runDialog: null }), [id]);

  const refresh = () => queryClient.invalidateQueries({ queryKey: ["runs"] });
  const exportRun = () =>
    attempt(async () => {
      try {
        const { path, events } = await client.exportRun(id, null, []);
        setExported(`${count(events)} events written to ${path}`);
      } catch (thrown) {
        if (Problem.from(thrown).code !== CALLED_OFF) throw thrown;
        setExported("Called off; no file was written");
      }
    });
  const pin = () =>
    attempt(async () => {
      await client.pinRun(id, !pinned);
      await Promise.all([refresh(), queryClient.invalidateQueries({ queryKey: ["run", id] })]);
    });
  const remove = () =>
    attempt(async () => {
      await client.deleteRun(id);
      set({ openRun: null, cursor: null });
      await refresh();
    });
  const button = (label: string, testId: string, icon: typeof Pin, onClick: () => void, disabled = false) => (
    <IconButton {...{ label, testId, icon, onClick, disabled }} />
  );

  return (
    <div className="run-actions" role="group" aria-label={`Run ${id}`}>
      {button("Replay from the record…", "run-replay", Repeat, () => setOpen("replay"), !over)}
      {button("Fork with one change…", "run-fork", GitFork, () => setOpen("fork"))}
      {button("Plan its query again…", "run-replan", ListRestart, () => setOpen("replan"))}
      {button("Export to a file", "run-export", Download, () => void exportRun())}
      {button(pinned ? "Do not keep for ever" : "Keep for ever", "run-pin", pinned ? PinOff : Pin, () => void pin())}
      {open === "delete" ? (
        <button
          type="button"
          className="button small"
          data-testid="run-delete-sure"
          onClick={() => void remove()}
          onBlur={() => setOpen(null)}
          autoFocus
        >
          Delete run {id}
        </button>
      ) : (
        button("Delete…", "run-delete", Trash2, () => setOpen("delete"), !over)
      )}
      {exported !== null && (
        <button
          type="button"
          className="badge"
          data-run-outcome="succeeded"
          title={`${exported}; a click dismisses it`}
          onClick={() => setExported(null)}
          data-testid="exported"
        >
          {exported}
        </button>
      )}
      {open === "replay" && <ReplayDialog run={id} graph={graph} onClose={() => setOpen(null)} />}
      {open === "replan" && <ReplanDialog run={id} onClose={() => setOpen(null)} />}
      {open === "fork" && (
        <ForkDialog run={id} graph={graph} state={state} cursor={cursor} step={step} onClose={() => setOpen(null)} />
      )}
    </div>
  );
}
