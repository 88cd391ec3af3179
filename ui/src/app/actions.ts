/** Everything the window can do by name or key. Palette, shortcuts and the sheet of keys read this one list. */
import type { AppInfo } from "../ipc/client";
import { openSample, planDraft } from "../lib/context";
import { useRunning } from "../lib/running";
import { useWindow, type View } from "../lib/store";
import { redoLastEdit, undoLastEdit } from "../features/catalog/save";
import { useFinding } from "../graph/find";
import { nextTheme } from "./theme";

export interface Action {
  id: string;
  label: string;
  /** Other words under which the palette finds it. */
  keywords?: string;
  /** As shown: `Ctrl+K`, `Shift+F5`, `t`. */
  shortcut?: string;
  /** A second key for it, which the sheet does not list. */
  also?: string;
  run: () => void;
}

export const VIEWS: { view: View; label: string }[] = [
  { view: "plan", label: "Plan" },
  { view: "catalog", label: "Catalog" },
  { view: "visibility", label: "Visibility" },
  { view: "runs", label: "Runs" },
  { view: "settings", label: "Settings" },
];

const set = (change: Parameters<ReturnType<typeof useWindow.getState>["set"]>[0]) => useWindow.getState().set(change);

export const actions: Action[] = [
  { id: "plan", label: "Plan the query", shortcut: "Ctrl+Enter", run: planDraft },
  {
    id: "run",
    label: "Run the plan, or go on",
    keywords: "start continue",
    shortcut: "F5",
    run: () => void useRunning.getState().start(),
  },
  { id: "pause", label: "Pause the run", shortcut: "F6", run: () => void useRunning.getState().pause() },
  {
    id: "breakpoint",
    label: "Break before the chosen step",
    keywords: "breakpoint toggle",
    shortcut: "F9",
    run: () => void useRunning.getState().toggleBreakpoint(useWindow.getState().step),
  },
  {
    id: "step",
    label: "One step of the run",
    keywords: "debug",
    shortcut: "F10",
    run: () => void useRunning.getState().step(),
  },
  {
    id: "stage",
    label: "To the end of the stage",
    keywords: "debug next",
    shortcut: "F11",
    run: () => void useRunning.getState().nextStage(),
  },
  {
    id: "run-to",
    label: "Run to the chosen step",
    keywords: "debug here",
    shortcut: "Ctrl+F10",
    run: () => {
      const { step } = useWindow.getState();
      if (step !== null) void useRunning.getState().runTo(step);
    },
  },
  {
    id: "stop",
    label: "Stop the run",
    keywords: "cancel",
    shortcut: "Shift+F5",
    run: () => void useRunning.getState().stop(),
  },
  {
    id: "undo",
    label: "Undo the last tool edit",
    keywords: "revert",
    shortcut: "Ctrl+Z",
    run: () => void undoLastEdit(),
  },
  {
    id: "redo",
    label: "Make the undone tool edit again",
    keywords: "repeat",
    shortcut: "Ctrl+Shift+Z",
    also: "Ctrl+Y",
    run: () => void redoLastEdit(),
  },
  {
    id: "table",
    label: "Switch between graph and table",
    shortcut: "t",
    run: () => set({ asTable: !useWindow.getState().asTable }),
  },
  {
    id: "find-step",
    label: "Find a step in the graph",
    keywords: "search",
    shortcut: "Ctrl+F",
    run: () => useFinding.getState().set({ open: true }),
  },
  ...VIEWS.map(({ view, label }, i): Action => ({
    id: `view-${view}`,
    label: `Go to ${label}`,
    keywords: "view open show",
    shortcut: String(i + 1),
    run: () => set({ view }),
  })),
  { id: "theme", label: "Change the theme", keywords: "dark light auto colours", run: nextTheme },
  { id: "palette", label: "Find a command or tool", shortcut: "Ctrl+K", run: () => set({ overlay: "palette" }) },
  {
    id: "keys",
    label: "Show all keys",
    keywords: "help shortcuts",
    shortcut: "?",
    run: () => set({ overlay: "keys" }),
  },
];

/** Keys that a view or a panel handles itself; the sheet lists them too. */
export const localKeys: { keys: string; label: string }[] = [
  { keys: "/", label: "Filter the catalog" },
  { keys: "↑ ↓ or J K", label: "Move in lists and tables" },
  { keys: "← ↑ → ↓", label: "Move between the steps of the graph" },
  { keys: "F + −", label: "Show the whole graph, zoom in and out" },
  { keys: "J K or → ←", label: "Step through the events of an open run" },
  { keys: "Shift+J Shift+K", label: "Go to the next failure of an open run, or the one before" },
  { keys: "Home End Space", label: "First event, last event, play" },
  { keys: "Esc", label: "Close the top thing; edits are kept" },
];

export function sampleActions(info: AppInfo | undefined): Action[] {
  return (info?.samples ?? []).map((sample, i) => ({
    id: `sample-${i}`,
    label: `Sample: ${sample.title}`,
    keywords: sample.request.query,
    run: () => openSample(sample),
  }));
}
