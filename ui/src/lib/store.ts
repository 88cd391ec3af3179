/**
 * What the window alone owns: the draft of the request, selection, open view, panes. Nothing that Rust knows is copied
 * here; answers of commands live in the query cache and in `planning.ts`.
 */
import { create } from "zustand";
import { createJSONStorage, persist } from "zustand/middleware";
import type { Request } from "../ipc/client";

export type View = "plan" | "catalog" | "visibility" | "discovery" | "capabilities" | "runs" | "settings";
export type Theme = "auto" | "light" | "dark";
export type BottomTab = "events" | "timeline" | "debug" | "turns" | "tokens" | "prompt" | "funnel" | "tools";
export type RunTab = "events" | "timeline" | "verdicts" | "tokens" | "tools" | "debug" | "compare" | "tree";
/** What is about to be done with the open run. */
export type RunDialog = "replay" | "replan" | "fork" | "delete";
/** Which cursor moves: that of the open run, or that of the run of the open planning. */
export type CursorOf = "cursor" | "planCursor";
export type CatalogTab = "tools" | "lints" | "history";
export type VisibilityTab = "matrix" | "session";
export type DiscoveryTab = "lab" | "directory" | "model";

/** A tool whose trail is shown in a popover, beside the rectangle where it was asked for. */
export interface WhyAsked {
  tool: string;
  at: { x: number; y: number; width: number; height: number };
}

interface WindowState {
  view: View;
  theme: Theme;
  draft: Request;
  step: string | null;
  tool: string | null;
  /** Index of the guarded call under the pointer. */
  hoveredCall: number | null;
  /** The table twin stands in the place of the graph. */
  asTable: boolean;
  bottomTab: BottomTab;
  runTab: RunTab;
  /** The run started from this window last, with the planning it belongs to. */
  live: { run: number; plan: number } | null;
  openRun: number | null;
  /** Sequence number of the event at which the open run is shown; null means the last. */
  cursor: number | null;
  /** The same for the run of the open planning. */
  planCursor: number | null;
  runDialog: RunDialog | null;
  /** What of the chosen step is being written by hand. */
  editing: "arguments" | "result" | null;
  /** The run that the open one is held against; null leaves the choice to the window. */
  compareWith: number | null;
  overlay: "palette" | "keys" | null;
  why: WhyAsked | null;
  catalogTab: CatalogTab;
  visibilityTab: VisibilityTab;
  discoveryTab: DiscoveryTab;
  /** The group of settings to show, by its path, after a jump from a verdict. */
  settingsAt: string | null;
  set: (change: Partial<Omit<WindowState, "set" | "draft">>) => void;
  setDraft: (change: Partial<Request>) => void;
}

export const emptyRequest: Request = {
  query: "",
  session: { tenant: "", user: "", flags: [], id: "", activated: [] },
  state: "REQUEST",
  mode: "",
  intent: "",
  routing: { suggested_tools: null, sub_questions: [] },
  decomposition: null,
  planner: "offline",
};

export const useWindow = create<WindowState>()(
  persist(
    (set) => ({
      view: "plan",
      theme: "auto",
      draft: emptyRequest,
      step: null,
      tool: null,
      hoveredCall: null,
      asTable: false,
      bottomTab: "events",
      runTab: "events",
      live: null,
      openRun: null,
      cursor: null,
      planCursor: null,
      runDialog: null,
      editing: null,
      compareWith: null,
      overlay: null,
      why: null,
      catalogTab: "tools",
      visibilityTab: "matrix",
      discoveryTab: "lab",
      settingsAt: null,
      set,
      setDraft: (change) => set((s) => ({ draft: { ...s.draft, ...change } })),
    }),
    {
      name: "toolplan.window",
      storage: createJSONStorage(() => localStorage),
      partialize: ({ theme, asTable, bottomTab, runTab }) => ({ theme, asTable, bottomTab, runTab }),
    },
  ),
);
