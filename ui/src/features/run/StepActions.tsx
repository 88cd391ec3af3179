/** What a person can do to one step of a run that is under way: break, go there, change it, leave it out, try again. */
import { useEffect, useState } from "react";
import { JsonEditor } from "../../components/JsonEditor";
import { ValueField } from "../../components/ValueField";
import { client, type RunState, type StepSpec, type Value } from "../../ipc/client";
import { useDebug, breakpointOn } from "../../lib/debug";
import { stepBlocked, useRunning, type StepAction } from "../../lib/running";
import { useWindow } from "../../lib/store";
import "./debug.css";

interface StepActionsProps {
  spec: StepSpec;
  run: number | null;
  state: RunState | null;
}

export function StepActions({ spec, run, state }: StepActionsProps) {
  const { toggleBreakpoint, runTo, attempt } = useRunning();
  const broken = useDebug((s) => breakpointOn(s.breakpoints, spec.id) !== undefined);
  const editing = useWindow((s) => s.editing);
  const set = useWindow((s) => s.set);
  const setEditing = (editing: "arguments" | "result" | null) => set({ editing });
  useEffect(() => () => useWindow.getState().set({ editing: null }), []);
  const step = state?.steps[spec.id];
  const target = run !== null && state !== null ? { run, state } : null;
  const act = (what: () => Promise<unknown>) => {
    setEditing(null);
    void attempt(what);
  };
  const button = (label: string, testId: string, act: () => void, title: string) => (
    <button type="button" className="button small" data-testid={testId} title={title} onClick={act}>
      {label}
    </button>
  );
  /** What cannot be done now is not offered; the palette says why. */
  const offered = (action: StepAction, ...rest: Parameters<typeof button>) =>
    stepBlocked(action, target, spec.id) === null && button(...rest);

  return (
    <>
      <div className="step-actions" role="group" aria-label="Debug this step">
        {button(broken ? "Remove breakpoint" : "Break here", "step-break", () => void toggleBreakpoint(spec.id), "F9")}
        {offered(
          "run_to",
          "Run to here",
          "step-run-to",
          () => void runTo(spec.id),
          "Until this step is next (Ctrl+F10)",
        )}
        {offered(
          "edit_arguments",
          "Edit arguments",
          "step-edit-arguments",
          () => setEditing("arguments"),
          "For its next call; the guard checks them (F2)",
        )}
        {offered(
          "edit_result",
          "Set result",
          "step-edit-result",
          () => setEditing("result"),
          "In place of a call, or of what it gave (Shift+F2)",
        )}
        {offered(
          "skip",
          "Skip",
          "step-skip-button",
          () => act(() => client.skipStep(run!, spec.id)),
          "It does not run, nor does what needs it (Shift+F11)",
        )}
        {offered(
          "cancel",
          "Cancel the call",
          "step-cancel",
          () => act(() => client.cancelStep(run!, spec.id)),
          "The step ends as cancelled",
        )}
        {offered(
          "retry",
          "Try again",
          "step-retry",
          () => act(() => client.retryStep(run!, spec.id)),
          "With what was skipped because of it (Shift+F9)",
        )}
      </div>
      {editing === "arguments" && run !== null && stepBlocked("edit_arguments", target, spec.id) === null && (
        <EditArguments
          initial={step?.edited_arguments ?? spec.arguments}
          name={`run-${run}-${spec.id}`}
          onCancel={() => setEditing(null)}
          onSave={(args) => act(() => client.editArguments(run, spec.id, args))}
        />
      )}
      {editing === "result" && run !== null && stepBlocked("edit_result", target, spec.id) === null && (
        <EditResult
          initial={step?.result?.data ?? null}
          onCancel={() => setEditing(null)}
          onSave={(value) => act(() => client.editResult(run, spec.id, value))}
        />
      )}
    </>
  );
}

type Arguments = StepSpec["arguments"];

function EditArguments(props: {
  initial: Arguments;
  name: string;
  onSave: (args: Arguments) => void;
  onCancel: () => void;
}) {
  const [value, setValue] = useState(props.initial);
  return (
    <div className="step-edit">
      <JsonEditor
        name={props.name}
        label="Arguments of the next call"
        value={value}
        onChange={(v) => setValue(v as Arguments)}
        testId="edit-arguments"
      />
      <SaveOrNot disabled={false} onSave={() => props.onSave(value)} onCancel={props.onCancel} />
    </div>
  );
}

function EditResult(props: { initial: Value; onSave: (value: Value) => void; onCancel: () => void }) {
  const [value, setValue] = useState<Value | undefined>(props.initial);
  return (
    <div className="step-edit">
      <ValueField label="Result" value={props.initial} testId="edit-result" onChange={setValue} />
      <SaveOrNot disabled={value === undefined} onSave={() => props.onSave(value!)} onCancel={props.onCancel} />
    </div>
  );
}

function SaveOrNot({ disabled, onSave, onCancel }: { disabled: boolean; onSave: () => void; onCancel: () => void }) {
  return (
    <div className="step-actions">
      <button
        type="button"
        className="button small primary"
        data-testid="edit-save"
        disabled={disabled}
        onClick={onSave}
      >
        Use it
      </button>
      <button type="button" className="button small" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
}
