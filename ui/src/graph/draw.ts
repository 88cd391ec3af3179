/** Paints the scene: edges always, boxes or marks where no cards stand. */
import { faded, type Palette } from "../lib/palette";
import { STATUS_COLOUR } from "../lib/statusColour";
import type { StepLook } from "../lib/steps";
import { CARD } from "./layout";
import { edgesAt, type Detail } from "./lod";
import { curveOf, stepsIn, type Placed, type Rect, type Scene, type SceneEdge } from "./scene";

export interface View {
  /** Screen pixels of the layout's origin. */
  x: number;
  y: number;
  zoom: number;
}

export interface Highlights {
  looks: Record<string, StepLook>;
  selected: string | null;
  /** Steps that a search or filter left; null means all. */
  shown: ReadonlySet<string> | null;
  hovered: SceneEdge | null;
  /** Steps with a breakpoint before them, and whether it is on. */
  breakpoints: ReadonlyMap<string, boolean>;
}

const DIMMED = 0.16;

/** The part of the layout that a pane of this size shows. */
export function visibleRect(view: View, width: number, height: number): Rect {
  return { x: -view.x / view.zoom, y: -view.y / view.zoom, width: width / view.zoom, height: height / view.zoom };
}

export function drawScene(
  context: CanvasRenderingContext2D,
  scene: Scene,
  view: View,
  size: { width: number; height: number },
  detail: Detail,
  lights: Highlights,
  palette: Palette,
) {
  const rect = visibleRect(view, size.width, size.height);
  drawEdges(context, scene, view, rect, detail, lights, palette);
  if (detail === "cards") return;
  const box = detail === "compact" ? drawBox : drawMark;
  const painted = stepsIn(scene, rect);
  for (const placed of painted) box(context, placed, view, lights, palette);
  for (const [id, on] of lights.breakpoints) {
    const placed = scene.byId.get(id);
    if (placed) dot(context, placed, view, on, palette);
  }
  const chosen = lights.selected === null ? undefined : scene.byId.get(lights.selected);
  if (chosen) outline(context, chosen, view, palette.accent);
}

function drawEdges(
  context: CanvasRenderingContext2D,
  scene: Scene,
  view: View,
  rect: Rect,
  detail: Detail,
  { selected, shown, hovered }: Highlights,
  palette: Palette,
) {
  const few = edgesAt(detail, scene.edges.length) === "few";
  const groups: Record<"data" | "order" | "dimmed" | "critical" | "touched", SceneEdge[]> = {
    data: [],
    order: [],
    dimmed: [],
    critical: [],
    touched: [],
  };
  for (const edge of scene.edges) {
    const touched = edge === hovered || edge.from.step.id === selected || edge.to.step.id === selected;
    if (few && !touched && !edge.critical) continue;
    if (!crosses(edge, rect)) continue;
    const dimmed = shown !== null && !(shown.has(edge.from.step.id) && shown.has(edge.to.step.id));
    groups[touched ? "touched" : dimmed ? "dimmed" : edge.critical ? "critical" : edge.kind].push(edge);
  }
  const soft = detail === "compact" ? 0.45 : 1;
  const scale = Math.min(1, view.zoom * 1.4);
  stroke(context, groups.dimmed, view, faded(palette.edge, DIMMED * soft), 1, null);
  stroke(context, groups.order, view, faded(palette.edge, soft), Math.max(0.5, scale), detail);
  stroke(context, groups.data, view, faded(palette.edge, soft), Math.max(0.75, 1.5 * scale), detail);
  stroke(context, groups.critical, view, palette.edge, Math.max(1.5, 3 * scale), detail);
  stroke(context, groups.touched, view, palette.accent, Math.max(1.25, 2 * scale), detail);
}

function crosses(edge: SceneEdge, rect: Rect): boolean {
  const [x0, y0, ax, , bx, , x1, y1] = curveOf(edge);
  return (
    Math.max(x1, ax) >= rect.x &&
    Math.min(x0, bx) <= rect.x + rect.width &&
    Math.max(y0, y1) >= rect.y &&
    Math.min(y0, y1) <= rect.y + rect.height
  );
}

