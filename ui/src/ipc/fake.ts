/**
 * An in-browser stand-in for Rust: for `npm run dev` in a plain browser and for component tests.
 *
 * It answers every command from a small hand-made workspace. It imitates shapes and enough behaviour to make the views
 * move; it decides nothing the way the engine does.
 */
import {
  type Change,
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
import { simulate, summaryOf, type FakeRun } from "./fake/runs";
import { samples, scenarios } from "./fake/scenarios";
import { fakeTools } from "./fake/tools";
import { Desk, diffOf, refuse } from "./fake/desk";
import { FakeModel } from "./fake/discovery";
import { manyTools } from "./fake/many";
import { checkSettings, moreCommands } from "./fake/more";
import { fakeSettings } from "./fake/settings";
import { costOf, decided, isVisible, rowOf, visibilityTrail } from "./fake/visibility";
import { emptyRequest } from "../lib/store";

const HOUR = 3_600_000;

interface Kept {
  revision: RevisionRow;
  spec: ToolSpec;
}

export function createHost(): Host {
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
        samples,
      }),

    async saveSettings(next) {
      checkSettings(next);
      chosen = structuredClone(next);
      desk.settings = chosen;
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
              cache_hits: null,
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

    runs: () => now([...runs].reverse().map(summaryOf)),

    async openRun(id) {
      const run = runNamed(id);
      const state = { ...run.states[run.shown - 1]!, planning: run.planning };
      return now({
        summary: summaryOf(run),
        state,
        graph: makeGraph(run.scenario, run.planning, tools),
        events: run.events.slice(0, run.shown),
      });
    },

    async runAt(id, seq) {
      return now(
        runNamed(id).states.find((s) => s.seq === seq) ??
          refuse("run.unknown_event", `Run ${id} has no event ${seq}`, "Choose an event of the log."),
      );
    },

    async onRunAdvanced(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    ...moreCommands(
      desk,
      model,
      (plan) => plans.find((p) => p.view.id === plan)?.view,
      (request, previous) => host.plan(request, previous),
    ),
  };
  return host;
}

const wanted = (scenario: string): boolean =>
  typeof location !== "undefined" && new URLSearchParams(location.search).get("scenario") === scenario;

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
