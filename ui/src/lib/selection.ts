/**
 * Which rows of a table are chosen. The rows are known by their names; the table may hold only some of them, so "all" is
 * not a list of names but the filter itself.
 */

export type Chosen =
  | { kind: "names"; names: ReadonlySet<string> }
  /** Every row that the filter finds. */
  | { kind: "all" };

export const nothing: Chosen = { kind: "names", names: new Set() };
export const everything: Chosen = { kind: "all" };

export const isChosen = (chosen: Chosen, name: string): boolean => chosen.kind === "all" || chosen.names.has(name);

/** How many rows are chosen of `total` that the filter finds. */
export const countOf = (chosen: Chosen, total: number): number => (chosen.kind === "all" ? total : chosen.names.size);

export const only = (name: string): Chosen => ({ kind: "names", names: new Set([name]) });
export const these = (names: Iterable<string>): Chosen => ({ kind: "names", names: new Set(names) });

/** With the row in if it was out, and out if it was in. `all` are the names behind "all". */
export function toggled(chosen: Chosen, name: string, all: Iterable<string> = []): Chosen {
  const names = new Set(chosen.kind === "all" ? all : chosen.names);
  if (!names.delete(name)) names.add(name);
  return { kind: "names", names };
}

/** With the rows of a stretch added. */
export function extended(chosen: Chosen, names: Iterable<string>): Chosen {
  return chosen.kind === "all" ? chosen : { kind: "names", names: new Set([...chosen.names, ...names]) };
}

/** The first and last index of a stretch between two rows, whichever comes first. */
export const stretch = (a: number, b: number): [number, number] => (a < b ? [a, b] : [b, a]);
