import type { ExecutionState, Request, SampleQuery } from "../ipc/client";
import { usePlanning } from "./planning";
import { useWindow } from "./store";

/** Changes the request's context. It applies to every view at once, so an open query is planned again. */
export function changeContext(change: Partial<Request>) {
  const { setDraft } = useWindow.getState();
  setDraft(change);
  if (usePlanning.getState().view) planDraft();
}

/** The state that a request's answers were made in: ACTION needs an intent, and counts as REASONING without one. */
export function countsAs({ state, intent }: Request): ExecutionState {
  return state === "ACTION" && intent.trim() === "" ? "REASONING" : state;
}

export function planDraft() {
  const { draft } = useWindow.getState();
  if (draft.query.trim() !== "") void usePlanning.getState().plan(draft);
}

export function openSample(sample: SampleQuery) {
  const { set, setDraft } = useWindow.getState();
  setDraft(sample.request);
  set({ view: "plan", step: null, tool: null });
  void usePlanning.getState().plan(sample.request);
}
