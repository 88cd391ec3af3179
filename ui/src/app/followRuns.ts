import { client } from "../ipc/client";
import { queryClient, runAdvanced } from "../lib/queries";

/** How often the journal of a run in progress is read again for the event log and the list. */
const LOG_MS = 400;

/** Puts the progress that Rust tells of where the panels read it. */
export function followRuns(): Promise<() => void> {
  const reading = new Set<number>();
  const readLog = (run: number) => {
    if (reading.has(run)) return;
    reading.add(run);
    setTimeout(() => {
      reading.delete(run);
      void queryClient.invalidateQueries({ queryKey: ["run", run] });
      void queryClient.invalidateQueries({ queryKey: ["runs"] });
    }, LOG_MS);
  };

  return client.onRunAdvanced(({ run, state }) => {
    runAdvanced({ run, state });
    readLog(run);
    if (state.outcome !== null) {
      // Durations and failure rates of the tools have changed.
      void queryClient.invalidateQueries({ queryKey: ["tool"] });
    }
  });
}
