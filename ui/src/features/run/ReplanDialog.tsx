/** The query of a past run, planned again as of today: which tools end elsewhere now, and what becomes of the steps. */
import { useQuery } from "@tanstack/react-query";
import { Equal, Split } from "lucide-react";
import { DialogActions } from "../../components/DialogActions";
import { Modal } from "../../components/Modal";
import { ProblemNote } from "../../components/ProblemNote";
import { Problem, type PlanDiff } from "../../ipc/client";
import { counted } from "../../lib/format";
import { usePlanning } from "../../lib/planning";
import { replanQuery } from "../../lib/queries";
import { useWindow } from "../../lib/store";
import { PlanRows } from "./Compare";
import "./past.css";

export function ReplanDialog({ run, onClose }: { run: number; onClose: () => void }) {
  const { data, error } = useQuery(replanQuery(run));
  const open = () => {
    usePlanning.getState().show(data!.view);
    useWindow.getState().set({ view: "plan" });
    onClose();
  };
  return (
    <Modal title={`Plan the query of run ${run} again`} testId="replan-dialog" wide onClose={onClose}>
      <p className="muted">
        With the catalog and the settings of now, and the model&apos;s text as it was recorded. Nothing runs.
      </p>
      {error && <ProblemNote problem={Problem.from(error)} />}
      {data && <Outcome diff={data.diff} run={run} />}
      <DialogActions
        action="Open this plan"
        testId="replan-open"
        disabled={!data}
        cancel="Close"
        onCancel={onClose}
        onAction={open}
      />
    </Modal>
  );
}

function Outcome({ diff, run }: { diff: PlanDiff; run: number }) {
  const flips = diff.verdicts.filter((v) => v.a?.gate !== v.b?.gate || v.a?.outcome !== v.b?.outcome);
  const same = diff.steps.length === 0 && diff.verdicts.length === 0;
  return (
    <div className="replan">
      <div className="compare-verdict" data-same={same || undefined} data-testid="replan-verdict">
        {same ? <Equal size={14} aria-hidden /> : <Split size={14} aria-hidden />}
        {same ? (
          <span>The same plan, for the same reasons.</span>
        ) : (
          <span className="replan-flips">
            {counted(diff.steps.length, "step")} and {counted(diff.verdicts.length, "verdict")} differ
            {flips.length > 0 && ": "}
            {flips.slice(0, 6).map((v) => (
              <code key={v.tool}>{v.tool}</code>
            ))}
            {flips.length > 6 && ` and ${flips.length - 6} more`}
          </span>
        )}
      </div>
      <table className="compare-table">
        <thead>
          <tr>
            <th>What</th>
            <th>Run {run}</th>
            <th>Now</th>
          </tr>
        </thead>
        <tbody>
          <PlanRows plan={diff} steps />
        </tbody>
      </table>
    </div>
  );
}
