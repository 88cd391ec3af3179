/** Turns a scenario into a planning, in the shape that Rust sends. */
import type {
  Evidence,
  Finding,
  FunnelRow,
  Gate,
  GraphEdge,
  GraphView,
  GuardedCall,
  Outcome,
  Planning,
  ReplyPath,
  Request,
  Settings,
  StepSpec,
  ToolSpec,
  Trail,
  Value,
} from "../client";
import { EXECUTION_STATES } from "../client";
import { guidanceOf, suggestionsFor } from "./capabilities";
import { blocksOf, turnsOf } from "./turns";
import { costOf, decided, isVisible, totalOf, verdict, visibilityTrail } from "./visibility";

export type EdgeOf = GraphEdge;

export interface Proposal {
  tool: string;
  args: { [key: string]: Value };
  /** Words of the query that the verdict rests on. */
  evidence?: string[];
  reason?: string;
  rule?: string;
  drop?: { rule: string; reason: string };
  added?: boolean;
}

export interface FakeStep {
  id: string;
  tool: string;
  args: { [key: string]: Value };
  stage: number;
  ms: number | null;
  fallback?: string;
  critical?: boolean;
  mark?: Outcome;
  /** How many attempts fail before one succeeds. */
  fails?: number;
  /** Attempts after the first; 2 unless it says otherwise. */
  retries?: number;
}

export interface Scenario {
  title: string;
  shows: string;
  query: string;
  modelText: string;
  path: ReplyPath;
  pathReason: string;
  proposals: Proposal[];
  steps: FakeStep[];
  edges: EdgeOf[];
  subQueries: string[];
  findings?: Finding[];
}

/** For a query that no scenario knows: one search for the whole text. */
export function scenarioFor(scenarios: Scenario[], query: string): Scenario {
  const known = scenarios.find((s) => s.query === query);
  if (known) return known;
  return {
    title: "",
    shows: "",
    query,
    modelText: "",
    path: "offline",
    pathReason: "No model was asked",
    proposals: [
      {
        tool: "vector_search",
        args: { query },
        evidence: [query],
        reason: "The query holds text to search for",
        rule: "applies.text",
      },
    ],
    steps: [{ id: "step-1", tool: "vector_search", args: { query }, stage: 1, ms: 420 }],
    edges: [],
    subQueries: [query],
  };
}

function evidenceIn(query: string, words: string[] = []): Evidence[] {
  return words.flatMap((text) => {
    const start = query.indexOf(text);
    return start < 0 ? [] : [{ source: { kind: "query" as const }, span: { start, end: start + text.length }, text }];
  });
}

function guarded(proposal: Proposal, query: string, visible: boolean): GuardedCall {
  const { tool, args, reason = "", rule = "", added = false } = proposal;
  const hidden = { rule: "state.hidden", reason: "The model does not see this tool" };
  const drop = proposal.drop ?? (visible ? undefined : hidden);
  const outcome: Outcome = drop ? "dropped" : added ? "added" : "kept";
  const evidence = drop ? [] : evidenceIn(query, proposal.evidence);
  const last = drop
    ? verdict("applicability", "dropped", drop.rule, drop.reason)
    : verdict("applicability", outcome, rule, reason, { evidence });
  const first = verdict(
    "proposed",
    added ? "added" : "kept",
    added ? "proposed.rule" : "proposed.model",
    added ? "Put in by a rule" : "Named in the reply",
  );
  const whitelist = verdict(
    "whitelist",
    "kept",
    "whitelist.none",
    "The routing plan suggests no tools, so none is excluded",
  );
  return {
    call: { tool, arguments: args },
    outcome,
    verdict: last,
    verdicts: [first, whitelist, last],
    sub_query: "",
    would_drop: false,
    after: [],
  };
}

function mentionsIn(text: string, tools: ToolSpec[]): Planning["guard"]["mentions"] {
  const thinkingEnds = text.indexOf("</thinking>");
  return tools
    .flatMap(({ name }) =>
      [...text.matchAll(new RegExp(`\\b${name}\\b`, "g"))].map((m) => ({ tool: name, start: m.index })),
    )
    .map(({ tool, start }) => ({
      tool,
      span: { start, end: start + tool.length },
      negated: /not use $/.test(text.slice(0, start)),
      thinking: start < thinkingEnds,
    }))
    .sort((a, b) => a.span.start - b.span.start);
}

