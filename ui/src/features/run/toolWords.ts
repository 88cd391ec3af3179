import type { ToolAt } from "../../ipc/client";
import { STATUS } from "../../lib/words";

/** What a tool is to a run by one instant: `Running step-2`, `Planned`, `Found`, `Not used`. */
export function usedWords({ status, steps, step, found, activated }: ToolAt): string {
  const more = [activated && "activated", !activated && found && "found"].filter((word) => word !== false);
  if (status === null) return more.length > 0 ? capital(more.join(", ")) : "Not used";
  const word = status === "pending" || status === "ready" ? "Planned" : STATUS[status];
  return [`${word} ${steps > 1 ? `${steps} steps` : step}`, ...more].join(", ");
}

const capital = (text: string) => text[0]!.toUpperCase() + text.slice(1);
