/** What the workspace takes on the disk, and what of it can go. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ProblemNote } from "../../components/ProblemNote";
import { client, Problem } from "../../ipc/client";
import { bytes, count, counted, moment } from "../../lib/format";
import { queryClient, storageQuery } from "../../lib/queries";

export function StorageMeter() {
  const { data, error } = useQuery(storageQuery);
  const [pruned, setPruned] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  if (error) return <ProblemNote problem={Problem.from(error)} />;
  if (!data) return null;
  const prune = async () => {
    try {
      const gone = await client.pruneRuns();
      setPruned(`${counted(gone.runs, "run")} removed, ${bytes(gone.bytes)} free`);
      await Promise.all(["storage", "runs"].map((key) => queryClient.invalidateQueries({ queryKey: [key] })));
    } catch (thrown) {
      setProblem(Problem.from(thrown));
    }
  };
  const kinds = [...data.kinds].sort((a, b) => b.bytes - a.bytes);
  const most = Math.max(1, ...kinds.map((k) => k.bytes));
  return (
    <div className="storage" data-testid="storage">
      <p>
        <strong>{bytes(data.file_bytes)}</strong> on the disk
        {data.free_bytes > 0 && (
          <span className="muted">, {bytes(data.free_bytes)} of it free for what comes</span>
        )} · {counted(data.runs, "run")}
        {data.pinned > 0 && `, ${data.pinned} kept for ever`}
        {data.oldest_ms !== null && <span className="muted"> · the oldest of {moment(data.oldest_ms)}</span>}
      </p>
      <ul>
        {kinds.map((kind) => (
          <li key={kind.kind}>
            <span>{kind.kind}</span>
            <span className="storage-bar" aria-hidden>
              <span style={{ width: `${(100 * kind.bytes) / most}%` }} />
            </span>
            <span className="numeric">{bytes(kind.bytes)}</span>
            <span className="numeric muted">{count(kind.rows)} rows</span>
          </li>
        ))}
      </ul>
      <div className="storage-actions">
        <button type="button" className="button" data-testid="prune" onClick={() => void prune()}>
          Remove what is not kept
        </button>
        {pruned && <span className="muted">{pruned}</span>}
      </div>
      {problem && <ProblemNote problem={problem} onDismiss={() => setProblem(null)} />}
    </div>
  );
}
