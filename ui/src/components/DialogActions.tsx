import type { ReactNode } from "react";

interface DialogActionsProps {
  /** What the dialog does, in a word or two. */
  action: string;
  testId?: string;
  disabled?: boolean;
  /** Why it is disabled, where that is not to be seen. */
  title?: string;
  cancel?: string;
  onAction: () => void;
  onCancel: () => void;
  /** What else stands in the line, on its left. */
  children?: ReactNode;
}

/** The last line of a dialog: leave it, or do it. */
export function DialogActions(props: DialogActionsProps) {
  return (
    <div className="modal-actions">
      {props.children}
      <span className="grow" />
      <button type="button" className="button" onClick={props.onCancel}>
        {props.cancel ?? "Cancel"}
      </button>
      <button
        type="button"
        className="button primary"
        data-testid={props.testId}
        disabled={props.disabled}
        title={props.title}
        onClick={props.onAction}
      >
        {props.action}
      </button>
    </div>
  );
}
