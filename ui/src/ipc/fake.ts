/**
 * An in-browser stand-in for Rust: for `npm run dev` in a plain browser and for component tests.
 *
 * It answers every command from a small hand-made workspace. It imitates shapes and enough behaviour to make the views
 * move; it decides nothing the way the engine does.
 */
import {
  Problem,
  type Change,
  type Host,
  type PlanView,
  type Planning,
  type Request,
  type RevisionRow,
  type RunAdvanced,
  type Settings,
  type ToolDetail,
  type ToolSpec,
} from "./client";
import { makeGraph, makePlanning, scenarioFor, type Scenario } from "./fake/plan";
import { simulate, summaryOf, type FakeRun } from "./fake/runs";
import { samples, scenarios } from "./fake/scenarios";
import { fakeTools } from "./fake/tools";
import { costOf, decided, isVisible, rowOf, visibilityTrail } from "./fake/visibility";
import { emptyRequest } from "../lib/store";

const HOUR = 3_600_000;

const settings = (): Settings => ({
  policy: { allowed: null, denied: [], require_tags: [] },
  visibility: [],
  kill_switch: [],
  modes: [
    { name: "research", title: "Research", groups: ["read", "web", "analyse"], tools: [] },
    { name: "triage", title: "Ticket triage", groups: ["read", "tickets", "analyse"], tools: [] },
  ],
  default_mode: "",
  handshake_tools: ["select_intent"],
  intents: [
    { id: "fix-login", title: "Fix the login" },
    { id: "release", title: "Prepare the release" },
  ],
  tenants: ["acme", "globex"],
  discovery: { enabled: true, discovery_tools: [] },
  guard: { mode: "enforce", scan_thinking: true, add_by_rule: true, noise_prefixes: ["UTF"], projects: [] },
  redaction: { fields: [], patterns: [] },
  retention: { max_runs: 0, max_age_days: 0, max_megabytes: 0 },
  planner: { timeout_ms: 2000, temperature: 0.3, encoding: "o200k_base" },
  run: {
    parallel_limit: 5,
    timeout_ms: 30_000,
    retry: { max_retries: 2, base_ms: 200 },
    backoff: "exponential",
    jitter_percent: 0,
    adaptive_timeout: { enabled: false, factor: 3, min_ms: 1000, max_ms: 120_000, min_calls: 20 },
    cache: { enabled: true, ttl_s: 300, max_entries: 10_000 },
    faults: [],
    durability: "process",
  },
  network: { jira_url: "", confluence_url: "", allow_private: false, max_bytes: 2_000_000 },
});

interface Kept {
  revision: RevisionRow;
  spec: ToolSpec;
}

/** What the host in the browser cannot do. */
const unplayed = async (): Promise<never> => {
  throw { code: "fake.unplayed", message: "The browser's host cannot do this", hint: "Open the real window." };
};

