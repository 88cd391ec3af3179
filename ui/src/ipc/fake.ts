/**
 * An in-browser stand-in for Rust: for `npm run dev` in a plain browser and for component tests.
 *
 * It answers every command from a small hand-made workspace. It imitates shapes and enough behaviour to make the views
 * move; it decides nothing the way the engine does.
 */
import type { Host, Planning, PlanView, Request, RevisionRow, ToolDetail, ToolSpec } from "./client";
import { makeGraph, makePlanning, scenarioFor, type Scenario } from "./fake/plan";
import { changesBetween } from "./fake/changes";
import { largeScenarios } from "./fake/large";
import { followDrops } from "./fake/drops";
import { Runs } from "./fake/runCommands";
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

  const now = async <T>(answer: T): Promise<T> => structuredClone(answer);
  const past: [Scenario, number][] =
    large.length > 0
      ? large.map((s) => [s, 2])
      : [
          [small[1]!, 26],
          [small[2]!, 3],
        ];
  const runs = new Runs(
    desk,
    (plan) => plans.find((p) => p.view.id === plan),
    (request) => host.plan(request, null),
  );
  for (const [scenario, hoursAgo] of past) {
    const { planning } = planFor({ ...emptyRequest, query: scenario.query });
    runs.remember(scenario, planning, Date.now() - hoursAgo * HOUR);
  }

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

    ...runs.commands(),

    onFilesDropped: followDrops,

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
