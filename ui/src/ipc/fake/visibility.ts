/** Which tools the in-browser host shows: enough of the engine's gates to make the views move. */
import type { CatalogRow, Outcome, Request, Settings, ToolSpec, Trail, Verdict } from "../client";

export const verdict = (
  gate: Verdict["gate"],
  outcome: Outcome,
  rule: string,
  reason: string,
  more: Partial<Verdict> = {},
): Verdict => ({
  gate,
  outcome,
  rule,
  reason,
  evidence: [],
  config_key: null,
  ...more,
});

export function visibilityTrail(tool: ToolSpec, request: Request, settings: Settings): Trail {
  const mode = settings.modes.find((m) => m.name === (request.mode || settings.default_mode));
  const state = request.state === "ACTION" && request.intent === "" ? "REASONING" : request.state;
  const denied = settings.policy.denied.includes(tool.name) || settings.kill_switch.includes(tool.name);
  const unlisted = settings.policy.allowed !== null && !settings.policy.allowed.includes(tool.name);
  const verdicts = [
    verdict("registered", "kept", "registered", "Registered in the catalog"),
    denied
      ? verdict("policy", "hidden", "policy.denied", "Denied by the tool policy", { config_key: "policy.denied" })
      : unlisted
        ? verdict("policy", "hidden", "policy.not_allowed", "Not on the allow-list", { config_key: "policy.allowed" })
        : verdict("policy", "kept", "policy.allowed", "Allowed by the tool policy"),
    verdict("visibility", "kept", "visibility.open", "No visibility rule hides it from this session"),
    !mode
      ? verdict("mode", "kept", "mode.none", "No mode is set")
      : mode.groups.includes(tool.group) || tool.name === "select_intent"
        ? verdict("mode", "kept", "mode.permits", `Permitted by the mode ${mode.name}`)
        : verdict("mode", "hidden", "mode.group", `The mode ${mode.name} does not permit the group ${tool.group}`, {
            config_key: "modes",
          }),
    state === "ACTION"
      ? verdict("state", "kept", "state.action", "ACTION shows all that the mode permits")
      : tool.classification === "SAFE"
        ? verdict("state", "kept", "state.safe", `SAFE tools are shown in ${state}`)
        : tool.classification === "DESTRUCTIVE"
          ? verdict(
              "state",
              "hidden",
              "state.destructive",
              `Hidden in ${state}: DESTRUCTIVE until an intent is selected`,
            )
          : verdict("state", "hidden", "state.unclassified", `Hidden in ${state}: unclassified counts as destructive`),
    tool.loading === "deferred" && settings.discovery.enabled
      ? verdict("loading", "deferred", "loading.deferred", "Its schema is loaded at the first call", {
          config_key: "discovery.enabled",
        })
      : verdict("loading", "kept", "loading.always", "Loaded from the start"),
  ];
  return { tool: tool.name, verdicts };
}

const stops = (v: Verdict) => v.outcome === "hidden" || v.outcome === "dropped" || v.outcome === "not_chosen";
export const decided = (trail: Trail): Verdict => trail.verdicts.find(stops) ?? trail.verdicts.at(-1)!;
export const isVisible = (tool: ToolSpec, request: Request, settings: Settings): boolean =>
  visibilityTrail(tool, request, settings).verdicts.every((v) => v.outcome === "kept");

type Cost = { name: number; description: number; schema: number };
const costs = new WeakMap<ToolSpec, Cost>();

export function costOf(tool: ToolSpec): Cost {
  const cost = costs.get(tool) ?? countOf(tool);
  costs.set(tool, cost);
  return cost;
}

function countOf(tool: ToolSpec): Cost {
  const estimate = (text: string) => Math.ceil(text.length / 3.6);
  return {
    name: estimate(tool.name),
    description: estimate(tool.description) * 2,
    schema: estimate(JSON.stringify(tool.parameters)),
  };
}

export function totalOf(tool: ToolSpec): number {
  const { name, description, schema } = costOf(tool);
  return name + description + schema;
}

export function rowOf(tool: ToolSpec, trail: Trail, visible: boolean): CatalogRow {
  const { gate, outcome, reason } = decided(trail);
  const { name, title, namespace, group, category, classification, loading, side_effects, tags } = tool;
  return {
    name,
    title,
    namespace,
    group,
    category,
    classification,
    loading,
    side_effects,
    tags,
    tokens: totalOf(tool),
    visible,
    gate,
    outcome,
    reason,
    runnable: tool.binding.kind !== "none",
  };
}
