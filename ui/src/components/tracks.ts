/** The widths of a table's columns, which are tracks of CSS grid. */

interface Sized {
  width: string;
}

/** The pixels that a track takes at least: `84px`, `minmax(120px, 1fr)`. */
const leastWidth = ({ width }: Sized): number => Number(/(\d+)px/.exec(width)?.[1] ?? 0);

/** Head and rows are grids of their own; with one common width their columns line up. */
export const tableWidth = (columns: Sized[]): string =>
  `max(100%, ${columns.reduce((sum, c) => sum + leastWidth(c), 0)}px)`;

/** The columns, from the first on, that have room side by side; two at least. */
export function fitting<Column extends Sized>(columns: Column[], room: number): Column[] {
  let taken = 0;
  const first = columns.findIndex((c) => (taken += leastWidth(c)) > room);
  return first < 0 ? columns : columns.slice(0, Math.max(2, first));
}
