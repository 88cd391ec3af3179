/** How tools are found: discovery, what of it stands in the prompt, and capabilities. */
import type { Settings } from "../../../ipc/client";
import { choice, items, line, names, section, toggle, whole } from "../parts";

const group: Settings["discovery"]["directory"]["groups"][number] = {
  name: "",
  title: null,
  trigger: null,
  task_type: null,
  match_namespaces: [],
  match_tags: [],
  match_name_patterns: [],
  tool_names: [],
};
const matcher: Settings["capabilities"]["matchers"][number] = {
  capability: "",
  patterns: [],
  require_literal_url: false,
  forbid_literal_url: false,
  along: [],
};

const TASK_TYPES = ["", "browser", "api", "code", "domain", "unknown"].map((t) => [t, t || "says nothing"] as const);

export const discovery = [
  section(
    "Loading",
    toggle("discovery.enabled", "Deferred tools wait for discovery", "settings-discovery"),
    choice("discovery.default_loading", "A tool that declares nothing loads", [
      ["always", "from the start"],
      ["deferred", "at its first call"],
    ]),
    names("discovery.always_loaded_patterns", "Always loaded: names; * is any text, ? one character"),
    choice("discovery.activation_scope", "An activated tool stays", [
      ["run", "for the run"],
      ["session", "for the session"],
    ]),
    names("discovery.discovery_tools", "Discovery tools; they survive the allow-list"),
  ),
  section(
    "Search",
    whole("discovery.max_search_results", "The most that one search finds; 0 means 10"),
    names("discovery.preferred_namespaces", "Preferred namespaces, the most preferred first"),
    toggle("discovery.fts_fallback_to_regex", "Look for the letters anywhere when no tool ranks by words"),
    toggle("discovery.enable_incremental_index", "Take only differences into the stored index"),
    toggle("discovery.rebuild_index_on_open", "Build the index anew when the workspace opens"),
    line("discovery.cache_dir", "Folder of the stored indexes", "your cache folder"),
  ),
  section(
    "Hints in the prompt",
    toggle("discovery.hints.enabled", "Put a shortlist for the query into the prompt"),
    whole("discovery.hints.top_k", "Tools on it, 1 to 20"),
    toggle("discovery.hints.include_always_loaded", "Also tools that the prompt holds anyway"),
    choice("discovery.hints.search_type", "Found by", [
      ["fts", "words (the index)"],
      ["regex", "regular expression"],
      ["exact", "exact name"],
    ]),
  ),
  section(
    "Directory in the prompt",
    toggle("discovery.directory.enabled", "Put the groups of tools into the prompt"),
    whole("discovery.directory.max_groups", "Groups, 1 to 100"),
    whole("discovery.directory.max_tools_per_group", "Names of each, 0 to 50"),
    toggle("discovery.directory.include_tool_counts", "With the number of tools"),
    toggle("discovery.directory.include_default_groups", "A group of each namespace for the rest"),
    items("discovery.directory.groups", "Groups of your own, before those", "group", group, [
      { key: "name", label: "Name", kind: "text", placeholder: "docs" },
      { key: "title", label: "Title", kind: "text", placeholder: "as the name" },
      { key: "trigger", label: "To be used for", kind: "text", placeholder: "questions about the documents" },
      { key: "task_type", label: "Kind of task", kind: "choice", options: TASK_TYPES },
      { key: "match_namespaces", label: "Namespaces", kind: "list" },
      { key: "match_tags", label: "Tags", kind: "list" },
      { key: "match_name_patterns", label: "Names; * is any text", kind: "list" },
      { key: "tool_names", label: "Single tools", kind: "list" },
    ]),
  ),
  section(
    "Examples in tool_get",
    toggle("discovery.examples.enabled", "Show examples of a tool"),
    whole("discovery.examples.max_examples_per_tool", "Of each tool at most, 1 to 10"),
    toggle("discovery.examples.include_descriptions", "With the example's query and result"),
  ),
];

export const capabilities = [
  section(
    "Extensions",
    names("capabilities.enabled_extensions", "Enabled: names of the core catalog, aliases, namespaces or tools"),
    toggle("capabilities.use_core_catalog", "Use the bundled core catalog"),
  ),
  section(
    "Suggestions",
    toggle("capabilities.suggest", "Suggest capabilities by the words of the query"),
    items("capabilities.matchers", "Matchers beside the core's", "matcher", matcher, [
      { key: "capability", label: "Capability", kind: "text", placeholder: "research.search" },
      { key: "patterns", label: "Patterns, one a line", kind: "lines", placeholder: "look up" },
      { key: "along", label: "Brings along the capabilities", kind: "list" },
      { key: "require_literal_url", label: "Only with a URL in the query", kind: "toggle" },
      { key: "forbid_literal_url", label: "Only without one", kind: "toggle" },
    ]),
  ),
];
