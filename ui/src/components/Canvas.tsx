/** A canvas as large as its place and sharp on every screen, drawn at most once a frame. */
import { useCallback, useEffect, useLayoutEffect, useRef, type ComponentProps } from "react";

export type Draw = (context: CanvasRenderingContext2D, width: number, height: number) => void;

interface CanvasProps extends Omit<ComponentProps<"canvas">, "ref" | "width" | "height"> {
  draw: Draw;
  /** Called with a function that asks for another drawing, for changes that come past React. */
  onReady?: (redraw: () => void) => (() => void) | void;
}

export function Canvas({ draw, onReady, ...rest }: CanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const latest = useRef(draw);
  const frame = useRef(0);

  const paint = useCallback(() => {
    frame.current = 0;
    const element = canvas.current;
    const context = element?.getContext?.("2d");
    if (!element || !context) return;
    const { clientWidth: width, clientHeight: height } = element;
    const scale = window.devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
    if (element.width !== wide) element.width = wide;
    if (element.height !== high) element.height = high;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    latest.current(context, width, height);
  }, []);
  const redraw = useCallback(() => {
    frame.current ||= requestAnimationFrame(paint);
  }, [paint]);

  useLayoutEffect(() => {
    latest.current = draw;
    redraw();
  }, [draw, redraw]);

  useEffect(() => {
    const element = canvas.current;
    const observer = typeof ResizeObserver === "undefined" ? null : new ResizeObserver(paint);
    if (element) observer?.observe(element);
    return () => {
      observer?.disconnect();
      cancelAnimationFrame(frame.current);
      frame.current = 0;
    };
  }, [paint]);

  useEffect(() => onReady?.(redraw), [onReady, redraw]);

  return <canvas ref={canvas} aria-hidden {...rest} />;
}