export function makePlanning(
  scenario: Scenario,
  request: Request,
  tools: ToolSpec[],
  settings: Settings,
  revision: number,
): Planning {
  const byName = new Map(tools.map((t) => [t.name, t]));
  const sees = (name: string) => isVisible(byName.get(name)!, request, settings);
  const calls = scenario.proposals.map((p) => guarded(p, scenario.query, sees(p.tool)));
  const alive = new Set(calls.filter((c) => c.outcome !== "dropped").map((c) => c.call.tool));
  const steps = scenario.steps.filter((s) => alive.has(s.tool));
  const trails = tools.map((tool) => trailOf(tool, request, settings, calls));
  const before = new Map<string, string[]>();
  for (const { from, to } of scenario.edges) before.set(to, [...(before.get(to) ?? []), from]);
  return {
    request,
    revision,
    planner: {
      requested: request.planner,
      used: scenario.modelText === "" ? "offline" : "recorded",
      label: scenario.modelText === "" ? "offline" : "recorded/claude",
      fallback_reason:
        request.planner !== "offline" && scenario.modelText === "" ? "No reply is recorded for this query" : "",
      model_ms: scenario.modelText === "" ? null : 840,
    },
    decomposition: {
      query_type: scenario.subQueries.length > 1 ? "comparative" : "simple_lookup",
      sub_queries: scenario.subQueries.map((query, i) => ({
        id: `q${i + 1}`,
        query,
        dependencies: i === 2 ? ["q1", "q2"] : [],
        priority: i + 1,
        purpose: i === 2 ? "compare" : "lookup",
      })),
      confidence: 0.82,
      entities: [],
      reasoning: "Taken apart at the conjunctions",
    },
    candidates: [...alive].map((tool, i) => ({ tool, score: 1 - i * 0.2, matched: ["search"] })),
    guard: {
      path: scenario.path,
      path_reason: scenario.pathReason,
      model_text: scenario.modelText,
      mentions: mentionsIn(scenario.modelText, tools),
      calls,
    },
    plan: { steps: steps.map((s) => stepSpec(s, before.get(s.id) ?? [])), reasoning: "" },
    shape: shapeOf(steps),
    findings: scenario.findings ?? [],
    tokens: tokensOf(tools, request, settings),
    funnel: funnelOf(trails),
    // Beyond this many a planning carries only the trails of the tools that it is about.
    trails: trails.length > 500 ? trails.filter((t) => alive.has(t.tool)) : trails,
    guidance: guidanceOf(tools, request, settings),
    suggestions: settings.capabilities.suggest ? suggestionsFor(request.query, tools) : [],
    blocks: blocksOf(settings),
    discovery: [],
    reply: null,
    ...turnsOf(tools, request, settings, scenario.modelText !== ""),
  };
}

function trailOf(tool: ToolSpec, request: Request, settings: Settings, calls: GuardedCall[]): Trail {
  const trail = visibilityTrail(tool, request, settings);
  if (!trail.verdicts.every((v) => v.outcome === "kept")) return trail;
  const call = calls.find((c) => c.call.tool === tool.name);
  const rest = call
    ? [
        ...call.verdicts,
        ...(call.outcome === "dropped" ? [] : [verdict("planned", "kept", "planned", "A step of the plan")]),
      ]
    : [verdict("proposed", "not_chosen", "proposed.none", "Shown and not proposed")];
  return { tool: tool.name, verdicts: [...trail.verdicts, ...rest] };
}

function stepSpec(step: FakeStep, dependencies: string[]): StepSpec {
  return {
    id: step.id,
    tool: step.tool,
    arguments: step.args,
    dependencies,
    mode: "parallel",
    timeout_ms: null,
    retry: null,
    fallback: step.fallback
      ? { tool: step.fallback, condition: "on_error", threshold: null, arguments: null, timeout_ms: null, retry: null }
      : null,
    critical: step.critical ?? false,
    sub_query: "",
    expected_ms: step.ms,
    cost: null,
  };
}