/** One path for all edges of a kind: strokes are what costs. With a detail given, cards get arrow heads. */
function stroke(
  context: CanvasRenderingContext2D,
  edges: readonly SceneEdge[],
  { x, y, zoom }: View,
  colour: string,
  width: number,
  detail: Detail | null,
) {
  if (edges.length === 0) return;
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  for (const edge of edges) {
    const [x0, y0, ax, ay, bx, by, x1, y1] = curveOf(edge);
    context.moveTo(x0 * zoom + x, y0 * zoom + y);
    if (detail === "marks" || detail === null) context.lineTo(x1 * zoom + x, y1 * zoom + y);
    else
      context.bezierCurveTo(ax * zoom + x, ay * zoom + y, bx * zoom + x, by * zoom + y, x1 * zoom + x, y1 * zoom + y);
  }
  context.stroke();
  if (detail !== "cards") return;
  const head = 7 * Math.min(1, zoom) + width;
  context.fillStyle = colour;
  context.beginPath();
  for (const edge of edges) {
    const tip = edge.to.x * zoom + x;
    const middle = (edge.to.y + CARD.height / 2) * zoom + y;
    context.moveTo(tip, middle);
    context.lineTo(tip - head, middle - head * 0.5);
    context.lineTo(tip - head, middle + head * 0.5);
  }
  context.fill();
}

function stripe(placed: Placed, palette: Palette): string {
  const { classification } = placed.step;
  return classification === "SAFE"
    ? palette.kept
    : classification === "DESTRUCTIVE"
      ? palette.dropped
      : palette.rewritten;
}

const isQuiet = (look: StepLook | undefined) =>
  look === undefined || look.status === "pending" || look.status === "skipped" || look.status === "cancelled";

/** The tool's name on the tint of the status. */
function drawBox(context: CanvasRenderingContext2D, placed: Placed, view: View, lights: Highlights, palette: Palette) {
  const { id, tool } = placed.step;
  const look = lights.looks[id];
  const opacity = lights.shown === null || lights.shown.has(id) ? 1 : DIMMED;
  const [x, y] = [placed.x * view.zoom + view.x, placed.y * view.zoom + view.y];
  const [width, height] = [CARD.width * view.zoom, CARD.height * view.zoom];
  const tone = look && !isQuiet(look) ? palette[STATUS_COLOUR[look.status]] : palette.border;
  context.globalAlpha = opacity;
  context.fillStyle = palette.raised;
  context.fillRect(x, y, width, height);
  if (!isQuiet(look)) {
    context.fillStyle = faded(tone, look!.status === "failed" ? 0.3 : 0.2);
    context.fillRect(x, y, width, height);
  }
  context.strokeStyle = tone;
  context.lineWidth = 1;
  context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
  context.fillStyle = stripe(placed, palette);
  context.fillRect(x, y, 3, height);
  const size = Math.min(12, Math.max(9, height * 0.48));
  const fits = Math.floor((width - 10) / (size * 0.605));
  context.fillStyle = isQuiet(look) && look ? palette.muted : palette.text;
  context.font = `${size}px ${palette.mono}`;
  context.textBaseline = "middle";
  context.fillText(
    tool.length <= fits ? tool : `${tool.slice(0, Math.max(1, fits - 1))}…`,
    x + 7,
    y + height / 2 + 0.5,
  );
  context.globalAlpha = 1;
}

/** Only a colour: the status, or before a run whether the tool is safe. */
function drawMark(context: CanvasRenderingContext2D, placed: Placed, view: View, lights: Highlights, palette: Palette) {
  const { id } = placed.step;
  const look = lights.looks[id];
  const shown = lights.shown === null || lights.shown.has(id);
  const width = Math.max(3, CARD.width * view.zoom);
  const height = Math.max(2, CARD.height * view.zoom);
  const [x, y] = [placed.x * view.zoom + view.x, placed.y * view.zoom + view.y];
  context.globalAlpha = shown ? 1 : DIMMED;
  context.fillStyle = look ? palette[STATUS_COLOUR[look.status]] : faded(palette.edge, 0.55);
  if (look && isQuiet(look)) {
    // Nothing happened here: a hollow mark.
    context.fillStyle = palette.raised;
    context.fillRect(x, y, width, height);
    context.strokeStyle = palette["border-strong"];
    context.lineWidth = 1;
    context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
  } else context.fillRect(x, y, width, height);
  if (!look) {
    context.fillStyle = stripe(placed, palette);
    context.fillRect(x, y, Math.max(2, width * 0.1), height);
  }
  context.globalAlpha = 1;
}

/** A breakpoint, beside the step that it stops before. */
function dot(context: CanvasRenderingContext2D, placed: Placed, view: View, on: boolean, palette: Palette) {
  context.beginPath();
  context.arc(placed.x * view.zoom + view.x - 5, (placed.y + CARD.height / 2) * view.zoom + view.y, 3.5, 0, 7);
  context.fillStyle = context.strokeStyle = palette.dropped;
  context.lineWidth = 1.5;
  if (on) context.fill();
  else context.stroke();
}

function outline(context: CanvasRenderingContext2D, placed: Placed, view: View, colour: string) {
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.strokeRect(
    placed.x * view.zoom + view.x - 2,
    placed.y * view.zoom + view.y - 2,
    CARD.width * view.zoom + 4,
    CARD.height * view.zoom + 4,
  );
}
