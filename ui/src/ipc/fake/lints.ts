/** What the in-browser host finds wrong with its tools: a few rules, enough to fill the views. */
import type { Lint, LintPage, LintQuery, Severity, ToolSpec } from "../client";
import type { Desk } from "./desk";

const RANK: Record<Severity, number> = { error: 0, warning: 1, info: 2 };
let cache: { revision: number; settings: unknown; lints: Lint[] } | null = null;

export function lintsOf(desk: Desk): Lint[] {
  if (cache?.revision === desk.revision && cache.settings === desk.settings) return cache.lints;
  const lints = desk.tools.flatMap((t) => toolLints(t, desk));
  lints.sort((a, b) => RANK[a.severity] - RANK[b.severity] || a.code.localeCompare(b.code));
  cache = { revision: desk.revision, settings: desk.settings, lints };
  return lints;
}

type Schema = { properties?: Record<string, { description?: string }>; required?: string[] };

function toolLints(tool: ToolSpec, desk: Desk): Lint[] {
  const found: Lint[] = [];
  const target = { kind: "tool" as const, name: tool.name };
  const { properties = {}, required = [] } = tool.parameters as Schema;
  const unknown = required.filter((r) => !(r in properties));
  if (unknown.length > 0)
    found.push({
      code: "schema.required_unknown",
      severity: "error",
      message: `${tool.name} requires ${unknown.join(", ")}, which it does not describe`,
      tools: [tool.name],
      field: "parameters",
      fix: {
        title: `Remove ${unknown.join(", ")} from the required arguments`,
        target,
        patch: { parameters: { required: required.filter((r) => r in properties) } },
      },
    });
  if (tool.classification === "unclassified")
    found.push({
      code: "tool.unclassified",
      severity: "warning",
      message: `${tool.name} is unclassified and counts as destructive`,
      tools: [tool.name],
      field: "classification",
      fix: null,
    });
  for (const line of tool.guidance)
    for (const [name] of line.matchAll(/\b[a-z]+_[a-z_]+\b/g))
      if (!desk.tools.some((t) => t.name === name))
        found.push({
          code: "guidance.phantom_tool",
          severity: "error",
          message: `The guidance of ${tool.name} names ${name}, which is no tool of the catalog`,
          tools: [tool.name],
          field: "guidance",
          fix: {
            title: "Remove the line",
            target,
            patch: { guidance: tool.guidance.filter((l) => l !== line) },
          },
        });
  if (desk.tools.length < 1000) {
    const silent = Object.entries(properties).filter(([, p]) => !p.description);
    if (silent.length > 1)
      found.push({
        code: "schema.undocumented",
        severity: "info",
        message: `${tool.name} does not say what ${silent.map(([n]) => n).join(" and ")} are`,
        tools: [tool.name],
        field: "parameters",
        fix: null,
      });
  }
  return found;
}

const fits = (lint: Lint, query: LintQuery) =>
  (query.codes.length === 0 || query.codes.includes(lint.code)) &&
  (query.severities.length === 0 || query.severities.includes(lint.severity)) &&
  (query.tools.length === 0 || lint.tools.some((t) => query.tools.includes(t)));

export function lintPage(desk: Desk, query: LintQuery): LintPage {
  const began = performance.now();
  const all = lintsOf(desk);
  const found = all.filter((l) => fits(l, query));
  const codes = new Map<string, { severity: Severity; count: number; fixable: number }>();
  for (const lint of all) {
    const row = codes.get(lint.code) ?? { severity: lint.severity, count: 0, fixable: 0 };
    row.count++;
    if (lint.fix) row.fixable++;
    codes.set(lint.code, row);
  }
  const of = (severity: Severity) => found.filter((l) => l.severity === severity).length;
  return {
    revision: desk.revision,
    total: found.length,
    errors: of("error"),
    warnings: of("warning"),
    infos: of("info"),
    codes: [...codes].map(([code, row]) => ({ code, ...row })),
    lints: found.slice(query.offset, query.offset + query.limit),
    took_ms: performance.now() - began,
  };
}

/** The tools as the fixes of the query leave them. */
export function fixed(desk: Desk, query: LintQuery): ToolSpec[] {
  const merge = (into: unknown, patch: unknown): unknown => {
    if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
    const base = typeof into === "object" && into !== null ? (into as Record<string, unknown>) : {};
    return Object.fromEntries([
      ...Object.entries(base),
      ...Object.entries(patch).map(([k, v]) => [k, merge(base[k], v)] as const),
    ]);
  };
  const specs = new Map<string, ToolSpec>();
  for (const lint of lintsOf(desk).filter((l) => fits(l, query))) {
    if (lint.fix?.target.kind !== "tool") continue;
    const { name } = lint.fix.target;
    specs.set(name, merge(specs.get(name) ?? desk.tool(name), lint.fix.patch) as ToolSpec);
  }
  return [...specs.values()];
}
