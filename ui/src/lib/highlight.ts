/**
 * Cuts a text into segments at the borders of marks that may overlap.
 *
 * Spans count UTF-16 code units, as `String.prototype.slice` does, so no conversion happens here.
 */

export interface Mark {
  start: number;
  end: number;
  /** What the mark stands for: the index of a call, the name of a tool. */
  key: string;
}

export interface Segment {
  text: string;
  /** The keys of all marks that cover the segment, in the order given; empty for plain text. */
  keys: string[];
}

/** Segments in order; joined, their texts are exactly `text`. Marks outside the text are cut to it. */
export function segments(text: string, marks: readonly Mark[]): Segment[] {
  const fitting = marks
    .map((m) => ({ ...m, start: Math.max(0, m.start), end: Math.min(text.length, m.end) }))
    .filter((m) => m.start < m.end);
  const borders = new Set([0, text.length]);
  for (const mark of fitting) borders.add(mark.start).add(mark.end);
  const cuts = [...borders].sort((a, b) => a - b);
  return cuts.slice(1).map((end, i) => {
    const start = cuts[i]!;
    const covering = fitting.filter((m) => m.start <= start && end <= m.end);
    return { text: text.slice(start, end), keys: [...new Set(covering.map((m) => m.key))] };
  });
}
