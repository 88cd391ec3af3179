/**
 * An in-browser stand-in for Rust: for `npm run dev` in a plain browser and for component tests.
 *
 * It answers every command from a small hand-made workspace. It imitates shapes and enough behaviour to make the views
 * move; it decides nothing the way the engine does.
 */
import {
  type Fork,
  type Host,
  type PlanView,
  type Planning,
  type Request,
  type RevisionRow,
  type RunAdvanced,
  type ToolDetail,
  type ToolSpec,
} from "./client";
import { makeGraph, makePlanning, scenarioFor, type Scenario } from "./fake/plan";
import { changesBetween, planDiff } from "./fake/changes";
import { eventBeside, eventPage, marksOf, timelineOf } from "./fake/journal";
import { largeScenarios } from "./fake/large";
import { controlStateOf, interject, parseBreakpoint, player } from "./fake/control";
import { followDrops } from "./fake/drops";
import { derived, diffOf as runDiff, previewOf, storageOf, treeOf } from "./fake/past";
import { eventRow, NO_OPTIONS, shownState, simulate, stateAt, summaryOf, type FakeRun } from "./fake/runs";
import { sampleOf, scenarios as small } from "./fake/scenarios";
import { fakeTools } from "./fake/tools";
import { Desk, diffOf, refuse } from "./fake/desk";
import { FakeModel } from "./fake/discovery";
import { manyTools } from "./fake/many";
import { checkSettings, moreCommands } from "./fake/more";
import { fakeSettings } from "./fake/settings";
import { costOf, isVisible, rowOf, visibilityTrail } from "./fake/visibility";
import { emptyRequest } from "../lib/store";

const HOUR = 3_600_000;

interface Kept {
  revision: RevisionRow;
  spec: ToolSpec;
}

