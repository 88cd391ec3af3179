/** Sessions of the in-browser host: enough to move between the states; matrix, files and savings need Rust. */
import { Problem, type Host, type Settings } from "../client";

type SessionView = Awaited<ReturnType<Host["session"]>>;
type State = SessionView["session"];
type Commands = Pick<
  Host,
  | "session"
  | "sessionEvent"
  | "planInSession"
  | "visibilityMatrix"
  | "whyHidden"
  | "importPolicy"
  | "tokenSavings"
  | "conversationSavings"
>;

export function sessionCommands(settings: () => Settings, plan: Host["plan"]): Commands {
  const sessions = new Map<string, State>();
  const of = (id: string): State => sessions.get(id) ?? { id, state: "REQUEST", intent: "", last_intent: "", log: [] };
  const view = (session: State): SessionView => ({
    session,
    intents: settings().intents.map((intent) => ({ intent, why_not: null })),
    refused: session.log.at(-1)?.refused ?? null,
    trouble: null,
    deadlocks: [],
  });
  const onlyInRust = async (): Promise<never> => {
    throw new Problem({
      code: "fake.missing",
      message: "The in-browser host does not answer this",
      hint: "Open the window",
    });
  };
  return {
    session: async (id) => view(of(id)),
    async sessionEvent(id, event) {
      const before = of(id);
      const selects = event.kind === "select_intent" || event.kind === "switch_intent";
      const allowed = !selects || before.state === (event.kind === "select_intent" ? "REASONING" : "ACTION");
      const to = !allowed ? before.state : selects ? "ACTION" : event.kind === "reset" ? "REQUEST" : "REASONING";
      const intent = !allowed ? before.intent : selects ? event.intent : "";
      const refused = allowed
        ? null
        : {
            code: "session.state",
            message: `Cannot select intent in state ${before.state}. Must be in REASONING state.`,
            hint: "send a message first: it begins a request",
          };
      const seq = before.log.length + 1;
      const text = refused?.message ?? `${before.state} to ${to}`;
      const log = [...before.log, { seq, at_ms: Date.now(), event, from: before.state, to, intent, refused, text }];
      const after: State = { id, state: to, intent, last_intent: before.intent || before.last_intent, log };
      sessions.set(id, after);
      return view(after);
    },
    async planInSession(id, request, previous) {
      const { state, intent } = of(id);
      return { plan: await plan({ ...request, state, intent }, previous), session: view(of(id)) };
    },
    visibilityMatrix: onlyInRust,
    whyHidden: onlyInRust,
    importPolicy: onlyInRust,
    tokenSavings: onlyInRust,
    conversationSavings: onlyInRust,
  };
}
