/** The catalog of the in-browser host with its revisions: what edits, undo, history and diffs work on. */
import {
  Problem,
  type CatalogDiff,
  type CatalogRevision,
  type Settings,
  type ToolDiff,
  type ToolSpec,
  type UndoState,
} from "../client";

interface Change {
  before: ToolSpec | null;
  after: ToolSpec;
}

interface Revision {
  row: CatalogRevision;
  changes: Map<string, Change>;
}

export const show = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

export const refuse = (code: string, message: string, hint: string): never => {
  throw new Problem({ code, message, hint });
};

export class Desk {
  tools: ToolSpec[];
  revision = 40;
  settings: Settings;
  readonly revisions: Revision[] = [];
  private done: number[] = [];
  private undone: number[] = [];
  /** Called after every change, for those who keep copies. */
  changed: () => void = () => {};

  constructor(tools: ToolSpec[], settings: Settings) {
    this.tools = tools;
    this.settings = settings;
  }

  tool(name: string): ToolSpec {
    return (
      this.tools.find((t) => t.name === name) ??
      refuse("catalog.unknown_tool", `The catalog has no tool ${name}`, "Choose a tool of the catalog.")
    );
  }

  /** Stores the tools that differ as one revision; returns how many did. */
  put(specs: ToolSpec[], label: string, author = "you", how: "edit" | "undo" | "redo" = "edit", of?: number): number {
    const known = new Map(this.tools.map((t) => [t.name, t]));
    const changes = new Map<string, Change>();
    for (const after of specs) {
      const before = known.get(after.name) ?? null;
      if (before && JSON.stringify(before) === JSON.stringify(after)) continue;
      changes.set(after.name, { before, after });
    }
    if (changes.size === 0) return 0;
    this.tools = this.tools.map((t) => changes.get(t.name)?.after ?? t);
    const names = [...changes.keys()];
    const row: CatalogRevision = {
      revision: ++this.revision,
      at_ms: Date.now(),
      author,
      label,
      tools: names.length,
      examples: names.slice(0, 5),
      undoes: how === "undo" ? of! : null,
      redoes: how === "redo" ? of! : null,
    };
    this.revisions.push({ row, changes });
    if (how === "edit") {
      this.done.push(row.revision);
      this.undone = [];
    }
    this.changed();
    return names.length;
  }

  undoState(): UndoState {
    const step = (revision: number | undefined) => {
      const found = this.revisions.find((r) => r.row.revision === revision);
      return found ? { revision: found.row.revision, label: found.row.label, tools: found.row.tools } : null;
    };
    return { undo: step(this.done.at(-1)), redo: step(this.undone.at(-1)) };
  }

  takeBack() {
    const last = this.done.pop() ?? refuse("catalog.nothing_to_undo", "There is no edit to take back", "Edit a tool.");
    const of = this.revisions.find((r) => r.row.revision === last)!;
    this.undone.push(last);
    this.put(
      [...of.changes.values()].flatMap((c) => (c.before ? [c.before] : [])),
      `Undo: ${of.row.label}`,
      "you",
      "undo",
      last,
    );
    return { revision: this.revision, step: stepOf(of), undo: this.undoState() };
  }

  again() {
    const last = this.undone.pop() ?? refuse("catalog.nothing_to_redo", "Nothing was undone", "Undo an edit first.");
    const of = this.revisions.find((r) => r.row.revision === last)!;
    this.done.push(last);
    this.put(
      [...of.changes.values()].map((c) => c.after),
      `Redo: ${of.row.label}`,
      "you",
      "redo",
      last,
    );
    return { revision: this.revision, step: stepOf(of), undo: this.undoState() };
  }

  /** The tool as it was at `revision`. */
  at(name: string, revision: number): ToolSpec {
    let spec = this.tool(name);
    for (const { row, changes } of [...this.revisions].reverse()) {
      const change = changes.get(name);
      if (row.revision > revision && change?.before) spec = change.before;
    }
    return spec;
  }

  diff(name: string, from: number, to: number | null): ToolDiff {
    return diffOf(name, this.at(name, from), this.at(name, to ?? this.revision));
  }

  catalogDiff(from: number, to: number | null, offset: number, limit: number): CatalogDiff {
    const last = to ?? this.revision;
    const names = new Set(
      this.revisions
        .filter((r) => r.row.revision > Math.min(from, last) && r.row.revision <= Math.max(from, last))
        .flatMap((r) => [...r.changes.keys()]),
    );
    const diffs = [...names]
      .sort()
      .map((n) => this.diff(n, from, last))
      .filter((d) => d.kind !== "same");
    return {
      from,
      to: last,
      added: 0,
      removed: 0,
      changed: diffs.length,
      tools: diffs.slice(offset, offset + limit),
    };
  }

  revert(revision: number): number {
    const names = new Set(
      this.revisions.filter((r) => r.row.revision > revision).flatMap((r) => [...r.changes.keys()]),
    );
    this.put(
      [...names].map((n) => this.at(n, revision)),
      `Catalog as of r${revision}`,
    );
    return this.revision;
  }
}

const stepOf = ({ row }: Revision) => ({ revision: row.revision, label: row.label, tools: row.tools });

export function diffOf(tool: string, before: ToolSpec, after: ToolSpec): ToolDiff {
  const fields = Object.keys(after) as (keyof ToolSpec)[];
  const changed = fields
    .filter((f) => JSON.stringify(before[f]) !== JSON.stringify(after[f]))
    .map((field) => ({ field, before: show(before[field]), after: show(after[field]) }));
  return { tool, kind: changed.length === 0 ? "same" : "changed", changed };
}
