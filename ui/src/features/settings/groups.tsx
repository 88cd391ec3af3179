/** What each group of the settings holds. */
import type { ReactNode } from "react";
import type { AppInfo, Settings } from "../../ipc/client";
import { useWindow, type Theme } from "../../lib/store";
import { Choice, Fraction, Items, Line, Names, Toggle, Whole } from "./Fields";
import { Intents } from "./Intents";
import type { GroupId } from "./paths";
import { PolicyImport } from "./PolicyImport";
import { StorageMeter } from "./Storage";

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <fieldset className="settings-group">
      <legend>{title}</legend>
      {children}
    </fieldset>
  );
}

interface GroupProps {
  info: AppInfo;
  settings: Settings;
  change: (settings: Settings) => void;
}

function Policy({ settings, change }: GroupProps) {
  const { policy } = settings;
  return (
    <>
      <Group title="Tool policy">
        <label className="check">
          <input
            type="checkbox"
            data-testid="settings-allow-list"
            checked={policy.allowed !== null}
            onChange={(e) => change({ ...settings, policy: { ...policy, allowed: e.target.checked ? [] : null } })}
          />
          Only tools of an allow-list
        </label>
        {policy.allowed !== null && (
          <Names
            path={"policy.allowed" as "policy.denied"}
            label="Allowed tools"
            testId="settings-allowed"
            placeholder="nothing is allowed"
          />
        )}
        <Names path="policy.denied" label="Denied tools; they win over the allow-list" testId="settings-denied" />
        <Names path="policy.require_tags" label="Tags that every tool must carry" plain />
        <Names path="kill_switch" label="Kill switch: tools that nobody sees" testId="settings-kill-switch" />
        <PolicyImport />
      </Group>
      <Group title="Modes">
        <Choice
          path="default_mode"
          label="Mode of a request that names none"
          options={[["", "no mode filter"], ...settings.modes.map((m) => [m.name, m.title || m.name] as const)]}
        />
        <Items
          path="modes"
          label="Modes: sets of tool groups that may be used together"
          example={{ name: "research", title: "Research", groups: ["read"], tools: [] }}
        />
      </Group>
      <Group title="Visibility rules">
        <Items
          path="visibility"
          label="They hide tools from some tenants and users, or until a flag is on; they only narrow"
          example={{
            id: "beta",
            tenants: [],
            except_tenants: [],
            users: [],
            unless_flag: "beta",
            hide: ["tool_name*"],
            hide_tags: [],
          }}
        />
      </Group>
    </>
  );
}

function Session({ settings, change }: GroupProps) {
  return (
    <>
      <Group title="Intents">
        <Intents intents={settings.intents} onChange={(intents) => change({ ...settings, intents })} />
      </Group>
      <Group title="Handshake">
        <Names path="handshake_tools" label="Tools that select an intent; every mode and state shows them" />
        <Line
          path="session.intent_pattern"
          label="Regular expression that ids of intents match"
          placeholder="any id"
          testId="settings-intent-pattern"
        />
        <Choice
          path="session.on_message"
          label="A new message"
          options={[
            ["clear", "clears the intent"],
            ["reconfirm", "offers the intent to be selected again"],
          ]}
        />
        <Whole path="session.max_scope" label="Path patterns that an intent's scope may have" />
        <Names path="tenants" label="Tenants that the window offers" plain />
      </Group>
    </>
  );
}

const SEARCH_TYPES = [
  ["fts", "words (the index)"],
  ["regex", "regular expression"],
  ["exact", "exact name"],
] as const;

