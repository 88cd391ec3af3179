import { X } from "lucide-react";
import { useToasts } from "../lib/toasts";
import "./toasts.css";

export function Toasts() {
  const { toasts, dismiss } = useToasts();
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text, problem, action }) => (
        <div key={id} className="toast" data-problem={problem || undefined} data-testid="toast">
          <span>{text}</span>
          {action && (
            <button
              type="button"
              className="link"
              onClick={() => {
                dismiss(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" className="icon-button" aria-label="Dismiss" onClick={() => dismiss(id)}>
            <X size={13} />
          </button>
        </div>
      ))}
    </div>
  );
}
