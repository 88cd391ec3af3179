/** The session that the window looks at. Where it goes, the context of the top bar goes along. */
import { client, Problem, type SessionEvent, type SessionView } from "../ipc/client";
import { changeContext } from "./context";
import { usePlanning } from "./planning";
import { queryClient, sessionQuery } from "./queries";
import { useWindow } from "./store";
import { useToasts } from "./toasts";

/** A window that was given no name of a session uses this one. */
const USUAL = "window";

export const sessionId = (): string => useWindow.getState().draft.session.id || USUAL;

export function useSessionId() {
  const id = useWindow((s) => s.draft.session.id) || USUAL;
  const setId = (next: string) => {
    const { draft, setDraft } = useWindow.getState();
    setDraft({ session: { ...draft.session, id: next } });
  };
  return { id, setId };
}

/** Takes the answer in, and its state and intent into the request's context. */
function follow(view: SessionView) {
  queryClient.setQueryData(sessionQuery(view.session.id || sessionId()).queryKey, view);
  const { state, intent } = view.session;
  const { draft } = useWindow.getState();
  if (draft.state !== state || draft.intent !== intent) changeContext({ state, intent });
}

export async function sessionEvent(event: SessionEvent): Promise<void> {
  try {
    follow(await client.sessionEvent(sessionId(), event));
  } catch (thrown) {
    useToasts.getState().fail(Problem.from(thrown));
  }
}

/** Plans the open query as the session asks it; an intent that the model selects is selected in the session. */
export async function planInSession(): Promise<void> {
  const { draft, set } = useWindow.getState();
  try {
    const before = usePlanning.getState().view;
    const previous = before?.planning.request.query === draft.query ? before.id : null;
    const { plan, session } = await client.planInSession(sessionId(), draft, previous);
    const { state, intent } = session.session;
    useWindow.getState().setDraft({ state, intent });
    queryClient.setQueryData(sessionQuery(sessionId()).queryKey, session);
    usePlanning.getState().show(plan);
    set({ view: "plan", bottomTab: plan.planning.turns.length > 0 ? "turns" : useWindow.getState().bottomTab });
  } catch (thrown) {
    useToasts.getState().fail(Problem.from(thrown));
  }
}
