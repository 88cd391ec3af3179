/**
 * A tool wherever it is named: a click opens it in the inspector, the mark beside it tells why it is hidden or shown.
 * Rows that are themselves chosen by a click take the name without the link.
 */
import { CircleHelp } from "lucide-react";
import type { MouseEvent } from "react";
import { useWindow } from "../lib/store";
import "./tool-name.css";

interface ToolNameProps {
  name: string;
  /** The row around it opens the tool. */
  plain?: boolean;
  /** What is hidden from the model is dimmed. */
  dimmed?: boolean;
  testId?: string;
  /** In the place of the inspector's tool alone. */
  onOpen?: (name: string) => void;
}

export function askWhy(tool: string, at: DOMRect) {
  const { x, y, width, height } = at;
  useWindow.getState().set({ why: { tool, at: { x, y, width, height } } });
}

/** For the key: beside the name if it is on screen, else in the middle. */
export function askWhySelected(tool: string) {
  const name = document.querySelector(`[data-tool-name="${CSS.escape(tool)}"]`);
  askWhy(tool, name?.getBoundingClientRect() ?? new DOMRect(innerWidth / 2, innerHeight / 4, 0, 0));
}

export function ToolName({ name, plain, dimmed, testId, onOpen }: ToolNameProps) {
  const open = (event: MouseEvent<HTMLElement>) => {
    if (event.altKey) return why(event);
    if (plain) return;
    event.stopPropagation();
    if (onOpen) onOpen(name);
    else useWindow.getState().set({ tool: name, step: null });
  };
  const why = (event: MouseEvent<HTMLElement>) => {
    event.stopPropagation();
    askWhy(name, event.currentTarget.getBoundingClientRect());
  };
  return (
    <span className="tool-name" data-tool-name={name} data-dimmed={dimmed || undefined} data-testid={testId}>
      {plain ? (
        <code className="truncate" title={name} onClick={open}>
          {name}
        </code>
      ) : (
        <button type="button" className="link mono truncate" title={name} onClick={open}>
          {name}
        </button>
      )}
      <button
        type="button"
        className="why-button"
        aria-label={`Why is ${name} hidden or shown?`}
        title="Why hidden or shown? (w)"
        onClick={why}
      >
        <CircleHelp size={13} aria-hidden />
      </button>
    </span>
  );
}
