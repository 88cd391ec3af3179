/** Paints the bars of the rows in sight. */
import { elapsed } from "../../lib/format";
import { faded, type Palette } from "../../lib/palette";
import { ticks, type Bar, type Span } from "./timeline";

export const ROW = 24;
export const AXIS = 24;

interface Row {
  bars: Bar[];
  critical: boolean;
  chosen: boolean;
}

const OUTCOME: Record<NonNullable<Bar["outcome"]>, keyof Palette> = {
  succeeded: "kept",
  failed: "dropped",
  timeout: "dropped",
  running: "added",
  cancelled: "hidden",
};

let hatch: { colour: string; pattern: CanvasPattern } | null = null;

/** Diagonal lines: time in which nothing was done. */
function hatched(context: CanvasRenderingContext2D, colour: string): CanvasPattern | string {
  if (hatch?.colour === colour) return hatch.pattern;
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const on = tile.getContext("2d");
  if (!on) return colour;
  on.strokeStyle = colour;
  on.lineWidth = 1.2;
  on.beginPath();
  on.moveTo(-1, 7);
  on.lineTo(7, -1);
  on.stroke();
  const pattern = context.createPattern(tile, "repeat");
  if (!pattern) return colour;
  hatch = { colour, pattern };
  return pattern;
}

export function drawTimeline(
  context: CanvasRenderingContext2D,
  { width, height }: { width: number; height: number },
  span: Span,
  rows: readonly { top: number; row: Row }[],
  brush: Span | null,
  palette: Palette,
) {
  const scale = width / (span.to - span.from);
  const x = (ms: number) => (ms - span.from) * scale;
  context.save();
  context.beginPath();
  context.rect(0, AXIS, width, height - AXIS);
  context.clip();
  context.strokeStyle = faded(palette.border, 0.7);
  context.lineWidth = 1;
  const marks = ticks(span, width);
  context.beginPath();
  for (const tick of marks) {
    context.moveTo(Math.round(x(tick)) + 0.5, AXIS);
    context.lineTo(Math.round(x(tick)) + 0.5, height);
  }
  context.stroke();
  for (const { top, row } of rows) drawRow(context, AXIS + top, row, x, width, palette);
  context.restore();

  context.fillStyle = palette.panel;
  context.fillRect(0, 0, width, AXIS);
  context.fillStyle = palette.muted;
  context.font = `11px ${palette.sans}`;
  context.textBaseline = "middle";
  for (const tick of marks) {
    const text = tick === 0 ? "0" : elapsed(tick);
    // Half a number says something else.
    if (x(tick) + 4 + context.measureText(text).width <= width) context.fillText(text, x(tick) + 4, AXIS / 2);
  }
  context.strokeStyle = palette.border;
  context.beginPath();
  for (const tick of marks) {
    context.moveTo(Math.round(x(tick)) + 0.5, 6);
    context.lineTo(Math.round(x(tick)) + 0.5, AXIS);
  }
  context.moveTo(0, AXIS - 0.5);
  context.lineTo(width, AXIS - 0.5);
  context.stroke();
  if (brush) {
    context.fillStyle = faded(palette.accent, 0.16);
    context.fillRect(x(brush.from), 0, x(brush.to) - x(brush.from), height);
  }
}

function drawRow(
  context: CanvasRenderingContext2D,
  top: number,
  { bars, critical }: Row,
  x: (ms: number) => number,
  width: number,
  palette: Palette,
) {
  const middle = top + ROW / 2;
  for (const bar of bars) {
    const left = Math.max(-2, x(bar.from));
    const right = Math.min(width + 2, x(bar.to));
    if (right < 0 || left > width) continue;
    const wide = Math.max(1.5, right - left);
    if (bar.kind === "queue") {
      context.fillStyle = hatched(context, palette["border-strong"]);
      context.fillRect(left, middle - 4, wide, 8);
    } else if (bar.kind === "backoff") {
      context.strokeStyle = palette.rewritten;
      context.lineWidth = 2;
      context.setLineDash([1.5, 3]);
      context.beginPath();
      context.moveTo(left, middle);
      context.lineTo(right, middle);
      context.stroke();
      context.setLineDash([]);
    } else drawAttempt(context, bar, left, wide, middle, critical, palette);
  }
}

function drawAttempt(
  context: CanvasRenderingContext2D,
  bar: Bar,
  left: number,
  wide: number,
  middle: number,
  critical: boolean,
  palette: Palette,
) {
  const colour = palette[OUTCOME[bar.outcome!]];
  const half = critical ? 8 : 6;
  context.fillStyle = critical ? colour : faded(colour, 0.72);
  context.fillRect(left, middle - half, wide, 2 * half);
  if (critical) {
    context.fillStyle = palette.text;
    context.fillRect(left, middle + half - 2, wide, 2);
  }
  if (bar.outcome === "timeout") {
    // The end was not the tool's: a bar that runs against a wall.
    context.fillStyle = palette.text;
    context.fillRect(left + wide - 2, middle - half - 2, 2, 2 * half + 4);
  }
  if (bar.cached) {
    context.fillStyle = palette.deferred;
    context.beginPath();
    context.moveTo(left, middle - 6);
    context.lineTo(left + 6, middle);
    context.lineTo(left, middle + 6);
    context.lineTo(left - 6, middle);
    context.fill();
  }
}
