/** Sessions, the matrix of tools and states, and why a tool is hidden, in the in-browser host. */
import {
  EXECUTION_STATES,
  type ExecutionState,
  type MatrixPage,
  type MatrixQuery,
  type Request,
  type SessionEvent,
  type SessionState,
  type SessionView,
  type WhyQuery,
  type WhyRow,
} from "../client";
import { emptyRequest } from "../../lib/store";
import type { Desk } from "./desk";
import { decided, totalOf, visibilityTrail } from "./visibility";

type ProblemData = { code: string; message: string; hint: string };

export class Sessions {
  private readonly known = new Map<string, SessionState>();

  constructor(private readonly desk: Desk) {}

  get(id: string): SessionState {
    const session = this.known.get(id) ?? { id, state: "REQUEST", intent: "", last_intent: "", log: [] };
    this.known.set(id, session);
    return session;
  }

  view(id: string, refused: ProblemData | null = null): SessionView {
    const session = this.get(id);
    return {
      session,
      intents: this.desk.settings.intents.map((intent) => ({ intent, why_not: this.whyNot(intent.id) })),
      refused,
      trouble:
        session.state === "ACTION" && this.whyNot(session.intent)
          ? {
              code: "session.stuck",
              message: `${session.intent} can no longer be worked on: destructive tools are hidden`,
              hint: "recover the session, then select an intent again",
            }
          : null,
      deadlocks: [],
    };
  }

  private whyNot(id: string): ProblemData | null {
    const intent = this.desk.settings.intents.find((i) => i.id === id);
    if (!intent) return { code: "intent.unknown", message: `there is no intent called ${id}`, hint: "choose another" };
    if (intent.status === "open" || intent.status === "active") return null;
    return {
      code: `intent.${intent.status}`,
      message: `${id} is ${intent.status}`,
      hint: `available: ${this.desk.settings.intents
        .filter((i) => i.status === "open" || i.status === "active")
        .map((i) => i.id)
        .join(", ")}`,
    };
  }

  on(id: string, event: SessionEvent): SessionView {
    const session = this.get(id);
    const from = session.state;
    const next = this.next(session, event);
    const refused = "message" in next ? next : null;
    if (!("message" in next)) {
      if (session.intent && session.intent !== next.intent) session.last_intent = session.intent;
      session.state = next.state;
      session.intent = next.intent;
    }
    session.log.push({
      seq: session.log.length + 1,
      at_ms: Date.now(),
      event,
      from,
      to: session.state,
      intent: session.intent,
      refused,
      text: refused ? `Refused: ${refused.message}` : (next as { text: string }).text,
    });
    return this.view(id, refused);
  }

  private next(
    session: SessionState,
    event: SessionEvent,
  ): { state: ExecutionState; intent: string; text: string } | ProblemData {
    switch (event.kind) {
      case "message":
        return { state: "REASONING", intent: "", text: "A new message begins a request" };
      case "select_intent":
      case "switch_intent": {
        const wanted = event.kind === "select_intent" ? "REASONING" : "ACTION";
        if (session.state !== wanted)
          return {
            code: "session.state",
            message: `Cannot select intent in state ${session.state}. Must be in ${wanted} state.`,
            hint: session.state === "REQUEST" ? "send a message first: it begins a request" : "recover the session",
          };
        return (
          this.whyNot(event.intent) ?? { state: "ACTION", intent: event.intent, text: `${event.intent} is selected` }
        );
      }
      case "reset":
        return { state: "REQUEST", intent: "", text: "Reset to REQUEST" };
      case "recover":
        return { state: "REASONING", intent: "", text: "Recovered to REASONING" };
    }
  }
}

const at = (query: { session: Request["session"]; mode: string }, state: ExecutionState): Request => ({
  ...emptyRequest,
  session: query.session,
  mode: query.mode,
  state,
  intent: state === "ACTION" ? "any" : "",
});

let last: { key: string; settings: unknown; page: MatrixPage } | null = null;

export function matrixPage(desk: Desk, query: MatrixQuery): MatrixPage {
  const key = JSON.stringify([desk.revision, { ...query, offset: 0, limit: 0 }]);
  // Other pages of the same question need not be found again.
  if (last?.key !== key || last.settings !== desk.settings)
    last = { key, settings: desk.settings, page: wholeMatrix(desk, { ...query, offset: 0, limit: Infinity }) };
  const { page } = last;
  return { ...page, offset: query.offset, rows: page.rows.slice(query.offset, query.offset + query.limit) };
}

function wholeMatrix(desk: Desk, query: MatrixQuery): MatrixPage {
  const requests = EXECUTION_STATES.map((state) => at(query, state));
  const filter = query.filter.trim().toLowerCase();
  const states = EXECUTION_STATES.map((state) => ({ state, visible: 0, in_prompt: 0, tokens: 0 }));
  const rows: MatrixPage["rows"] = [];
  let matching = 0;
  for (const tool of desk.tools) {
    const tokens = totalOf(tool);
    const cells = requests.map((request) => {
      const verdict = decided(visibilityTrail(tool, request, desk.settings));
      const visible = verdict.outcome !== "hidden";
      return {
        state: request.state,
        visible,
        in_prompt: verdict.outcome === "kept",
        gate: verdict.gate,
        rule: verdict.rule,
        reason: verdict.reason,
      };
    });
    cells.forEach((c, i) => {
      states[i]!.visible += Number(c.visible);
      states[i]!.in_prompt += Number(c.in_prompt);
      states[i]!.tokens += c.in_prompt ? tokens : 0;
    });
    const seen = cells.map((c) => c.visible);
    const wanted = {
      all: true,
      differs: seen.includes(true) && seen.includes(false),
      hidden: !seen.includes(true),
      unclassified: tool.classification === "unclassified",
    }[query.only];
    const text = `${tool.name} ${tool.namespace} ${tool.group} ${tool.tags.join(" ")}`.toLowerCase();
    if (!wanted || !text.includes(filter)) continue;
    if (matching++ >= query.offset && rows.length < query.limit)
      rows.push({
        tool: tool.name,
        namespace: tool.namespace,
        group: tool.group,
        classification: tool.classification,
        loading: tool.loading,
        tokens,
        cells,
      });
  }
  return { tools: desk.tools.length, matching, offset: query.offset, states, rows };
}

export function whyRows(desk: Desk, name: string, query: WhyQuery): WhyRow[] {
  const tool = desk.tool(name);
  const or = (list: string[]) => (list.length > 0 ? list : [""]);
  const states = query.states.length > 0 ? query.states : EXECUTION_STATES;
  return or(query.tenants).flatMap((tenant) =>
    or(query.modes).flatMap((mode) =>
      states.map((state): WhyRow => {
        const session = { ...emptyRequest.session, tenant, user: query.user, flags: query.flags };
        const { verdicts } = visibilityTrail(tool, at({ session, mode }, state), desk.settings);
        const [first = null, ...also] = verdicts.filter((v) => v.outcome === "hidden");
        const in_prompt = verdicts.every((v) => v.outcome === "kept");
        return { state, mode, tenant, visible: first === null, in_prompt, decided: first, also, verdicts };
      }),
    ),
  );
}
