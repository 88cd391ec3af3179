/** Everything the window can do by name or key. Palette, shortcuts and the sheet of keys read this one list. */
import { client, type AppInfo } from "../ipc/client";
import { openSample, planDraft } from "../lib/context";
import { currentTarget, startBlocked, steeringBlocked, stepBlocked, useRunning, type StepAction } from "../lib/running";
import { askWhySelected } from "../components/ToolName";
import { usePlanning } from "../lib/planning";
import { useWindow, type RunDialog, type View } from "../lib/store";
import { useFinding } from "../graph/find";
import { bulkEdit, noPatch, redo, undo } from "../lib/edits";
import { noFilter, setFilter, useTable } from "../features/catalog/table";
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
  /** Why it does nothing now, or null; absent where it always does something. */
  blocked?: () => string | null;
  run: () => void;
}

export const VIEWS: { view: View; label: string }[] = [
  { view: "plan", label: "Plan" },
  { view: "catalog", label: "Catalog" },
  { view: "visibility", label: "Visibility" },
  { view: "discovery", label: "Discovery" },
  { view: "capabilities", label: "Capabilities" },
  { view: "runs", label: "Runs" },
  { view: "settings", label: "Settings" },
];

const set = (change: Parameters<ReturnType<typeof useWindow.getState>["set"]>[0]) => useWindow.getState().set(change);

/** Parts of views that have no key of their own. */
const TABS: [id: string, label: string, keywords: string, change: Parameters<typeof set>[0]][] = [
  ["lints", "Go to the lints", "problems warnings fix", { view: "catalog", catalogTab: "lints" }],
  ["history", "Go to the edit history", "revisions diff revert undo", { view: "catalog", catalogTab: "history" }],
  [
    "session",
    "Go to the session",
    "state intent request reasoning action",
    { view: "visibility", visibilityTab: "session" },
  ],
  ["matrix", "Go to the matrix of tools and states", "visible hidden", { view: "visibility", visibilityTab: "matrix" }],
  ["lab", "Go to the search lab", "discovery find tool_search", { view: "discovery", discoveryTab: "lab" }],
  ["directory", "Go to the directory and hints", "discovery groups", { view: "discovery", discoveryTab: "directory" }],
  ["model", "Go to the embedding model", "semantic add install", { view: "discovery", discoveryTab: "model" }],
  ["savings", "Go to the token savings", "net gross overhead", { view: "plan", bottomTab: "tokens" }],
  ["turns", "Go to the turns of the planning", "tool_search select_intent", { view: "plan", bottomTab: "turns" }],
];

function askAboutChosen() {
  const { tool, step } = useWindow.getState();
  const steps = usePlanning.getState().view?.graph.steps ?? [];
  const name = tool ?? steps.find((s) => s.id === step)?.tool;
  if (name !== undefined) askWhySelected(name);
}

function acceptSuggestions() {
  const { chosen } = useTable.getState();
  if (chosen.kind === "all" || chosen.names.size === 0) return set({ view: "catalog", catalogTab: "tools" });
  void bulkEdit({ kind: "tools", names: [...chosen.names] }, { ...noPatch, accept_suggestions: true });
}

const chosenStep = () => useWindow.getState().step;

/** Something that a person does to the chosen step of the run that keys act on. */
function onStep(
  id: StepAction,
  label: string,
  keywords: string,
  shortcut: string | undefined,
  act: (step: string, run: number) => void,
): Action {
  const blocked = () => stepBlocked(id, currentTarget(), chosenStep());
  const run = () => {
    const [step, target] = [chosenStep(), currentTarget()];
    if (step !== null && target && blocked() === null) act(step, target.run);
  };
  return { id, label, keywords, ...(shortcut ? { shortcut } : {}), blocked, run };
}

const attempt = (what: () => Promise<unknown>) => void useRunning.getState().attempt(what);

/** The open run, else the run of the open planning. */
const someRun = () => useWindow.getState().openRun ?? useWindow.getState().live?.run ?? null;

function onRun(dialog: RunDialog, label: string, keywords: string): Action {
  return {
    id: `run-${dialog}`,
    label,
    keywords,
    blocked: () => (someRun() === null ? "Open a run first" : null),
    run: () => {
      const openRun = someRun();
      if (openRun !== null) set({ view: "runs", openRun, runDialog: dialog });
    },
  };
}

