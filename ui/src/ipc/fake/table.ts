/** The catalog table, lints and history of the in-browser host: the shapes, with as little behaviour as moves the views. */
import { Problem, type Host, type Settings, type ToolSpec } from "../client";
import { costOf, isVisible, rowOf, visibilityTrail } from "./visibility";

interface Shelf {
  tools: ToolSpec[];
  revision: number;
  settings: Settings;
}

type Table = Pick<
  Host,
  | "planningView"
  | "lints"
  | "applyLintFix"
  | "catalogQuery"
  | "bulkPreview"
  | "bulkEdit"
  | "undo"
  | "redo"
  | "catalogHistory"
  | "toolDiff"
  | "catalogDiff"
  | "revertCatalog"
  | "suggestClassification"
>;

function refuse(): never {
  throw new Problem({
    code: "fake.missing",
    message: "The stand-in for Rust does not do this",
    hint: "Open the window instead of a browser.",
  });
}

export function fakeTable(shelf: () => Shelf): Table {
  const none = { undo: null, redo: null };
  return {
    planningView: async () => ({
      display_ids: [],
      expanded_ids: [],
      ids: [],
      entries: [],
      guidance: [],
      capabilities: [],
      callable: [],
      phantoms: [],
      unknown: [],
      overreach: [],
      undescribed: [],
    }),
    lints: async () => ({
      revision: shelf().revision,
      total: 0,
      errors: 0,
      warnings: 0,
      infos: 0,
      codes: [],
      lints: [],
      took_ms: 0.1,
    }),
    applyLintFix: async () => refuse(),
    catalogQuery: async ({ request, filter, offset, limit }) => {
      const { tools, revision, settings } = shelf();
      const text = filter.text.toLowerCase();
      const found = tools.filter((tool) => `${tool.name} ${tool.description}`.toLowerCase().includes(text));
      return structuredClone({
        revision,
        all: tools.length,
        total: found.length,
        offset,
        rows: found.slice(offset, offset + limit).map((tool) => ({
          row: rowOf(tool, visibilityTrail(tool, request, settings), isVisible(tool, request, settings)),
          description: tool.description,
          capabilities: tool.capabilities,
          cost: costOf(tool),
          share: 0.001,
          lints: [],
          suggestion: null,
          stats: null,
          changed_revision: 1,
          changed_ms: 0,
        })),
        facets: [],
        context_window: 200_000,
        undo: none,
        took_ms: 0.1,
      });
    },
    bulkPreview: async () => ({ selected: 0, changed: 0, examples: [], changes: [], problems: [] }),
    bulkEdit: async () => refuse(),
    undo: async () => refuse(),
    redo: async () => refuse(),
    catalogHistory: async () => ({ revisions: [], total: 0, undo: none }),
    toolDiff: async (tool) => ({ tool, kind: "same", changed: [] }),
    catalogDiff: async (from, to) => ({
      from,
      to: to ?? shelf().revision,
      added: 0,
      removed: 0,
      changed: 0,
      tools: [],
    }),
    revertCatalog: async () => refuse(),
    suggestClassification: async () => [],
  };
}
