/** How plans are made and run, and what is kept of it. */
import { ProviderNote } from "../ProviderNote";
import { choice, fraction, items, json, line, names, own, section, toggle, whole } from "../parts";
import { StorageMeter } from "../Storage";

export const planner = [
  section(
    "Planner",
    whole("planner.timeout_ms", "Milliseconds for each reply of the model"),
    whole("planner.max_turns", "Turns while it only searches or selects an intent"),
    fraction("planner.temperature", "Temperature"),
    own(ProviderNote),
  ),
  section(
    "Tokens",
    line("planner.encoding", "Encoding that counts tokens", "o200k_base"),
    whole("planner.context_window", "Context window, tokens"),
    fraction("savings.cached_price", "Price of a cached token, as a part of a fresh one's, 0 to 1"),
    whole("savings.min_cached", "Tokens that a beginning needs to be cached"),
  ),
];

export const run = [
  section(
    "Steps",
    whole("run.parallel_limit", "Steps at once"),
    whole("run.timeout_ms", "Milliseconds of one attempt"),
    choice("run.durability", "An event of a run is safe from", [
      ["process", "the end of the application"],
      ["power", "a power cut too; slower"],
    ]),
  ),
  section(
    "Retries",
    whole("run.retry.max_retries", "Retries after the first attempt"),
    whole("run.retry.base_ms", "Milliseconds before the first retry"),
    choice("run.backoff", "Each pause after it", [
      ["exponential", "is twice the one before"],
      ["linear", "is longer by the first"],
      ["fixed", "is the same"],
    ]),
    whole("run.jitter_percent", "Percent that a retry's pause may lie off; 0 is exactly on time"),
  ),
  section(
    "Timeouts from past calls",
    toggle("run.adaptive_timeout.enabled", "Take a tool's timeout from how long its calls took"),
    fraction("run.adaptive_timeout.factor", "Times the duration that 95 of 100 calls stay below"),
    whole("run.adaptive_timeout.min_ms", "Milliseconds at least"),
    whole("run.adaptive_timeout.max_ms", "Milliseconds at most"),
    whole("run.adaptive_timeout.min_calls", "Calls before it counts"),
  ),
  section(
    "Cache of results",
    toggle("run.cache.enabled", "Answer the same call of a tool that only reads from the cache"),
    whole("run.cache.ttl_s", "Seconds that a result stays"),
    whole("run.cache.max_entries", "Results that are kept at most"),
  ),
  section(
    "Faults",
    json("run.faults", "Injected into every run; a run's own faults come before them", {
      tool: "tool_name*",
      step: "",
      attempts: 1,
      probability: null,
      fault: { kind: "error", class: "transient" },
    }),
  ),
];

export const storage = [
  section(
    "Storage",
    own(StorageMeter),
    whole("retention.max_runs", "Runs that are kept at most; 0 means all"),
    whole("retention.max_age_days", "Days that a run is kept; 0 means for ever"),
    whole("retention.max_megabytes", "Megabytes of events that are kept; 0 means all"),
  ),
  section(
    "Redaction",
    names("redaction.fields", "Fields whose text is left out before anything is stored"),
    items(
      "redaction.patterns",
      "Texts that are left out, and the name that stands in their place",
      "pattern",
      { name: "", pattern: "" },
      [
        { key: "name", label: "Name", kind: "text", placeholder: "customer number" },
        { key: "pattern", label: "Regular expression", kind: "text", placeholder: "C-[0-9]{6}" },
      ],
    ),
  ),
];

export const network = [
  section(
    "Network",
    line("network.jira_url", "Base URL of Jira", "none"),
    line("network.confluence_url", "Base URL of Confluence", "none"),
    toggle("network.allow_private", "Fetches may reach private and loopback addresses"),
    whole("network.max_bytes", "Bytes of an answer after which reading stops"),
  ),
];