export const actions: Action[] = [
  { id: "plan", label: "Plan the query", shortcut: "Ctrl+Enter", run: planDraft },
  {
    id: "run",
    label: "Run the plan, or go on",
    keywords: "start continue",
    shortcut: "F5",
    blocked: startBlocked,
    run: () => void useRunning.getState().start(),
  },
  {
    id: "pause",
    label: "Pause the run",
    shortcut: "F6",
    blocked: () => steeringBlocked("going"),
    run: () => void useRunning.getState().pause(),
  },
  {
    id: "breakpoint",
    label: "Break before the chosen step",
    keywords: "breakpoint toggle",
    shortcut: "F9",
    blocked: () => (chosenStep() === null ? "Choose a step first" : null),
    run: () => void useRunning.getState().toggleBreakpoint(useWindow.getState().step),
  },
  {
    id: "step",
    label: "One step of the run",
    keywords: "debug",
    shortcut: "F10",
    blocked: () => (currentTarget()?.state.paused ? null : startBlocked()),
    run: () => void useRunning.getState().step(),
  },
  {
    id: "stage",
    label: "To the end of the stage",
    keywords: "debug next stage",
    shortcut: "F11",
    blocked: () => steeringBlocked("paused"),
    run: () => void useRunning.getState().nextStage(),
  },
  onStep(
    "run_to",
    "Run to the chosen step",
    "debug here",
    "Ctrl+F10",
    (step) => void useRunning.getState().runTo(step),
  ),
  onStep("edit_arguments", "Edit the arguments of the chosen step", "debug change", "F2", () =>
    set({ tool: null, editing: "arguments" }),
  ),
  onStep("edit_result", "Set the result of the chosen step", "debug change", "Shift+F2", () =>
    set({ tool: null, editing: "result" }),
  ),
  onStep("skip", "Skip the chosen step", "debug leave out", "Shift+F11", (step, run) =>
    attempt(() => client.skipStep(run, step)),
  ),
  onStep("retry", "Try the chosen step again", "debug retry", "Shift+F9", (step, run) =>
    attempt(() => client.retryStep(run, step)),
  ),
  onStep("cancel", "Cancel the call of the chosen step", "debug stop", undefined, (step, run) =>
    attempt(() => client.cancelStep(run, step)),
  ),
  {
    id: "stop",
    label: "Stop the run",
    keywords: "cancel",
    shortcut: "Shift+F5",
    blocked: () => steeringBlocked("under_way"),
    run: () => void useRunning.getState().stop(),
  },
  onRun("replan", "Plan the query of the run again", "plan again replan flips today"),
  onRun("replay", "Replay the run from its record", "again recorded"),
  onRun("fork", "Fork the run with one change", "branch other arguments"),
  {
    id: "undo",
    label: "Undo the last edit of the catalog",
    keywords: "revert take back",
    shortcut: "Ctrl+Z",
    run: () => void undo(),
  },
  {
    id: "redo",
    label: "Redo the edit that was undone",
    keywords: "again repeat",
    shortcut: "Ctrl+Shift+Z",
    also: "Ctrl+Y",
    run: () => void redo(),
  },
  {
    id: "why",
    label: "Why is the chosen tool hidden or shown?",
    keywords: "visible trail gates",
    shortcut: "w",
    run: askAboutChosen,
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
  ...TABS.map(([id, label, keywords, change]): Action => ({ id, label, keywords, run: () => set(change) })),
  {
    id: "show-unclassified",
    label: "Show the unclassified tools",
    keywords: "filter safe destructive classify",
    run: () => {
      setFilter({ ...noFilter, classifications: ["unclassified"] });
      set({ view: "catalog", catalogTab: "tools" });
    },
  },
  {
    id: "accept-suggestions",
    label: "Accept the suggested class of the chosen tools",
    keywords: "classify safe destructive bulk",
    run: acceptSuggestions,
  },
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
  { keys: "/", label: "Search the catalog" },
  { keys: "f", label: "Show or hide the facets" },
  { keys: "Space, Shift ↑ ↓", label: "Choose tools in the catalog" },
  { keys: "Ctrl A", label: "Choose every tool that the filter finds" },
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
