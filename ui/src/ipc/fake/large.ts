/** Plans of the size that the graph, the log and the timeline are measured with; `?scenario=large` or `=longrun`. */
import type { EdgeOf, FakeStep, Scenario } from "./plan";

const STAGES = 40;
const STEPS = 1000;

/** A small linear congruential generator: the same plan on every machine. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return Math.floor((state / 2147483647) * below);
  };
}

const SERVICES = ["login", "billing", "search", "checkout", "mail", "catalog", "session", "audit", "export", "quota"];
const TOPICS = [
  "timeouts",
  "rate limits",
  "error budgets",
  "retries",
  "token expiry",
  "slow queries",
  "open incidents",
];

interface Kind {
  tool: string;
  argument: string;
  ms: number;
  value: (service: string, topic: string, n: number) => string;
}

const SOURCES: Kind[] = [
  { tool: "vector_search", argument: "query", ms: 420, value: (s, t) => `what the docs of ${s} say about ${t}` },
  { tool: "grep_search", argument: "pattern", ms: 80, value: (s, t) => `${s}.*${t.split(" ")[0]}` },
  { tool: "read_file", argument: "path", ms: 15, value: (s, _, n) => `services/${s}/src/handlers/part_${n}.rs` },
  { tool: "jira_get_issue", argument: "issue_key", ms: 650, value: (s, _, n) => `${s.toUpperCase()}-${100 + n}` },
  { tool: "jira_search", argument: "jql", ms: 900, value: (s, t) => `project = ${s} AND text ~ "${t}"` },
  { tool: "confluence_get_page", argument: "page_id", ms: 540, value: (_, __, n) => String(88_000 + n) },
  { tool: "web_fetch", argument: "url", ms: 1200, value: (s, _, n) => `https://status.example.com/${s}/${n}` },
];
const JOINS: Kind[] = [
  { tool: "compare_results", argument: "left", ms: 300, value: () => "" },
  { tool: "verify_claims", argument: "claims", ms: 500, value: () => "" },
  { tool: "summarize", argument: "text", ms: 700, value: () => "" },
  { tool: "synthesize", argument: "results", ms: 850, value: () => "" },
];

/** How many steps each stage has: wide bursts of look-ups, then a few steps that bring them together. */
function widths(below: (n: number) => number): number[] {
  const raw = Array.from({ length: STAGES }, (_, i) =>
    i % 4 === 0 ? 40 + below(30) : i % 4 === 3 ? 4 : 12 + below(14),
  );
  const scale = STEPS / raw.reduce((a, b) => a + b, 0);
  const scaled = raw.map((n) => Math.max(1, Math.round(n * scale)));
  scaled[0]! += STEPS - scaled.reduce((a, b) => a + b, 0);
  return scaled;
}

function stepsAndEdges(fails: (n: number) => Pick<FakeStep, "fails" | "retries">): {
  steps: FakeStep[];
  edges: EdgeOf[];
} {
  const below = random(11);
  const steps: FakeStep[] = [];
  const edges: EdgeOf[] = [];
  let previous: FakeStep[] = [];
  let older: FakeStep[] = [];
  widths(below).forEach((width, at) => {
    const joins = at % 4 === 2 || at % 4 === 3;
    const stage = Array.from({ length: width }, (_, i): FakeStep => {
      const n = steps.length + i;
      const kind = joins ? JOINS[below(JOINS.length)]! : SOURCES[below(SOURCES.length)]!;
      const [service, topic] = [SERVICES[below(SERVICES.length)]!, TOPICS[below(TOPICS.length)]!];
      const id = `step-${n + 1}`;
      // Neighbours in one stage serve neighbours in the next, with a few longer threads between.
      const sources = new Set<FakeStep>();
      const wanted = joins ? 2 + below(3) : at === 0 ? 0 : 1;
      for (let k = 0; k < wanted && previous.length > 0; k++)
        sources.add(previous[Math.min(previous.length - 1, Math.floor((i / width) * previous.length) + below(3))]!);
      if (older.length > 0 && below(12) === 0) sources.add(older[below(older.length)]!);
      const [first] = sources;
      [...sources].forEach((from, k) =>
        edges.push({
          from: from.id,
          to: id,
          kind: k === 0 || joins ? "data" : "order",
          label: k === 0 || joins ? `${kind.argument} ← /items/${k}` : "",
          implied: false,
        }),
      );
      return {
        id,
        tool: kind.tool,
        args: { [kind.argument]: joins && first ? { $from: first.id, path: "/items" } : kind.value(service, topic, n) },
        stage: at + 1,
        ms: Math.round(kind.ms * (0.5 + below(100) / 70)),
        critical: below(120) === 0,
        ...(kind.tool === "vector_search" ? { fallback: "grep_search" } : {}),
        ...fails(n),
      };
    });
    steps.push(...stage);
    older = previous;
    previous = stage;
  });
  return { steps, edges };
}

function scenario(title: string, query: string, fails: (n: number) => Pick<FakeStep, "fails" | "retries">): Scenario {
  const { steps, edges } = stepsAndEdges(fails);
  return {
    title,
    shows: `${steps.length.toLocaleString("en-US")} steps in ${STAGES} stages.`,
    query,
    modelText: "",
    path: "offline",
    pathReason: "No model was asked",
    proposals: [...SOURCES, ...JOINS].map(({ tool }) => ({
      tool,
      args: {},
      reason: "Serves the audit",
      rule: "large",
    })),
    steps,
    edges,
    subQueries: ["Look up every service", "Compare what was found", "Write it down"],
  };
}

export function largeScenarios(search: string): Scenario[] {
  const wanted = new URLSearchParams(search).get("scenario");
  if (wanted === "large") {
    const query = "Audit all services: look up docs, tickets and code, compare them and write a report";
    return [scenario("A thousand steps", query, (n) => (n % 37 === 5 ? { fails: n % 3 === 0 ? 9 : 1 } : {}))];
  }
  if (wanted === "longrun") {
    const query = "Poll all services until each of them has answered";
    // Every step is tried some 33 times: three events each.
    return [
      scenario("A hundred thousand events", query, (n) => ({ fails: 25 + (n % 16), retries: n % 211 === 7 ? 20 : 60 })),
    ];
  }
  return [];
}
