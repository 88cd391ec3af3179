/**
 * The painted part of the graph. It lies in the viewport and reaches beyond the pane, so that a pan only moves it; it
 * is painted again when the view nears its border, when the zoom has changed, or when what it shows has.
 */
import { useStoreApi, ViewportPortal } from "@xyflow/react";
import { useCallback, useEffect, useLayoutEffect, useRef } from "react";
import { usePalette } from "../lib/palette";
import { drawScene, visibleRect, type Highlights } from "./draw";
import { detailAt } from "./lod";
import type { Rect, Scene } from "./scene";

/** How far the canvas reaches beyond the pane, as a part of the pane's size. */
const MARGIN = 0.3;
/** While the zoom changes, the picture is scaled for so long before it is painted sharp again. */
const SHARPEN_MS = 70;

const contains = (outer: Rect, inner: Rect) =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width &&
  inner.y + inner.height <= outer.y + outer.height;

export function Picture({ scene, lights }: { scene: Scene; lights: Highlights }) {
  const store = useStoreApi();
  const palette = usePalette();
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawn = useRef({ rect: { x: 0, y: 0, width: 0, height: 0 }, zoom: 0, at: 0 });

  const paint = useCallback(() => {
    const { transform, width, height } = store.getState();
    const context = canvas.current?.getContext?.("2d");
    if (!context || width === 0) return;
    const [x, y, zoom] = transform;
    const seen = visibleRect({ x, y, zoom }, width, height);
    const rect = {
      x: seen.x - seen.width * MARGIN,
      y: seen.y - seen.height * MARGIN,
      width: seen.width * (1 + 2 * MARGIN),
      height: seen.height * (1 + 2 * MARGIN),
    };
    drawn.current = { rect, zoom, at: performance.now() };
    const element = context.canvas;
    const scale = window.devicePixelRatio || 1;
    const [wide, high] = [rect.width * zoom, rect.height * zoom];
    if (element.width !== Math.round(wide * scale)) element.width = Math.round(wide * scale);
    if (element.height !== Math.round(high * scale)) element.height = Math.round(high * scale);
    element.style.transform = `translate(${rect.x}px, ${rect.y}px) scale(${1 / zoom})`;
    element.style.width = `${wide}px`;
    element.style.height = `${high}px`;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, wide, high);
    const view = { x: -rect.x * zoom, y: -rect.y * zoom, zoom };
    drawScene(context, scene, view, { width: wide, height: high }, detailAt(zoom, scene.byId.size), lights, palette);
  }, [store, scene, lights, palette]);

  const latest = useRef(paint);
  useLayoutEffect(() => {
    latest.current = paint;
    const frame = requestAnimationFrame(paint);
    return () => cancelAnimationFrame(frame);
  }, [paint]);

  useEffect(() => {
    let frame = 0;
    let timer = 0;
    const again = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        latest.current();
      });
    };
    const follow = () => {
      const { transform, width, height } = store.getState();
      const [x, y, zoom] = transform;
      const { rect, zoom: painted, at } = drawn.current;
      if (!contains(rect, visibleRect({ x, y, zoom }, width, height))) return again();
      if (zoom === painted) return;
      const steps = scene.byId.size;
      // Cards and boxes must never both be seen, nor neither.
      if (detailAt(zoom, steps) !== detailAt(painted, steps) || performance.now() - at > SHARPEN_MS) return again();
      clearTimeout(timer);
      timer = window.setTimeout(again, SHARPEN_MS);
    };
    const stop = store.subscribe(follow);
    return () => {
      stop();
      clearTimeout(timer);
      cancelAnimationFrame(frame);
    };
  }, [store, scene]);

  return (
    <ViewportPortal>
      <canvas ref={canvas} aria-hidden className="graph-picture" />
    </ViewportPortal>
  );
}
