/** The answers of the in-browser host about catalog, discovery, sessions and capabilities. */
import type { Change, Host, PlanView, Settings } from "../client";
import { planningView } from "./capabilities";
import { refuse, show, type Desk } from "./desk";
import { directoryOf, searchLab, type FakeModel } from "./discovery";
import { fixed, lintPage } from "./lints";
import { matrixPage, Sessions, whyRows } from "./session";
import { labelOf, suggestionFor, Table } from "./table";
import { isVisible, rowOf } from "./visibility";

export function moreCommands(
  desk: Desk,
  model: FakeModel,
  planned: (plan: number | null) => PlanView | undefined,
  plan: Host["plan"],
  save: Host["saveSettings"],
) {
  const now = async <T>(answer: T): Promise<T> => structuredClone(answer);
  const table = new Table(desk, (id) => {
    const view = planned(id);
    if (!view) return null;
    const { request, trails } = view.planning;
    const specs = new Map(desk.tools.map((t) => [t.name, t]));
    return new Map(
      trails.flatMap((trail) => {
        const spec = specs.get(trail.tool);
        return spec ? [[trail.tool, rowOf(spec, trail, isVisible(spec, request, desk.settings))] as const] : [];
      }),
    );
  });
  const sessions = new Sessions(desk);
  const activated = new Map<string, string[]>([["demo", ["web_search"]]]);

  /** What an edit would do to the open plan: here only that a step's tool is hidden from now on. */
  const planChanges = (view: PlanView | undefined, edited: ReturnType<Table["edited"]>): Change[] =>
    (view?.graph.steps ?? []).flatMap((step): Change[] => {
      const after = edited.find((e) => e.after.name === step.tool)?.after;
      return after && view && !isVisible(after, view.planning.request, desk.settings)
        ? [{ subject: "step", name: step.id, before: `${step.tool} ${step.key_argument}`, after: "" }]
        : [];
    });

  return {
    catalogQuery: (query) => now(table.page(query)),
    bulkPreview: (selection, patch, id) =>
      now(table.preview(selection, patch, planChanges(planned(id), table.edited(selection, patch)))),
    async bulkEdit(selection, patch) {
      const specs = table.edited(selection, patch).map((e) => e.after);
      const label = labelOf(specs.length, patch);
      const changed = desk.put(specs, label);
      return { revision: desk.revision, changed, label, undo: desk.undoState(), problems: [] };
    },
    undo: async () => desk.takeBack(),
    redo: async () => desk.again(),
    async catalogHistory(offset, limit) {
      const rows = [...desk.revisions].reverse().map((r) => r.row);
      return { revisions: rows.slice(offset, offset + limit), total: rows.length, undo: desk.undoState() };
    },
    toolDiff: async (name, from, to) => desk.diff(name, from, to),
    catalogDiff: async (from, to, offset, limit) => desk.catalogDiff(from, to, offset, limit),
    revertCatalog: async (revision) => desk.revert(revision),
    planningView: async (extensions) =>
      planningView(desk.tools, extensions ?? desk.settings.capabilities.enabled_extensions),
    lints: (query) => now(lintPage(desk, query)),
    async applyLintFix(query) {
      const specs = fixed(desk, query);
      const tools = desk.put(specs, `${specs.length} ${specs.length === 1 ? "tool" : "tools"}: lint fixes`);
      return { revision: desk.revision, tools, settings_changed: false, problems: [] };
    },
    searchLab: (request, query, hidden) => now(searchLab(desk, request, query, hidden, model.info().installed)),
    toolDirectory: async (request) => directoryOf(desk, request),
    activatedTools: async (session) => activated.get(session) ?? [],
    async deactivateTools(session, tool) {
      activated.set(session, tool === null ? [] : (activated.get(session) ?? []).filter((t) => t !== tool));
      return null;
    },
    embeddingModel: async () => model.info(),
    addEmbeddingModel: async (path) => model.add(path),
    removeEmbeddingModel: async () => model.remove(),
    indexEmbeddings: async () => model.start(),
    cancelIndexEmbeddings: async () => model.cancel(),
    session: (id) => now(sessions.view(id)),
    sessionEvent: (id, event) => now(sessions.on(id, event)),
    async planInSession(id, request, previous) {
      const { state, intent } = sessions.get(id);
      return { plan: await plan({ ...request, state, intent }, previous), session: sessions.view(id) };
    },
    visibilityMatrix: (query) => now(matrixPage(desk, query)),
    whyHidden: (tool, query) => now(whyRows(desk, tool, query)),
    async suggestClassification(selection) {
      const names = new Set(table.names(selection));
      return desk.tools.flatMap((t) => {
        const suggestion = names.has(t.name) ? suggestionFor(t) : null;
        return suggestion ? [{ tool: t.name, suggestion }] : [];
      });
    },
    async importPolicy(text, tryOnly) {
      const before = desk.settings;
      const after = withPolicy(before, text);
      const changed = (Object.keys(after) as (keyof Settings)[]).flatMap((field) => {
        const [was, is] = [show(before[field]), show(after[field])];
        return was === is ? [] : [{ field, before: was, after: is }];
      });
      const notices = after.policy.denied
        .filter((name) => !desk.tools.some((t) => t.name === name))
        .map((name) => ({
          code: "policy.no_such_tool",
          message: `policy.denied names ${name}, which is no tool of the catalog`,
          hint: "correct the name, or leave it for a tool to come",
        }));
      if (!tryOnly) await save(after);
      return { stored: !tryOnly, changed, notices };
    },
    tokenSavings: async (id) =>
      planned(id)?.planning.savings ?? refuse("plan.unknown", `There is no planning ${id}`, "Plan the query again."),
    conversationSavings: async () =>
      refuse("conversation.malformed", "The browser reads no files", "Use the desktop window."),
  } satisfies Partial<Host>;
}

/** What Rust would refuse to store. */
export function checkSettings({ discovery, savings, planner }: Settings): void {
  const within = (path: string, value: number | null, least: number, most: number) => {
    if (value === null || value < least || value > most)
      refuse("settings.out_of_range", `${path} is ${value}`, `Set it to a number from ${least} to ${most}.`);
  };
  within("discovery.hints.top_k", discovery.hints.top_k, 1, 20);
  within("discovery.directory.max_groups", discovery.directory.max_groups, 1, 100);
  within("discovery.directory.max_tools_per_group", discovery.directory.max_tools_per_group, 0, 50);
  within("discovery.examples.max_examples_per_tool", discovery.examples.max_examples_per_tool, 1, 10);
  within("savings.cached_price", savings.cached_price, 0, 1);
  within("planner.max_turns", planner.max_turns, 1, 20);
}

function withPolicy(settings: Settings, text: string): Settings {
  const malformed = (message: string) => refuse("policy.malformed", message, "correct it; nothing was changed");
  let file: Partial<Settings>;
  try {
    file = JSON.parse(text) as Partial<Settings>;
  } catch (thrown) {
    return malformed(`the policy file is not JSON: ${String(thrown)}`);
  }
  const unknown = Object.keys(file).find((key) => !(key in settings));
  if (unknown) malformed(`the policy file has ${unknown}, which nobody reads`);
  return { ...settings, ...file, policy: { ...settings.policy, ...file.policy } };
}
