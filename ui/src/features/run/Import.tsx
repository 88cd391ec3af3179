/** Runs from files: dropped anywhere on the window, or named by their path. */
import { Upload } from "lucide-react";
import { useEffect, useState } from "react";
import { DialogActions } from "../../components/DialogActions";
import { Modal } from "../../components/Modal";
import { WorkProgress } from "../../components/WorkProgress";
import { CALLED_OFF, client, Problem, type Imported } from "../../ipc/client";
import { count } from "../../lib/format";
import { queryClient } from "../../lib/queries";
import { useWindow } from "../../lib/store";
import "./past.css";

async function takeIn(paths: string[]): Promise<Imported[]> {
  const taken = await client.importRuns(paths);
  await queryClient.invalidateQueries({ queryKey: ["runs"] });
  const first = taken.find((t) => t.run !== null);
  if (first) useWindow.getState().set({ view: "runs", openRun: first.run, cursor: null });
  return taken;
}

/** Shows where to drop, and what became of what was dropped. */
export function DropImport() {
  const [over, setOver] = useState(false);
  const [taken, setTaken] = useState<Imported[] | Problem | null>(null);
  useEffect(() => {
    const listening = client.onFilesDropped((event) => {
      setOver(event.kind === "over");
      if (event.kind === "drop" && event.paths.length > 0)
        takeIn(event.paths).then(setTaken, (thrown) => setTaken(Problem.from(thrown)));
    });
    return () => void listening.then((stop) => stop());
  }, []);
  return (
    <>
      {over && <div className="drop-note">Drop exported runs to take them in</div>}
      {taken && (
        <Modal title="Imported" testId="imported" onClose={() => setTaken(null)}>
          <Results taken={taken} />
        </Modal>
      )}
    </>
  );
}

export function ImportButton() {
  const [open, setOpen] = useState(false);
  const [path, setPath] = useState("");
  const [busy, setBusy] = useState(false);
  const [taken, setTaken] = useState<Imported[] | Problem | null>(null);
  const ready = path.trim() !== "" && !busy;
  const start = async () => {
    if (!ready) return;
    setBusy(true);
    setTaken(null);
    try {
      setTaken(await takeIn([path.trim()]));
    } catch (thrown) {
      setTaken(Problem.from(thrown));
    }
    setBusy(false);
  };
  return (
    <>
      <button type="button" className="button small" data-testid="import-runs" onClick={() => setOpen(true)}>
        <Upload size={12} aria-hidden /> Import
      </button>
      {open && (
        <Modal title="Import a run" testId="import-dialog" onClose={() => setOpen(false)}>
          <p className="muted">Drop an exported run anywhere on the window, or name its file.</p>
          <input
            className="mono"
            aria-label="Path of the file"
            data-testid="import-path"
            placeholder="/home/you/run-12.jsonl"
            value={path}
            onChange={(e) => setPath(e.target.value)}
            onKeyDown={(e) => e.key === "Enter" && void start()}
          />
          <WorkProgress kinds={["import"]} />
          {taken && <Results taken={taken} />}
          <DialogActions
            action={busy ? "Importing…" : "Import"}
            testId="import-start"
            disabled={!ready}
            cancel="Close"
            onCancel={() => setOpen(false)}
            onAction={() => void start()}
          />
        </Modal>
      )}
    </>
  );
}

function Results({ taken }: { taken: Imported[] | Problem }) {
  if (taken instanceof Problem) return <p className="field-error">{`${taken.message}. ${taken.hint}`}</p>;
  return (
    <ul className="import-results">
      {taken.map((t) => (
        <li key={t.path}>
          <code>{t.path}</code>{" "}
          {t.run !== null && (
            <span className="muted">
              {t.already ? `is run ${t.run} already` : `is now run ${t.run}, with ${count(t.events)} events`}
            </span>
          )}
          {t.problem && (
            <span className={t.problem.code === CALLED_OFF ? "muted" : "field-error"}>
              {t.problem.message}. {t.problem.hint}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
