/** Search lab, directory and embedding model of the in-browser host. */
import type {
  Directory,
  LabMethod,
  LabRow,
  MatchedField,
  ModelInfo,
  Request,
  SearchLab,
  SearchQuery,
  ToolSpec,
} from "../client";
import { refuse, type Desk } from "./desk";
import { decided, visibilityTrail } from "./visibility";

type Ranked = { tool: ToolSpec; score: number }[];

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

function fieldsOf(tool: ToolSpec): [string, string][] {
  return [
    ["name", tool.name],
    ["description", tool.description],
    ["tags", tool.tags.join(", ")],
    ["capabilities", tool.capabilities.join(", ")],
  ];
}

function lexical(tools: ToolSpec[], query: string): Ranked {
  const asked = wordsOf(query);
  if (asked.length === 0) return [];
  const stem = (w: string) => w.replace(/(es|s|ing|ed)$/, "");
  const ranked: Ranked = [];
  for (const tool of tools) {
    const name = wordsOf(tool.name.replaceAll("_", " ")).map(stem);
    const text = wordsOf(tool.description).map(stem);
    let score = 0;
    for (const word of asked.map(stem)) {
      if (name.includes(word)) score += 3;
      else if (text.includes(word)) score += 1;
    }
    if (score > 0) ranked.push({ tool, score: Math.min(1, score / (asked.length * 3)) });
  }
  return best(ranked);
}

/** No meaning at all: pairs of letters, so that the column has an order of its own. */
function semantic(tools: ToolSpec[], query: string): Ranked {
  const pairs = (text: string) => new Set(Array.from({ length: text.length - 1 }, (_, i) => text.slice(i, i + 2)));
  const asked = pairs(query.toLowerCase());
  if (asked.size < 2) return [];
  return best(
    tools.slice(0, 3000).map((tool) => {
      const own = pairs(`${tool.name} ${tool.description}`.toLowerCase());
      let shared = 0;
      for (const pair of asked) if (own.has(pair)) shared++;
      return { tool, score: shared / (asked.size + 6) };
    }),
  ).filter((r) => r.score > 0.3);
}

const best = (ranked: Ranked) =>
  ranked.sort((a, b) => b.score - a.score || a.tool.name.localeCompare(b.tool.name)).slice(0, 200);

export function searchLab(
  desk: Desk,
  request: Request,
  asked: SearchQuery,
  hidden: boolean,
  model: boolean,
): SearchLab {
  const query = asked.query.trim();
  const trails = new Map<string, ReturnType<typeof visibilityTrail>>();
  const trail = (tool: ToolSpec) => {
    const known = trails.get(tool.name) ?? visibilityTrail(tool, request, desk.settings);
    trails.set(tool.name, known);
    return known;
  };
  const hides = (tool: ToolSpec) => {
    const verdict = decided(trail(tool));
    return verdict.outcome === "hidden" ? verdict : null;
  };
  const tools = hidden ? desk.tools : desk.tools.filter((t) => !hides(t));
  const errors: Partial<Record<LabMethod, string>> = {};
  let pattern: RegExp | null = null;
  try {
    pattern = query === "" ? null : new RegExp(query, "i");
  } catch (thrown) {
    errors.regex = thrown instanceof Error ? thrown.message.replace("Invalid regular expression: ", "") : "no pattern";
  }
  if (!model) errors.semantic = "no embedding model is installed";
  const find: Record<LabMethod, () => Ranked> = {
    exact: () => tools.filter((t) => t.name === query || t.aliases.includes(query)).map((tool) => ({ tool, score: 1 })),
    regex: () =>
      pattern
        ? best(
            tools
              .filter((t) => pattern.test(t.name) || pattern.test(t.description))
              .map((tool) => ({ tool, score: pattern.test(tool.name) ? 0.9 : 0.5 })),
          )
        : [],
    lexical: () => lexical(tools, query),
    semantic: () => (model ? semantic(tools, query) : []),
  };
  const rows = new Map<string, LabRow>();
  const rankings = (Object.keys(find) as LabMethod[]).map((method) => {
    const began = performance.now();
    const ranked = find[method]();
    const duration_ms = performance.now() - began;
    ranked.slice(0, asked.limit).forEach(({ tool, score }, i) => {
      const why = hides(tool);
      const row: LabRow = rows.get(tool.name) ?? {
        tool: tool.name,
        namespace: tool.namespace,
        exact: null,
        regex: null,
        lexical: null,
        semantic: null,
        fields: matched(tool, query, pattern),
        loading: tool.loading,
        visible: !why,
        gate: why?.gate ?? null,
        reason: why?.reason ?? "",
      };
      rows.set(tool.name, { ...row, [method]: { rank: i + 1, score } });
    });
    return { method, found: ranked.length, duration_ms, error: errors[method] ?? "" };
  });
  return { rankings, rows: [...rows.values()] };
}

