/** A text in three parts: what is the same at the beginning, what differs, and what is the same at the end. */
type Parts = [string, string, string];

/** How much of a long text that stays the same is still shown. */
const SHOWN = 60;

/** Both texts taken apart where they differ. */
export function differing(before: string, after: string): [Parts, Parts] {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  let end = 0;
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  // Not in the middle of a character of two code units.
  if (start > 0 && isHigh(before.charCodeAt(start - 1))) start--;
  if (end > 0 && isLow(before.charCodeAt(before.length - end))) end--;
  const parts = (text: string): Parts => [
    shorten(text.slice(0, start), "start"),
    text.slice(start, text.length - end),
    shorten(text.slice(text.length - end), "end"),
  ];
  return [parts(before), parts(after)];
}

const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;

function shorten(text: string, side: "start" | "end"): string {
  if (text.length <= SHOWN) return text;
  return side === "start" ? `…${text.slice(-SHOWN)}` : `${text.slice(0, SHOWN)}…`;
}
