/** Changing the catalog: every change is a revision that can be taken back, and says so. */
import { client, Problem, type Selection, type ToolPatch } from "../ipc/client";
import { counted } from "./format";
import { catalogChanged } from "./planning";
import { useToasts } from "./toasts";

const { say, fail } = useToasts.getState();

/** Does it and brings every view up to date; what goes wrong is told in a toast. Returns null then. */
export async function change<T>(act: () => Promise<T>): Promise<T | null> {
  try {
    const done = await act();
    await catalogChanged();
    return done;
  } catch (thrown) {
    fail(Problem.from(thrown));
    return null;
  }
}

const UNDO = { label: "Undo", run: () => void undo() };
const REDO = { label: "Redo", run: () => void redo() };

export async function undo(): Promise<void> {
  const undone = await change(() => client.undo());
  if (undone) say(`Undone: ${undone.step.label}`, REDO);
}

export async function redo(): Promise<void> {
  const redone = await change(() => client.redo());
  if (redone) say(`Made again: ${redone.step.label}`, UNDO);
}

export async function bulkEdit(selection: Selection, patch: ToolPatch): Promise<void> {
  const done = await change(() => client.bulkEdit(selection, patch));
  if (!done) return;
  say(done.changed === 0 ? "Nothing to change: the tools are like this already" : `Changed ${done.label}`, UNDO);
  for (const problem of done.problems) fail(new Problem(problem));
}

export async function fixLints(query: { codes: string[]; tools: string[] }): Promise<void> {
  const done = await change(() => client.applyLintFix({ severities: [], offset: 0, limit: 0, ...query }));
  if (!done) return;
  say(`Fixed ${counted(done.tools, "tool")}${done.settings_changed ? " and the settings" : ""}`, UNDO);
  for (const problem of done.problems) fail(new Problem(problem));
}

export async function revertCatalog(revision: number): Promise<void> {
  const now = await change(() => client.revertCatalog(revision));
  if (now !== null) say(`The catalog is as it was at r${revision}, stored as r${now}`, UNDO);
}

export const noPatch: ToolPatch = {
  classification: null,
  accept_suggestions: false,
  loading: null,
  category: null,
  side_effects: null,
  group: null,
  namespace: null,
  critical: null,
  timeout_ms: null,
  add_tags: [],
  remove_tags: [],
  add_capabilities: [],
  remove_capabilities: [],
  add_guidance: [],
  remove_guidance: [],
};