function Discovery() {
  return (
    <>
      <Group title="Loading">
        <Toggle path="discovery.enabled" label="Deferred tools wait for discovery" testId="settings-discovery" />
        <Choice
          path="discovery.default_loading"
          label="A tool that declares nothing loads"
          options={[
            ["always", "from the start"],
            ["deferred", "at its first call"],
          ]}
        />
        <Names path="discovery.always_loaded_patterns" label="Always loaded: names; * is any text, ? one character" />
        <Choice
          path="discovery.activation_scope"
          label="An activated tool stays"
          options={[
            ["run", "for the run"],
            ["session", "for the session"],
          ]}
        />
        <Names path="discovery.discovery_tools" label="Discovery tools; they survive the allow-list" />
      </Group>
      <Group title="Search">
        <Whole path="discovery.max_search_results" label="The most that one search finds; 0 means 10" />
        <Names path="discovery.preferred_namespaces" label="Preferred namespaces, the most preferred first" />
        <Toggle
          path="discovery.fts_fallback_to_regex"
          label="Look for the letters anywhere when no tool ranks by words"
        />
        <Toggle path="discovery.enable_incremental_index" label="Take only differences into the stored index" />
        <Toggle path="discovery.rebuild_index_on_open" label="Build the index anew when the workspace opens" />
        <Line path="discovery.cache_dir" label="Folder of the stored indexes" placeholder="your cache folder" />
      </Group>
      <Group title="Hints in the prompt">
        <Toggle path="discovery.hints.enabled" label="Put a shortlist for the query into the prompt" />
        <Whole path="discovery.hints.top_k" label="Tools on it, 1 to 20" />
        <Toggle path="discovery.hints.include_always_loaded" label="Also tools that the prompt holds anyway" />
        <Choice path="discovery.hints.search_type" label="Found by" options={SEARCH_TYPES} />
      </Group>
      <Group title="Directory in the prompt">
        <Toggle path="discovery.directory.enabled" label="Put the groups of tools into the prompt" />
        <Whole path="discovery.directory.max_groups" label="Groups, 1 to 100" />
        <Whole path="discovery.directory.max_tools_per_group" label="Names of each, 0 to 50" />
        <Toggle path="discovery.directory.include_tool_counts" label="With the number of tools" />
        <Toggle path="discovery.directory.include_default_groups" label="A group of each namespace for the rest" />
        <Items
          path="discovery.directory.groups"
          label="Groups of your own, before those"
          example={{
            name: "docs",
            title: "Documents",
            trigger: "questions about the documents",
            task_type: null,
            match_namespaces: [],
            match_tags: ["docs"],
            match_name_patterns: [],
            tool_names: [],
          }}
        />
      </Group>
      <Group title="Examples in tool_get">
        <Toggle path="discovery.examples.enabled" label="Show examples of a tool" />
        <Whole path="discovery.examples.max_examples_per_tool" label="Of each tool at most, 1 to 10" />
        <Toggle path="discovery.examples.include_descriptions" label="With the example's query and result" />
      </Group>
    </>
  );
}

function Capabilities() {
  return (
    <>
      <Group title="Extensions">
        <Names
          path="capabilities.enabled_extensions"
          label="Enabled: names of the core catalog, aliases, namespaces or tools"
        />
        <Toggle path="capabilities.use_core_catalog" label="Use the bundled core catalog" />
      </Group>
      <Group title="Suggestions">
        <Toggle path="capabilities.suggest" label="Suggest capabilities by the words of the query" />
        <Items
          path="capabilities.matchers"
          label="Matchers beside the core's"
          example={{
            capability: "research.search",
            patterns: ["look up"],
            require_literal_url: false,
            forbid_literal_url: true,
            along: [],
          }}
        />
      </Group>
    </>
  );
}

function Guard() {
  return (
    <Group title="Guard">
      <Choice
        path="guard.mode"
        label="Mode"
        testId="settings-guard-mode"
        options={[
          ["enforce", "Enforce: drop what does not apply"],
          ["audit", "Audit: report it and let it through"],
        ]}
      />
      <Toggle path="guard.scan_thinking" label="Read tool mentions inside thinking text" />
      <Toggle path="guard.add_by_rule" label="Add the matching tool when the query names a key or URL" />
      <Names path="guard.noise_prefixes" label="Prefixes that are no Jira project" />
      <Names path="guard.projects" label="Jira projects; empty means any" placeholder="any" />
    </Group>
  );
}

function Planner({ info }: GroupProps) {
  return (
    <>
      <Group title="Planner">
        <Whole
          path="planner.timeout_ms"
          label="Milliseconds for each reply of the model"
          testId="settings-planner-timeout"
        />
        <Whole path="planner.max_turns" label="Turns while it only searches or selects an intent" />
        <Fraction path="planner.temperature" label="Temperature" />
        <p className="muted">{info.provider.note}</p>
      </Group>
      <Group title="Tokens">
        <Line path="planner.encoding" label="Encoding that counts tokens" placeholder="o200k_base" />
        <Whole path="planner.context_window" label="Context window, tokens" />
        <Fraction path="savings.cached_price" label="Price of a cached token, as a part of a fresh one's, 0 to 1" />
        <Whole path="savings.min_cached" label="Tokens that a beginning needs to be cached" />
      </Group>
    </>
  );
}

