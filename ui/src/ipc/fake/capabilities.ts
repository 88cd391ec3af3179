/** What extensions stand for in the in-browser host. */
import type {
  CapabilitySuggestion,
  GuidanceReport,
  PlanningEntry,
  PlanningView,
  Request,
  Settings,
  ToolSpec,
} from "../client";
import { isVisible } from "./visibility";

const ALIASES: Record<string, string> = { web_fetch: "web", web_search: "web", jira: "tickets" };
const IMPLIES: Record<string, string[]> = { tickets: ["read"], write: ["read"] };

export function planningView(tools: ToolSpec[], enabled: string[]): PlanningView {
  const known = new Set(tools.map((t) => t.group));
  const ids: PlanningView["ids"] = [];
  const add = (id: string, came: "enabled" | "alias" | "implied", from: string) => {
    if (ids.some((i) => i.id === id)) return;
    ids.push({ id, came, from });
    for (const next of IMPLIES[id] ?? []) add(next, "implied", from);
  };
  for (const id of enabled) {
    const canonical = ALIASES[id] ?? id;
    add(canonical, canonical === id ? "enabled" : "alias", id);
  }
  const entries = tools
    .filter((t) => ids.some((i) => i.id === t.group) && (t.capabilities.length > 0 || t.guidance.length > 0))
    .map((t): PlanningEntry => {
      const id = ids.find((i) => i.id === t.group)!;
      return {
        tool: t.name,
        extension: t.group,
        came: id.came,
        source: "tool",
        capabilities: t.capabilities,
        guidance: t.guidance,
        registered: true,
      };
    });
  if (ids.some((i) => i.id === "web"))
    entries.push({
      tool: "web_crawl",
      extension: "web",
      came: "enabled",
      source: "core",
      capabilities: ["research.crawl"],
      guidance: ["Crawl a site only when one page does not answer the question."],
      registered: false,
    });
  const byCapability = new Map<string, string[]>();
  for (const e of entries)
    for (const c of e.capabilities) byCapability.set(c, [...(byCapability.get(c) ?? []), e.tool]);
  const canonical = [...new Set(enabled.map((id) => ALIASES[id] ?? id))].sort();
  return {
    display_ids: canonical,
    expanded_ids: ids.map((i) => i.id).sort(),
    ids,
    entries,
    guidance: [...new Set(entries.flatMap((e) => e.guidance))],
    capabilities: [...byCapability].map(([capability, of]) => ({ capability, tools: of })),
    callable: entries.filter((e) => e.registered).map((e) => e.tool),
    phantoms: entries.filter((e) => !e.registered).map((e) => e.tool),
    unknown: canonical
      .filter((id) => !known.has(id))
      .map((id) => ({ id, meant: [...known].find((k) => k.startsWith(id.slice(0, 2))) ?? null })),
    overreach: ids.some((i) => i.came === "implied")
      ? tools
          .filter((t) => t.classification !== "SAFE" && ids.some((i) => i.id === t.group && i.came === "implied"))
          .map((t) => ({ enabled: enabled[0] ?? "", tool: t.name, came: "implied" as const }))
      : [],
    undescribed: tools
      .filter((t) => ids.some((i) => i.id === t.group) && t.capabilities.length + t.guidance.length === 0)
      .map((t) => t.name),
  };
}

export function guidanceOf(tools: ToolSpec[], request: Request, settings: Settings): GuidanceReport {
  const lines: GuidanceReport["lines"] = [];
  const speaking = tools.filter((t) => t.guidance.length > 0);
  const shown = speaking.filter((t) => isVisible(t, request, settings));
  for (const tool of shown) {
    tool.guidance.forEach((line, i) => {
      const same = lines.find((l) => l.line === line);
      if (same) return void same.tools.push(tool.name);
      const words = new Set(line.toLowerCase().match(/\w{4,}/g) ?? []);
      const alike = lines.findIndex((l) => {
        const other = l.line.toLowerCase().match(/\w{4,}/g) ?? [];
        return other.filter((w) => words.has(w)).length > Math.max(4, other.length * 0.6);
      });
      const against = /\b(never|do not)\b/i.test(line);
      const opposite = lines.findIndex((l) => against && /^Always/.test(l.line) && l.line.includes("search"));
      const names = [...line.matchAll(/`([a-z_]+)`/g)].map((m) => m[1]!);
      lines.push({
        line,
        tools: [tool.name],
        index: i + 1,
        source: "tool",
        tokens: Math.ceil(line.length / 4),
        repeats: alike >= 0 && alike !== opposite ? alike + 1 : null,
        contradicts: opposite >= 0 ? [opposite + 1] : [],
        names_hidden: names.filter((n) => {
          const named = tools.find((t) => t.name === n);
          return named !== undefined && !isVisible(named, request, settings);
        }),
        names_absent: names.filter((n) => !tools.some((t) => t.name === n)),
      });
    });
  }
  return { lines, total_lines: lines.length, tokens: lines.reduce((n, l) => n + l.tokens, 0) };
}

const PATTERNS: [string, string[]][] = [
  ["semantic search", ["what does", "say about", "介绍", "tell me"]],
  ["tickets.read", ["PROJ", "ticket", "issue"]],
  ["research.fetch", ["https://", "status"]],
];

export function suggestionsFor(query: string, tools: ToolSpec[]): CapabilitySuggestion[] {
  return PATTERNS.flatMap(([capability, patterns]) => {
    const matches = patterns.flatMap((pattern) => {
      const start = query.toLowerCase().indexOf(pattern.toLowerCase());
      return start < 0
        ? []
        : [
            {
              pattern,
              span: { start, end: start + pattern.length },
              text: query.slice(start, start + pattern.length),
            },
          ];
    });
    const able = tools.filter((t) => t.capabilities.includes(capability)).map((t) => t.name);
    return matches.length > 0 ? [{ capability, tools: able, matches, along_with: null }] : [];
  });
}
