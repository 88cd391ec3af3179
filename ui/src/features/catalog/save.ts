/**
 * Edits of tools, saved while the person works.
 *
 * What is typed lives here, by tool, until Rust has stored it: closing the inspector, choosing another tool or a failed
 * save never loses it. Saves of one tool follow one another; an edit made during a save is saved right after it.
 */
import { create } from "zustand";
import { client, Problem, type ToolSpec } from "../../ipc/client";
import { catalogChanged, currentContext } from "../../lib/planning";
import { queryClient, toolQuery } from "../../lib/queries";
import { undo } from "../../lib/edits";
import { useToasts } from "../../lib/toasts";

/** How long after the last keystroke a text is saved. */
const TYPING_MS = 400;

export type Patch = Partial<ToolSpec>;

interface Unsaved {
  patch: Patch;
  saving: boolean;
  problem: Problem | null;
}

interface SaveState {
  unsaved: Record<string, Unsaved>;
}

const useSaves = create<SaveState>()(() => ({ unsaved: {} }));
const timers = new Map<string, ReturnType<typeof setTimeout>>();

const current = (tool: string) => useSaves.getState().unsaved[tool];

function update(tool: string, change: Partial<Unsaved>) {
  useSaves.setState(({ unsaved }) => {
    const before = unsaved[tool] ?? { patch: {}, saving: false, problem: null };
    return { unsaved: { ...unsaved, [tool]: { ...before, ...change } } };
  });
}

/** Remembers the edit and saves it: at once, or when the typing pauses. */
function edit(tool: string, patch: Patch, typing: boolean): Promise<void> | undefined {
  update(tool, { patch: { ...current(tool)?.patch, ...patch }, problem: null });
  clearTimeout(timers.get(tool));
  if (!typing) return save(tool);
  timers.set(
    tool,
    setTimeout(() => void save(tool), TYPING_MS),
  );
}

async function save(tool: string): Promise<void> {
  clearTimeout(timers.get(tool));
  const open = current(tool);
  if (!open || open.saving || Object.keys(open.patch).length === 0) return;
  const { patch } = open;
  update(tool, { saving: true });
  try {
    // The inspector may show an older answer, and its fields must not be written back.
    const detail = await detailOf(tool, 0);
    await client.saveTool({ ...detail.spec, ...patch });
    await catalogChanged();
    // Only when the new answer is there may the typed values give way to it.
    await detailOf(tool, Infinity);
    update(tool, { saving: false, patch: withoutSaved(current(tool)?.patch ?? {}, patch) });
  } catch (thrown) {
    update(tool, { saving: false, problem: Problem.from(thrown) });
    return;
  }
  // What was typed meanwhile, unless a timer is about to save it anyway.
  if (Object.keys(current(tool)?.patch ?? {}).length > 0) await save(tool);
}

/** What is left of the edits once those that were sent are stored. */
function withoutSaved(now: Patch, sent: Patch): Patch {
  const entries = Object.entries(now).filter(([field, value]) => sent[field as keyof Patch] !== value);
  return Object.fromEntries(entries) as Patch;
}

function detailOf(tool: string, staleTime: number) {
  const { request, plan } = currentContext();
  return queryClient.fetchQuery({
    queryKey: toolQuery(tool, request, plan).queryKey,
    queryFn: () => client.tool(tool, request, plan),
    staleTime,
  });
}

export async function revertTo(tool: string, revision: number): Promise<void> {
  try {
    await client.revertTool(tool, revision);
    update(tool, { patch: {}, problem: null });
    await catalogChanged();
    const { say } = useToasts.getState();
    say(`${tool} is as it was at r${revision}`, { label: "Undo", run: () => void undo() });
  } catch (thrown) {
    update(tool, { problem: Problem.from(thrown) });
  }
}

export interface ToolSave {
  /** What is not stored yet. */
  patch: Patch;
  saving: boolean;
  problem: Problem | null;
  edit: (patch: Patch) => Promise<void> | undefined;
  /** For text: saved when the typing pauses. */
  type: (patch: Patch) => void;
}

const nothing: Patch = {};

export function useToolSave(tool: string): ToolSave {
  const unsaved = useSaves((s) => s.unsaved[tool]);
  return {
    patch: unsaved?.patch ?? nothing,
    saving: unsaved?.saving ?? false,
    problem: unsaved?.problem ?? null,
    edit: (patch) => edit(tool, patch, false),
    type: (patch) => void edit(tool, patch, true),
  };
}
