import type { SettingOrigin, Settings, Value } from "../client";

const intent = (id: string, title: string, status: Settings["intents"][number]["status"]) => ({
  id,
  title,
  status,
  constraints: status === "active" ? ["Change nothing outside the login service"] : [],
  scope: status === "active" ? ["services/login/**/*.rs"] : [],
  acceptance: [],
});

export const fakeSettings = (): Settings => ({
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
    intent("fix-login", "Fix the login", "active"),
    intent("release", "Prepare the release", "open"),
    intent("move-mail", "Move the mail server", "completed"),
  ],
  tenants: ["acme", "globex"],
  discovery: {
    enabled: true,
    discovery_tools: ["tool_search", "tool_get"],
    default_loading: "always",
    always_loaded_patterns: ["tasks.*", "tool_search", "tool_get", "finish"],
    activation_scope: "run",
    preferred_namespaces: [],
    fts_fallback_to_regex: true,
    enable_incremental_index: true,
    rebuild_index_on_open: false,
    max_search_results: 10,
    cache_dir: "",
    hints: { enabled: true, top_k: 5, include_always_loaded: false, search_type: "fts" },
    directory: {
      enabled: true,
      max_groups: 20,
      max_tools_per_group: 6,
      include_tool_counts: true,
      include_default_groups: true,
      groups: [],
    },
    examples: { enabled: true, max_examples_per_tool: 3, include_descriptions: true },
  },
  guard: { mode: "enforce", scan_thinking: true, add_by_rule: true, noise_prefixes: ["UTF"], projects: [] },
  planner: { timeout_ms: 2000, temperature: 0.3, encoding: "o200k_base", context_window: 200_000, max_turns: 4 },
  redaction: { fields: [], patterns: [] },
  retention: { max_runs: 0, max_age_days: 0, max_megabytes: 0 },
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
  session: { intent_pattern: "", on_message: "clear", max_scope: 20 },
  savings: { cached_price: 0.1, min_cached: 1024 },
  capabilities: {
    enabled_extensions: ["tickets", "web"],
    use_core_catalog: true,
    aliases: [],
    implications: {},
    suggest: true,
    matchers: [],
  },
});

/** As if one of them stood in the environment of the application. */
const VARIABLES: { [path: string]: string } = { "run.parallel_limit": "TOOL_PARALLEL_LIMIT" };

/** Every setting and who decides it; a list is one setting. */
export function originsOf(settings: Settings): SettingOrigin[] {
  const walk = (path: string, value: Value, known: Value): SettingOrigin[] => {
    if (typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0)
      return Object.entries(value).flatMap(([key, part]) =>
        walk(path === "" ? key : `${path}.${key}`, part, (known as { [key: string]: Value })[key] ?? null),
      );
    const variable = VARIABLES[path] ?? null;
    const own = JSON.stringify(value) !== JSON.stringify(known);
    const source = variable !== null ? "environment" : own ? "workspace" : "default";
    return [{ path, source, variable, value: typeof value === "string" ? value : JSON.stringify(value) }];
  };
  const planner = (path: string, variable: string, value: string) => ({
    path,
    source: "default" as const,
    variable,
    value,
  });
  return [
    planner("planner.provider", "TOOL_PLANNER_LLM", "offline"),
    planner("planner.model", "TOOL_PLANNER_MODEL", "none"),
    ...walk("", settings as unknown as Value, fakeSettings() as unknown as Value),
  ];
}
