import type { Request, SampleQuery } from "../ipc/client";
import { usePlanning } from "./planning";
import { useWindow } from "./store";

/** Changes the request's context. It applies to every view at once, so an open query is planned again. */
export function changeContext(change: Partial<Request>) {
  const { setDraft } = useWindow.getState();
  setDraft(change);
  if (usePlanning.getState().view) planDraft();
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