export function createHost(): Host {
  // `?scenario=large` and `?scenario=longrun` bring a plan of 1,000 steps, and a run of 100,000 events.
  const large = largeScenarios(typeof location === "undefined" ? "" : location.search);
  const scenarios = [...large, ...small];
  const few = fakeTools();
  // `?scenario=20k` is the catalog that the table and the matrix are measured with.
  const desk = new Desk(wanted("20k") ? [...few, ...manyTools(19_975, few[0]!)] : few, fakeSettings());
  let { tools, revision, settings: chosen } = desk;
  const model = new FakeModel(desk);
  const plans: { view: PlanView; scenario: Scenario }[] = [];
  const runs: FakeRun[] = [];
  const listeners = new Set<(advanced: RunAdvanced) => void>();
  const firstSeen = Date.now() - 30 * HOUR;
  const history = new Map<string, Kept[]>();

  // Not for every tool of a large catalog: what nobody looks at needs no history.
  const kept = (name: string): Kept[] => {
    const rows = history.get(name) ?? [
      { revision: { revision: 1, at_ms: firstSeen, author: "import", changed: [] }, spec: toolNamed(name) },
    ];
    history.set(name, rows);
    return rows;
  };
  desk.changed = () => {
    ({ tools, revision } = desk);
    const { row, changes } = desk.revisions.at(-1)!;
    for (const [name, { before, after }] of changes) {
      if (!before) continue;
      const revised = { revision: row.revision, at_ms: row.at_ms, author: row.author };
      const rows = history.get(name) ?? [
        { revision: { revision: 1, at_ms: firstSeen, author: "import", changed: [] }, spec: before },
      ];
      rows.push({ revision: { ...revised, changed: diffOf(name, before, after).changed }, spec: after });
      history.set(name, rows);
    }
  };
  const needsRust = (): never =>
    refuse("browser.only", "This needs the application", "Open the workspace in the window of Toolplan.");
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
    const label = `${spec.name}: ${diffOf(spec.name, before, spec)
      .changed.map((c) => c.field)
      .join(", ")}`;
    desk.put([structuredClone(spec)], label, author);
    return revision;
  }

  function pastRun(scenario: Scenario, hoursAgo: number) {
    const { planning } = planFor({ ...emptyRequest, query: scenario.query });
    runs.push(simulate(runs.length + 1, scenario, planning, tools, Date.now() - hoursAgo * HOUR));
  }
  for (const [scenario, hoursAgo] of large.length > 0
    ? large.map((s) => [s, 2] as const)
    : ([
        [small[1]!, 26],
        [small[2]!, 3],
      ] as const)) {
    pastRun(scenario, hoursAgo);
  }

  const play = player((run) => {
    for (const listener of listeners) listener({ run: run.id, state: shownState(run) });
  });
  const derive = (from: number, fork: Fork | null): number => {
    const run = derived(runNamed(from), runs.length + 1, fork);
    runs.push(run);
    return run.id;
  };

  const done = (_: unknown): null => null;
  const now = async <T>(answer: T): Promise<T> => structuredClone(answer);

  const host: Host = {
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
        embedding_model: model.info(),
        settings: chosen,
        revision,
        samples: scenarios.map(sampleOf),
      }),

    async saveSettings(next) {
      checkSettings(next);
      chosen = structuredClone(next);
      desk.settings = chosen;
      return null;
    },

    settingOrigins: async () =>
      now([
        {
          path: "run.parallel_limit",
          source: "environment" as const,
          variable: "TOOL_PARALLEL_LIMIT",
          value: String(chosen.run.parallel_limit),
        },
        { path: "guard.mode", source: "default" as const, variable: null, value: chosen.guard.mode },
      ]),

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
        history: kept(name).map((k) => k.revision),
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
              cache_hits: 0,
            }
          : null,
      };
      return now(detail);
    },

    saveTool: async (spec) => store(spec, "you"),

    async revertTool(name, to) {
      const before =
        kept(name).find((k) => k.revision.revision === to) ??
        refuse("catalog.unknown_revision", `${name} has no revision ${to}`, "Choose one of the list.");
      return store(before.spec, "you");
    },

    async startRun(plan, options) {
      const open =
        plans.find((p) => p.view.id === plan) ??
        refuse("plan.unknown", `There is no planning ${plan}`, "Plan the query again.");
      const run = simulate(
        runs.length + 1,
        open.scenario,
        open.view.planning,
        tools,
        Date.now(),
        options ?? NO_OPTIONS,
      );
      run.shown = 1;
      runs.push(run);
      setTimeout(() => play.advance(run), 0);
      return run.id;
    },

    async cancelRun(id) {
      const run = runNamed(id);
      const seq = run.shown + 1;
      const at_ms = Date.now();
      const event = { seq, at_ms, kind: "run_finished", step: "", text: "The run ended: cancelled" };
      run.events.splice(run.shown, Infinity, {
        ...event,
        tool: "",
        status: "cancelled",
        duration_ms: null,
        apply: (state) => {
          for (const [step, was] of Object.entries(state.steps))
            if (was.finished_ms === null && was.status !== "skipped")
              state.steps[step] = { ...was, status: "cancelled" };
          Object.assign(state, { outcome: "cancelled", duration_ms: at_ms - (state.started_ms ?? 0) });
        },
      });
      run.shown++;
      play.advance(run);
      return null;
    },

    pauseRun: async (id) => done(play.pause(runNamed(id))),
    stepRun: async (id, go) => done(play.go(runNamed(id), go)),
    nextStage: async (id) => done(play.nextStage(runNamed(id))),
    runTo: async (id, step) => done(play.go(runNamed(id), { kind: "to", step })),
    setBreakpoints: async (id, breakpoints) => done(play.setBreakpoints(runNamed(id), breakpoints)),
    runControlState: async (id) => controlStateOf(runNamed(id)),
    parseBreakpoint: async (text) => parseBreakpoint(text),
    editArguments: async (id, step, args) => {
      const run = runNamed(id);
      interject(run, "arguments_edited", step, `${step} has other arguments`, (state) => {
        state.steps[step] = { ...state.steps[step]!, edited_arguments: args };
      });
      return done(play.advance(run));
    },
    editResult: async (id, step, data) =>
      done(
        play.end(runNamed(id), step, "result_edited", `${step} has a result by hand`, (state) => {
          const result = { data, confidence: null, sources: [] };
          const was = state.steps[step]!;
          state.steps[step] = { ...was, status: "succeeded", result, edited_result: true, finished_ms: Date.now() };
        }),
      ),
    skipStep: async (id, step) =>
      done(
        play.end(runNamed(id), step, "step_skipped", `${step} is skipped by hand`, (state) => {
          state.steps[step] = { ...state.steps[step]!, status: "skipped", skip: { kind: "by_hand" } };
        }),
      ),
    retryStep: async (id, step) => {
      const run = runNamed(id);
      interject(run, "retry_requested", step, `${step} is to be tried again`, (state) => {
        state.steps[step] = { ...state.steps[step]!, status: "ready", error: null, finished_ms: null };
      });
      return done(play.advance(run));
    },
    cancelStep: async (id, step) =>
      done(
        play.end(runNamed(id), step, "step_cancelled", `${step} is cancelled`, (state) => {
          state.steps[step] = { ...state.steps[step]!, status: "cancelled", finished_ms: Date.now() };
        }),
      ),
    resumeRun: async () => needsRust(),

    runs: () => now([...runs].reverse().map(summaryOf)),

    async openRun(id) {
      const run = runNamed(id);
      return {
        summary: summaryOf(run),
        state: { ...shownState(run), planning: run.planning },
        graph: makeGraph(run.scenario, run.planning, tools),
        events: run.events.slice(0, Math.min(run.shown, 500)).map(eventRow),
        event_count: run.shown,
      };
    },

    async runAt(id, seq) {
      const run = runNamed(id);
      if (seq < 0 || seq > run.shown)
        refuse("run.unknown_event", `Run ${id} has no event ${seq}`, "Choose an event of the log.");
      return { ...stateAt(run, seq), trails: run.planning.trails, tokens: run.planning.tokens, tools: [] };
    },

    runEvents: async (id, filter, offset, limit) => eventPage(runNamed(id), filter, offset, limit),
    findEvent: async (id, filter, seq, backwards) => eventBeside(runNamed(id), filter, seq, backwards),
    runMarks: async (id) => marksOf(runNamed(id)),
    runTimeline: async (id) => timelineOf(runNamed(id)),
    runTree: async (id) => now(treeOf(runNamed(id), runs)),
    diffRuns: async (a, b) => now(runDiff(runNamed(a), runNamed(b))),
    replayRun: async (id) => derive(id, null),
    async replanRun(id) {
      const run = runNamed(id);
      const view = await host.plan(run.planning.request, null);
      return now({ view, diff: planDiff(run.planning, view.planning) });
    },
    forkRun: async (id, fork) => derive(id, fork),
    forkPreview: async (id, fork, policy) => now(previewOf(runNamed(id), fork, policy)),
    exportRun: async (id) =>
      now({
        path: `/home/you/sample/exports/run-${id}.jsonl`,
        events: runNamed(id).shown,
        bytes: runNamed(id).shown * 410,
      }),
    importRuns: async (paths) =>
      now(
        paths.map((path) => ({
          path,
          run: path.endsWith(".jsonl") ? derive(1, null) : null,
          events: path.endsWith(".jsonl") ? runNamed(1).shown : 0,
          already: false,
          problem: path.endsWith(".jsonl")
            ? null
            : { code: "import.format", message: `${path} is no run`, hint: "Drop a .jsonl file that was exported." },
        })),
      ),
    storage: async () => now(storageOf(runs)),
    pruneRuns: async () => now({ runs: 0, events: 0, bytes: 0 }),
    pinRun: async (id, pinned) => done(Object.assign(runNamed(id), { pinned })),
    deleteRun: async (id) => done(runs.splice(runs.indexOf(runNamed(id)), 1)),

    onFilesDropped: followDrops,

    async onRunAdvanced(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    ...moreCommands(
      desk,
      model,
      (plan) => plans.find((p) => p.view.id === plan)?.view,
      (request, previous) => host.plan(request, previous),
      (settings) => host.saveSettings(settings),
    ),
  };
  return host;
}

const wanted = (scenario: string): boolean =>
  typeof location !== "undefined" && new URLSearchParams(location.search).get("scenario") === scenario;
