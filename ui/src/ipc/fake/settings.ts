import type { Settings } from "../client";

export const settings = (): Settings => ({
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
    jitter_percent: 0,
    adaptive_timeout: { enabled: false, factor: 3, min_ms: 1000, max_ms: 120_000, min_calls: 20 },
    cache: { enabled: true, ttl_s: 300, max_entries: 10_000 },
    faults: [],
    durability: "process",
  },
  network: { jira_url: "", confluence_url: "", allow_private: false, max_bytes: 2_000_000 },
});
