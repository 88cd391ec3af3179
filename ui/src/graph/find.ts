/** Which steps a search text and the chosen statuses leave. Shared by the graph, which dims the rest, and its table. */
import { create } from "zustand";
import type { GraphView, StepSpec, StepStatus } from "../ipc/client";
import type { StepLook } from "../lib/steps";

export interface Finding {
  /** The field is shown even with nothing in it. */
  open: boolean;
  text: string;
  statuses: ReadonlySet<StepStatus>;
  set: (change: Partial<Omit<Finding, "set">>) => void;
}

export const useFinding = create<Finding>()((set) => ({ open: false, text: "", statuses: new Set(), set }));

/** What a step can be found by: its id, tool and all of its arguments. */
export function searchTexts(graph: GraphView, specs: readonly StepSpec[]): Map<string, string> {
  const args = new Map(specs.map((s) => [s.id, JSON.stringify(s.arguments)]));
  return new Map(
    graph.steps.map((s) => [s.id, `${s.id} ${s.tool} ${s.key_argument} ${args.get(s.id) ?? ""}`.toLowerCase()]),
  );
}

/** Ids in reading order, or null when nothing is asked for. */
export function found(
  graph: GraphView,
  texts: ReadonlyMap<string, string>,
  looks: Record<string, StepLook>,
  text: string,
  statuses: ReadonlySet<StepStatus>,
): string[] | null {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0 && statuses.size === 0) return null;
  return graph.stages
    .flatMap((stage) => stage.steps)
    .filter((id) => {
      const status = looks[id]?.status ?? "pending";
      return (statuses.size === 0 || statuses.has(status)) && words.every((w) => texts.get(id)?.includes(w));
    });
}

/** The match after or before the chosen step; around the ends it goes on at the other. */
export function nextMatch(matches: readonly string[], chosen: string | null, by: 1 | -1): string | null {
  if (matches.length === 0) return null;
  const at = chosen === null ? -1 : matches.indexOf(chosen);
  if (at < 0) return matches[by === 1 ? 0 : matches.length - 1]!;
  return matches[(at + by + matches.length) % matches.length]!;
}