function matched(tool: ToolSpec, query: string, pattern: RegExp | null): MatchedField[] {
  const words = wordsOf(query).filter((w) => w.length > 2);
  const finder =
    words.length > 0 ? new RegExp(words.map((w) => w.replace(/(es|s)$/, "")).join("|"), "gi") : pattern && /$^/;
  return fieldsOf(tool).flatMap(([field, text]) => {
    const spans = finder
      ? [...text.matchAll(new RegExp(finder.source, "gi"))]
          .filter((m) => m[0] !== "")
          .map((m) => ({ start: m.index, end: m.index + m[0].length }))
      : [];
    return spans.length > 0 ? [{ field, text, spans }] : [];
  });
}

export function directoryOf(desk: Desk, request: Request): Directory {
  const { directory } = desk.settings.discovery;
  const by = new Map<string, string[]>();
  for (const tool of desk.tools) {
    if (decided(visibilityTrail(tool, request, desk.settings)).outcome === "hidden") continue;
    const name = tool.namespace || tool.group || "core";
    by.set(name, [...(by.get(name) ?? []), tool.name]);
  }
  const groups = [...by].map(([name, tools]) => ({
    name,
    title: null,
    trigger: `${name} tools`,
    task_type: null,
    tools: tools.length,
    examples: [...tools].sort((a, b) => a.length - b.length).slice(0, directory.max_tools_per_group),
  }));
  const shown = groups.slice(0, directory.max_groups);
  const lines = shown.map(
    (g) =>
      `- ${g.name}: ${g.trigger}${directory.include_tool_counts ? ` (${g.tools})` : ""}\n  e.g. ${g.examples.join(", ")}`,
  );
  return {
    groups: shown,
    left_out: groups.length - shown.length,
    text: `<tool_directory>\nGroups of tools that can be found and called:\n${lines.join("\n")}\n</tool_directory>`,
  };
}

/** A model that reads a few hundred tools a second. */
export class FakeModel {
  private label = "";
  private indexed = 0;
  private indexing = false;

  constructor(private readonly desk: Desk) {}

  info(): ModelInfo {
    const installed = this.label !== "";
    const total = this.desk.tools.length;
    return {
      installed,
      label: installed ? this.label : "words only",
      note: !installed
        ? "Tools are found by their words; add a model to find them by meaning too"
        : this.indexed < total
          ? `Tools are found by their words until ${this.label} has read all of them`
          : `Tools are found by words and by meaning, with ${this.label}`,
      indexed: this.indexed,
      total,
      indexing: this.indexing,
      in_use: installed && this.indexed >= total,
      problem: null,
    };
  }

  add(path: string): ModelInfo {
    if (!path.includes("/"))
      refuse(
        "embedding.not_found",
        `There is no model at ${path}`,
        "Name a folder with model.safetensors and tokenizer.json, or a package file.",
      );
    this.label = path
      .split("/")
      .filter(Boolean)
      .at(-1)!
      .replace(/\.\w+$/, "");
    return this.start();
  }

  start(): ModelInfo {
    this.indexing = true;
    const step = () => {
      if (!this.indexing) return;
      this.indexed = Math.min(this.desk.tools.length, this.indexed + Math.max(3, this.desk.tools.length / 40));
      this.indexed = Math.floor(this.indexed);
      if (this.indexed < this.desk.tools.length) setTimeout(step, 120);
      else this.indexing = false;
    };
    setTimeout(step, 120);
    return this.info();
  }

  cancel(): ModelInfo {
    this.indexing = false;
    return this.info();
  }

  remove(): ModelInfo {
    this.label = "";
    this.indexed = 0;
    this.indexing = false;
    return this.info();
  }
}