function stagesOf(steps: FakeStep[]): FakeStep[][] {
  const count = Math.max(0, ...steps.map((s) => s.stage));
  return Array.from({ length: count }, (_, i) => steps.filter((s) => s.stage === i + 1)).filter((s) => s.length > 0);
}

const slowest = (stage: FakeStep[]) => stage.reduce((a, b) => ((b.ms ?? 0) > (a.ms ?? 0) ? b : a));

function shapeOf(steps: FakeStep[]): Planning["shape"] {
  const path = stagesOf(steps).map(slowest);
  const known = steps.every((s) => s.ms !== null);
  return {
    stages: stagesOf(steps).map((stage) => stage.map((s) => s.id)),
    duration_ms: known && steps.length > 0 ? path.reduce((sum, s) => sum + (s.ms ?? 0), 0) : null,
    cost: null,
    critical_path: known ? path.map((s) => s.id) : [],
  };
}

export function makeGraph(scenario: Scenario, planning: Planning, tools: ToolSpec[]): GraphView {
  const planned = new Set(planning.plan.steps.map((s) => s.id));
  const steps = scenario.steps.filter((s) => planned.has(s.id));
  return {
    stages: stagesOf(steps).map((stage, i) => ({
      number: i + 1,
      steps: stage.map((s) => s.id),
      bound_ms: stage.every((s) => s.ms !== null) ? Math.max(...stage.map((s) => s.ms ?? 0)) : null,
    })),
    steps: steps.map((s) => ({
      id: s.id,
      tool: s.tool,
      stage: s.stage,
      classification: tools.find((t) => t.name === s.tool)!.classification,
      key_argument: keyArgument(s),
      expected_ms: s.ms,
      fallback: s.fallback ?? null,
      critical: s.critical ?? false,
      on_critical_path: planning.shape.critical_path.includes(s.id),
      mark: s.mark ?? null,
    })),
    edges: scenario.edges.filter((e) => planned.has(e.from) && planned.has(e.to)),
  };
}

function keyArgument({ args }: FakeStep): string {
  const [name, value] = Object.entries(args)[0] ?? ["", ""];
  const text = typeof value === "string" ? JSON.stringify(value) : `← ${(value as { $from: string }).$from}`;
  return `${name}: ${text.length > 38 ? `${text.slice(0, 20)}…${text.slice(-16)}` : text}`;
}

function tokensOf(tools: ToolSpec[], request: Request, settings: Settings): Planning["tokens"] {
  const sum = (list: ToolSpec[]) => list.reduce((total, t) => total + totalOf(t), 0);
  return {
    encoding: "o200k_base",
    exact: false,
    states: EXECUTION_STATES.map((state) => {
      const visible = tools.filter((t) =>
        isVisible(t, { ...request, state, intent: request.intent || (state === "ACTION" ? "any" : "") }, settings),
      );
      return {
        state,
        full_tools: tools.length,
        visible_tools: visible.length,
        full: sum(tools),
        visible: sum(visible),
        saved: sum(tools) - sum(visible),
      };
    }),
    tools: tools
      .map((t) => ({ tool: t.name, cost: costOf(t), total: totalOf(t), visible: isVisible(t, request, settings) }))
      .sort((a, b) => b.total - a.total)
      .slice(0, 200),
  };
}

const FUNNEL: Gate[] = [
  "registered",
  "policy",
  "visibility",
  "mode",
  "state",
  "loading",
  "proposed",
  "whitelist",
  "applicability",
  "planned",
];

function funnelOf(trails: Trail[]): FunnelRow[] {
  let left = trails.length;
  return FUNNEL.map((gate) => {
    const lost = trails.filter(
      (t) => decided(t).gate === gate && decided(t).outcome !== "kept" && decided(t).outcome !== "added",
    );
    left -= lost.length;
    return { gate, left, lost: lost.length, examples: lost.map((t) => t.tool).slice(0, 50) };
  });
}