function Run() {
  return (
    <>
      <Group title="Steps">
        <Whole path="run.parallel_limit" label="Steps at once" testId="settings-parallel" />
        <Whole path="run.timeout_ms" label="Milliseconds of one attempt" />
        <Choice
          path="run.durability"
          label="An event of a run is safe from"
          options={[
            ["process", "the end of the application"],
            ["power", "a power cut too; slower"],
          ]}
        />
      </Group>
      <Group title="Retries">
        <Whole path="run.retry.max_retries" label="Retries after the first attempt" />
        <Whole path="run.retry.base_ms" label="Milliseconds before the first retry" />
        <Choice
          path="run.backoff"
          label="Each pause after it"
          options={[
            ["exponential", "is twice the one before"],
            ["linear", "is longer by the first"],
            ["fixed", "is the same"],
          ]}
        />
        <Whole path="run.jitter_percent" label="Percent that a retry's pause may lie off; 0 is exactly on time" />
      </Group>
      <Group title="Timeouts from past calls">
        <Toggle path="run.adaptive_timeout.enabled" label="Take a tool's timeout from how long its calls took" />
        <Fraction path="run.adaptive_timeout.factor" label="Times the duration that 95 of 100 calls stay below" />
        <Whole path="run.adaptive_timeout.min_ms" label="Milliseconds at least" />
        <Whole path="run.adaptive_timeout.max_ms" label="Milliseconds at most" />
        <Whole path="run.adaptive_timeout.min_calls" label="Calls before it counts" />
      </Group>
      <Group title="Cache of results">
        <Toggle path="run.cache.enabled" label="Answer the same call of a tool that only reads from the cache" />
        <Whole path="run.cache.ttl_s" label="Seconds that a result stays" />
        <Whole path="run.cache.max_entries" label="Results that are kept at most" />
      </Group>
      <Group title="Faults">
        <Items
          path="run.faults"
          label="Injected into every run; a run's own faults come before them"
          example={{
            tool: "tool_name*",
            step: "",
            attempts: 1,
            probability: null,
            fault: { kind: "error", class: "transient" },
          }}
        />
      </Group>
    </>
  );
}

function Storage() {
  return (
    <>
      <Group title="Storage">
        <StorageMeter />
        <Whole path="retention.max_runs" label="Runs that are kept at most; 0 means all" />
        <Whole path="retention.max_age_days" label="Days that a run is kept; 0 means for ever" />
        <Whole path="retention.max_megabytes" label="Megabytes of events that are kept; 0 means all" />
      </Group>
      <Group title="Redaction">
        <Names path="redaction.fields" label="Fields whose text is left out before anything is stored" />
        <Items
          path="redaction.patterns"
          label="Texts that are left out: regular expressions with the name that stands in their place"
          example={{ name: "customer number", pattern: "C-[0-9]{6}" }}
        />
      </Group>
    </>
  );
}

function Network() {
  return (
    <Group title="Network">
      <Line path="network.jira_url" label="Base URL of Jira" placeholder="none" />
      <Line path="network.confluence_url" label="Base URL of Confluence" placeholder="none" />
      <Toggle path="network.allow_private" label="Fetches may reach private and loopback addresses" />
      <Whole path="network.max_bytes" label="Bytes of an answer after which reading stops" />
    </Group>
  );
}

function Window({ info }: GroupProps) {
  const theme = useWindow((s) => s.theme);
  const set = useWindow((s) => s.set);
  const facts: [string, string][] = [
    ["Workspace", info.workspace.name],
    ["Folder", info.workspace.root],
    ["Database", info.workspace.database],
    ["Version", info.version],
  ];
  return (
    <Group title="Window">
      <label className="field">
        <span>Theme</span>
        <select data-testid="settings-theme" value={theme} onChange={(e) => set({ theme: e.target.value as Theme })}>
          <option value="auto">as the system</option>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </select>
      </label>
      <dl className="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="mono">{value}</dd>
          </div>
        ))}
      </dl>
    </Group>
  );
}

export const CONTENT: Record<Exclude<GroupId, "json">, (props: GroupProps) => ReactNode> = {
  guard: Guard,
  policy: Policy,
  session: Session,
  discovery: Discovery,
  capabilities: Capabilities,
  planner: Planner,
  run: Run,
  storage: Storage,
  network: Network,
  window: Window,
};