export function createHost(): Host {
  let tools = fakeTools();
  let revision = 40;
  let chosen = settings();
  const plans: { view: PlanView; scenario: Scenario }[] = [];
  const runs: FakeRun[] = [];
  const listeners = new Set<(advanced: RunAdvanced) => void>();
  const firstSeen = Date.now() - 30 * HOUR;
  const history = new Map<string, Kept[]>(
    tools.map((spec) => [
      spec.name,
      [{ revision: { revision: 1, at_ms: firstSeen, author: "import", changed: [] }, spec }],
    ]),
  );

  const needsRust = (): never =>
    refuse("browser.only", "This needs the application", "Open the workspace in the window of Toolplan.");
  const refuse = (code: string, message: string, hint: string): never => {
    throw new Problem({ code, message, hint });
  };
  const toolNamed = (name: string): ToolSpec =>
    tools.find((t) => t.name === name) ??
    refuse("catalog.unknown_tool", `The catalog has no tool ${name}`, "Choose a tool of the catalog.");
  const runNamed = (id: number): FakeRun =>
    runs.find((r) => r.id === id) ?? refuse("run.unknown", `There is no run ${id}`, "Choose a run of the list.");

  function planFor(request: Request): { planning: Planning; scenario: Scenario } {
    const scenario = scenarioFor(scenarios, request.query);
    return { scenario, planning: makePlanning(scenario, request, tools, chosen, revision) };
  }

  function store(spec: ToolSpec, author: string): number {
    const before = toolNamed(spec.name);
    if (spec.name === "send_mail" && spec.description.trim() === "") {
      refuse("catalog.description", "send_mail needs a description", "Say in a sentence what the tool does.");
    }
    const fields = Object.keys(spec) as (keyof ToolSpec)[];
    const changed = fields
      .filter((f) => JSON.stringify(before[f]) !== JSON.stringify(spec[f]))
      .map((field) => ({ field, before: show(before[field]), after: show(spec[field]) }));
    tools = tools.map((t) => (t.name === spec.name ? structuredClone(spec) : t));
    history
      .get(spec.name)!
      .push({ revision: { revision: ++revision, at_ms: Date.now(), author, changed }, spec: structuredClone(spec) });
    return revision;
  }

  function pastRun(scenario: Scenario, hoursAgo: number) {
    const { planning } = planFor({ ...emptyRequest, query: scenario.query });
    runs.push(simulate(runs.length + 1, scenario, planning, tools, Date.now() - hoursAgo * HOUR));
  }
  pastRun(scenarios[1]!, 26);
  pastRun(scenarios[2]!, 3);

  function advance(run: FakeRun) {
    const done = run.shown >= run.events.length;
    for (const listener of listeners) listener({ run: run.id, state: run.states[run.shown - 1]! });
    if (done) return;
    const gap = run.events[run.shown]!.at_ms - run.events[run.shown - 1]!.at_ms;
    setTimeout(() => {
      // Cancelled in between: nothing more happens.
      if (run.states[run.shown - 1]!.outcome !== null) return;
      run.shown++;
      advance(run);
    }, gap);
  }

  const now = async <T>(answer: T): Promise<T> => structuredClone(answer);

  return {
    info: () =>
      now({
        version: "0.1.0",
        workspace: {
          name: "sample",
          root: "/home/you/sample",
          database: "/home/you/.local/share/toolplan/sample.sqlite",
          is_sample: true,
          tools: tools.length,
          notices: [],
        },
        provider: {
          configured: false,
          label: "offline",
          note: "Plans are made offline; set ANTHROPIC_API_KEY to ask a model",
        },
        settings: chosen,
        revision,
        samples,
      }),

    async saveSettings(next) {
      chosen = structuredClone(next);
      return null;
    },

    async plan(request, previous) {
      if (request.query.includes("please fail"))
        refuse("plan.timeout", "The planner did not answer within 2 s", "Try again, or choose the offline planner.");
      const { planning, scenario } = planFor(request);
      const before = plans.find((p) => p.view.id === previous)?.view;
      const graph = makeGraph(scenario, planning, tools);
      const view: PlanView = {
        id: plans.length + 1,
        planning,
        graph,
        changes: before ? changesBetween(before, { planning, graph }) : [],
        decided_in_ms: 3.4,
      };
      plans.push({ view, scenario });
      return now(view);
    },

    async catalog(request, plan) {
      const planning = plans.find((p) => p.view.id === plan)?.view.planning;
      const rows = tools.map((tool) => {
        const trail = planning?.trails.find((t) => t.tool === tool.name) ?? visibilityTrail(tool, request, chosen);
        return rowOf(tool, trail, isVisible(tool, request, chosen));
      });
      return now(rows);
    },

    async tool(name, request, plan) {
      const spec = toolNamed(name);
      const planning = plans.find((p) => p.view.id === plan)?.view.planning;
      const detail: ToolDetail = {
        spec,
        cost: costOf(spec),
        trail: planning?.trails.find((t) => t.tool === name) ?? visibilityTrail(spec, request, chosen),
        history: history.get(name)!.map((k) => k.revision),
        stats: ["vector_search", "web_fetch"].includes(name)
          ? {
              calls: 12,
              failures: 3,
              retries: 4,
              timeouts: 0,
              average_ms: 512,
              p50_ms: 430,
              p95_ms: 1180,
              failure_rate: 0.25,
              average_confidence: 0.81,
            }
          : null,
      };
      return now(detail);
    },

    saveTool: async (spec) => store(spec, "you"),

    async revertTool(name, to) {
      const kept =
        history.get(name)?.find((k) => k.revision.revision === to) ??
        refuse("catalog.unknown_revision", `${name} has no revision ${to}`, "Choose one of the list.");
      return store(kept.spec, "you");
    },

    async startRun(plan) {
      const open =
        plans.find((p) => p.view.id === plan) ??
        refuse("plan.unknown", `There is no planning ${plan}`, "Plan the query again.");
      const run = simulate(runs.length + 1, open.scenario, open.view.planning, tools, Date.now());
      run.shown = 1;
      runs.push(run);
      setTimeout(() => advance(run), 0);
      return run.id;
    },

    async cancelRun(id) {
      const run = runNamed(id);
      const state = run.states[run.shown - 1]!;
      const cancelled = structuredClone(state);
      for (const step of Object.values(cancelled.steps))
        if (step.finished_ms === null && step.status !== "skipped") step.status = "cancelled";
      Object.assign(cancelled, {
        seq: state.seq + 1,
        outcome: "cancelled",
        duration_ms: Date.now() - (state.started_ms ?? 0),
      });
      run.states.splice(run.shown, Infinity, cancelled);
      run.events.splice(run.shown, Infinity, {
        seq: cancelled.seq,
        at_ms: Date.now(),
        kind: "run_finished",
        step: "",
        text: "The run ended: cancelled",
      });
      run.shown++;
      advance(run);
      return null;
    },

    pauseRun: unplayed,
    stepRun: unplayed,
    nextStage: unplayed,
    runTo: unplayed,
    editArguments: unplayed,
    editResult: unplayed,
    skipStep: unplayed,
    retryStep: unplayed,
    cancelStep: unplayed,
    setBreakpoints: unplayed,
    resumeRun: unplayed,
    runControlState: unplayed,
    runTimeline: unplayed,
    parseBreakpoint: unplayed,

    runs: () => now([...runs].reverse().map(summaryOf)),

    async openRun(id) {
      const run = runNamed(id);
      const state = { ...run.states[run.shown - 1]!, planning: run.planning };
      return now({
        summary: summaryOf(run),
        state,
        graph: makeGraph(run.scenario, run.planning, tools),
        events: run.events.slice(0, run.shown),
        event_count: run.shown,
      });
    },

    async runAt(id, seq) {
      const run = runNamed(id);
      const state =
        run.states.find((s) => s.seq === seq) ??
        refuse("run.unknown_event", `Run ${id} has no event ${seq}`, "Choose an event of the log.");
      return now({ ...state, trails: run.planning.trails, tokens: run.planning.tokens, tools: [] });
    },

    async runEvents(id, filter, offset, limit) {
      const run = runNamed(id);
      const shown = run.events.slice(0, run.shown);
      const found = shown.filter((e) => `${e.kind} ${e.step} ${e.text}`.includes(filter));
      return now({ rows: found.slice(offset, offset + limit), total: found.length, events: shown.length });
    },

    async findEvent(id, filter, seq, backwards) {
      const found = runNamed(id)
        .events.filter((e) => (backwards ? e.seq < seq : e.seq > seq))
        .filter((e) => `${e.kind} ${e.step} ${e.text}`.includes(filter));
      return now((backwards ? found.at(-1) : found[0])?.seq ?? null);
    },

    async runMarks(id) {
      const run = runNamed(id);
      const shown = run.events.slice(0, run.shown);
      const marks = shown.map((e) => ({
        seq: e.seq,
        after_ms: e.at_ms - (shown[0]?.at_ms ?? e.at_ms),
        failure: e.kind.endsWith("failed"),
      }));
      return now({ marks, last_seq: shown.at(-1)?.seq ?? 0 });
    },

    runTree: async (id) => now({ root: id, runs: [summaryOf(runNamed(id))] }),
    diffRuns: async () => needsRust(),
    replayRun: async () => needsRust(),
    replanRun: async () => needsRust(),
    forkRun: async () => needsRust(),
    exportRun: async () => needsRust(),
    importRuns: async () => needsRust(),
    storage: async () => needsRust(),
    pruneRuns: async () => needsRust(),
    pinRun: async () => needsRust(),
    deleteRun: async () => needsRust(),

    async onRunAdvanced(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const show = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function changesBetween(before: PlanView, after: Pick<PlanView, "planning" | "graph">): Change[] {
  const verdictChanges = after.planning.trails.flatMap((trail): Change[] => {
    const old = before.planning.trails.find((t) => t.tool === trail.tool);
    const [was, is] = [old ? decided(old).reason : "", decided(trail).reason];
    return was === is ? [] : [{ subject: "verdict", name: trail.tool, before: was, after: is }];
  });
  const stepsOf = (view: Pick<PlanView, "graph">) =>
    new Map(view.graph.steps.map((s) => [s.id, `${s.tool} ${s.key_argument}`]));
  const [old, now] = [stepsOf(before), stepsOf(after)];
  const stepChanges = [...new Set([...old.keys(), ...now.keys()])].flatMap((id): Change[] =>
    old.get(id) === now.get(id)
      ? []
      : [{ subject: "step", name: id, before: old.get(id) ?? "", after: now.get(id) ?? "" }],
  );
  const tokenChanges = after.planning.tokens.states.flatMap((row): Change[] => {
    const was = before.planning.tokens.states.find((s) => s.state === row.state)!;
    return was.visible === row.visible
      ? []
      : [{ subject: "tokens", name: row.state, before: String(was.visible), after: String(row.visible) }];
  });
  return [...stepChanges, ...verdictChanges, ...tokenChanges];
}
