/** The whole graph in a corner, with a frame around what the pane shows; dragging the frame moves the view. */
import { useReactFlow, useStore, useStoreApi } from "@xyflow/react";
import { useCallback, useEffect, useRef, type PointerEvent } from "react";
import { Canvas, type Draw } from "../components/Canvas";
import { usePalette } from "../lib/palette";
import { STATUS_COLOUR } from "../lib/statusColour";
import type { StepLook } from "../lib/steps";
import { visibleRect } from "./draw";
import { CARD } from "./layout";
import type { Scene } from "./scene";

const WIDTH = 184;
const HEIGHT = 112;
const PADDING = 6;

export function Overview({
  scene,
  looks,
  shown,
}: {
  scene: Scene;
  looks: Record<string, StepLook>;
  shown: ReadonlySet<string> | null;
}) {
  const { setCenter } = useReactFlow();
  const store = useStoreApi();
  const palette = usePalette();
  const frame = useRef<HTMLDivElement>(null);
  const { bounds } = scene;
  const scale = Math.min((WIDTH - 2 * PADDING) / bounds.width, (HEIGHT - 2 * PADDING) / bounds.height);
  const left = (WIDTH - bounds.width * scale) / 2;
  const top = (HEIGHT - bounds.height * scale) / 2;
  // Where everything is in sight there is nothing to find one's way in.
  const whole = useStore(({ transform: [x, y, zoom], width, height }) => {
    const rect = visibleRect({ x, y, zoom }, width, height);
    return rect.x <= 0 && rect.y <= 0 && rect.x + rect.width >= bounds.width && rect.y + rect.height >= bounds.height;
  });

  const draw = useCallback<Draw>(
    (context) => {
      for (const { step, x, y } of scene.byId.values()) {
        const look = looks[step.id];
        context.globalAlpha = shown === null || shown.has(step.id) ? 1 : 0.2;
        context.fillStyle = look ? palette[STATUS_COLOUR[look.status]] : palette.edge;
        const width = Math.max(1, CARD.width * scale);
        context.fillRect(left + x * scale, top + y * scale, width, Math.max(1, CARD.height * scale * 0.8));
      }
    },
    [scene, looks, shown, palette, scale, left, top],
  );

  useEffect(() => {
    if (whole) return;
    const place = () => {
      const { transform, width, height } = store.getState();
      const [x, y, zoom] = transform;
      const rect = visibleRect({ x, y, zoom }, width, height);
      const style = frame.current?.style;
      if (!style) return;
      style.transform = `translate(${left + rect.x * scale}px, ${top + rect.y * scale}px)`;
      style.width = `${rect.width * scale}px`;
      style.height = `${rect.height * scale}px`;
    };
    place();
    return store.subscribe(place);
  }, [store, scale, left, top, whole]);

  const move = (event: PointerEvent<HTMLDivElement>) => {
    if (event.buttons !== 1) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const box = event.currentTarget.getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left - left) / scale, (event.clientY - box.top - top) / scale];
    void setCenter(x, y, { zoom: store.getState().transform[2], duration: 0 });
  };

  if (whole) return null;
  return (
    <div
      className="graph-overview nopan nowheel"
      aria-hidden
      style={{ width: WIDTH, height: HEIGHT }}
      onPointerDown={move}
      onPointerMove={move}
    >
      <Canvas draw={draw} />
      <div className="graph-overview-frame" ref={frame} />
    </div>
  );
}
