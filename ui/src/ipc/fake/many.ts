/** A catalog of many thousand tools, the same on every machine: `?scenario=20k`. */
import type { ToolSpec } from "../client";

const NAMESPACES = [
  "github", "gitlab", "jira", "confluence", "slack", "gmail", "calendar", "drive", "notion", "linear", "figma",
  "stripe", "shopify", "zendesk", "salesforce", "hubspot", "intercom", "twilio", "datadog", "grafana", "sentry",
  "pagerduty", "aws.s3", "aws.ec2", "aws.iam", "gcp.storage", "azure.blob", "k8s", "docker", "terraform", "postgres",
  "mysql", "mongodb", "redis", "kafka", "elastic", "snowflake", "bigquery", "airtable", "asana",
]; // prettier-ignore
const VERBS: [string, ToolSpec["side_effects"], ToolSpec["classification"]][] = [
  ["get", "read", "SAFE"],
  ["list", "read", "SAFE"],
  ["search", "read", "SAFE"],
  ["count", "read", "unclassified"],
  ["describe", "read", "SAFE"],
  ["create", "write", "DESTRUCTIVE"],
  ["update", "write", "DESTRUCTIVE"],
  ["delete", "write", "unclassified"],
  ["archive", "stateful", "DESTRUCTIVE"],
  ["export", "external", "unclassified"],
];
const NOUNS = [
  "issue", "comment", "user", "team", "project", "label", "branch", "commit", "release", "pipeline", "job", "artifact",
  "deployment", "environment", "secret", "webhook", "invoice", "customer", "order", "product", "price", "refund",
  "ticket", "article", "macro", "contact", "deal", "campaign", "segment", "alert", "monitor", "dashboard", "incident",
  "schedule", "bucket", "object", "policy", "role", "queue", "topic", "index", "table", "column", "row", "snapshot",
  "backup", "session", "token", "event", "message",
]; // prettier-ignore

/** The first `count` combinations, each with a schema, a description and tags of its own. */
export function manyTools(count: number, like: ToolSpec): ToolSpec[] {
  const tools: ToolSpec[] = [];
  const combinations = NAMESPACES.length * VERBS.length * NOUNS.length;
  for (let i = 0; i < count; i++) {
    // 7919 is prime to their number, so every combination comes once before any comes again.
    const at = (i * 7919) % combinations;
    const namespace = NAMESPACES[at % NAMESPACES.length]!;
    const [verb, side_effects, classification] = VERBS[Math.floor(at / NAMESPACES.length) % VERBS.length]!;
    const noun = NOUNS[Math.floor(at / NAMESPACES.length / VERBS.length)]!;
    const turn = Math.floor(i / combinations);
    const name = `${namespace}.${verb}_${noun}${turn > 0 ? `_v${turn + 1}` : ""}`;
    tools.push({
      ...like,
      name,
      namespace,
      group: side_effects === "read" ? "read" : "write",
      category: verb === "search" ? "search" : "external",
      classification,
      side_effects,
      loading: i % 5 === 0 ? "always" : "deferred",
      description: `${verb[0]!.toUpperCase()}${verb.slice(1)}s a ${noun} of ${namespace}. Returns its id, state and the fields that were asked for.`,
      tags: [namespace.split(".")[0]!, noun],
      capabilities: [`${noun}.${verb}`],
      parameters: {
        type: "object",
        properties: {
          [`${noun}_id`]: { type: "string", description: `The id of the ${noun}` },
          fields: { type: "array", items: { type: "string" } },
          limit: { type: "integer" },
        },
        required: i % 331 === 0 ? [`${noun}_id`, "cursor"] : [`${noun}_id`],
      },
    });
  }
  return tools;
}
