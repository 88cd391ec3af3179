/** Who may see and do what: policy, modes, visibility rules, sessions, and the guard. */
import type { Intent, Settings } from "../../../ipc/client";
import { INTENT_STATUS } from "../../../lib/words";
import { AllowList } from "../AllowList";
import { choice, items, line, names, own, section, toggle, whole, type Options } from "../parts";
import { PolicyImport } from "../PolicyImport";

const mode: Settings["modes"][number] = { name: "", title: "", groups: [], tools: [] };
const rule: Settings["visibility"][number] = {
  id: "",
  tenants: [],
  except_tenants: [],
  users: [],
  unless_flag: "",
  hide: [],
  hide_tags: [],
};
const intent: Intent = { id: "", title: "", status: "open", constraints: [], scope: [], acceptance: [] };

const modes = (settings: Settings): Options => [
  ["", "no mode filter"],
  ...settings.modes.filter((m) => m.name !== "").map((m) => [m.name, m.title || m.name] as const),
];

export const policy = [
  section(
    "Tool policy",
    own(AllowList),
    names("policy.denied", "Denied tools; they win over the allow-list", { testId: "settings-denied" }),
    names("policy.require_tags", "Tags that every tool must carry", { plain: true }),
    names("kill_switch", "Kill switch: tools that nobody sees", { testId: "settings-kill-switch" }),
    own(PolicyImport),
  ),
  section(
    "Modes",
    choice("default_mode", "Mode of a request that names none", modes),
    items("modes", "Sets of tool groups that may be used together", "mode", mode, [
      { key: "name", label: "Name", kind: "text", placeholder: "research" },
      { key: "title", label: "Title", kind: "text", placeholder: "Research" },
      { key: "groups", label: "Groups of tools", kind: "list" },
      { key: "tools", label: "Single tools beside them", kind: "list" },
    ]),
  ),
  section(
    "Visibility rules",
    items("visibility", "They hide tools from some sessions, and never show one", "rule", rule, [
      { key: "id", label: "Name", kind: "text", placeholder: "beta" },
      { key: "unless_flag", label: "While this flag is off", kind: "text", placeholder: "always" },
      { key: "tenants", label: "For tenants", kind: "list", placeholder: "all" },
      { key: "except_tenants", label: "But not for", kind: "list" },
      { key: "users", label: "For users", kind: "list", placeholder: "all" },
      { key: "hide_tags", label: "Hides tools with the tags", kind: "list" },
      { key: "hide", label: "Hides the tools; * at the end of a name is any rest", kind: "list", placeholder: "none" },
    ]),
  ),
];

export const session = [
  section(
    "Intents",
    items("intents", "What a session commits to before it sees destructive tools", "intent", intent, [
      { key: "id", label: "Id", kind: "text", placeholder: "REQ-1" },
      { key: "title", label: "Title", kind: "text" },
      { key: "status", label: "Status", kind: "choice", options: Object.entries(INTENT_STATUS) },
      { key: "scope", label: "Scope: path patterns, one a line", kind: "lines", placeholder: "says nothing of files" },
      { key: "constraints", label: "Constraints, one a line", kind: "lines" },
      { key: "acceptance", label: "Met when, one a line", kind: "lines" },
    ]),
  ),
  section(
    "Handshake",
    names("handshake_tools", "Tools that select an intent; every mode and state shows them"),
    line("session.intent_pattern", "Regular expression that ids of intents match", "any id"),
    choice("session.on_message", "A new message", [
      ["clear", "clears the intent"],
      ["reconfirm", "offers the intent to be selected again"],
    ]),
    whole("session.max_scope", "Path patterns that an intent's scope may have"),
    names("tenants", "Tenants that the window offers", { plain: true }),
  ),
];

export const guard = [
  section(
    "Guard",
    choice(
      "guard.mode",
      "Mode",
      [
        ["enforce", "Enforce: drop what does not apply"],
        ["audit", "Audit: report it and let it through"],
      ],
      "settings-guard-mode",
    ),
    toggle("guard.scan_thinking", "Read tool mentions inside thinking text"),
    toggle("guard.add_by_rule", "Add the matching tool when the query names a key or URL"),
    names("guard.noise_prefixes", "Prefixes that are no Jira project"),
    names("guard.projects", "Jira projects; empty means any", { placeholder: "any" }),
  ),
];
