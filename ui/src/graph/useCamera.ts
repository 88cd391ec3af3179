/** Where the pane looks: fits a new layout, keeps what the person moved to, and brings a chosen step into sight. */
import { getViewportForBounds, useReactFlow, useStore, useStoreApi } from "@xyflow/react";
import { useCallback, useEffect, useRef } from "react";
import { visibleRect } from "./draw";
import { CARD } from "./layout";
import type { Scene } from "./scene";

/** Room for the headers above the first row, in screen pixels. */
const BAND = 26;
const PADDING = 0.04;
const NEAR = 0.8;

/** Beside the first column stand the breakpoints. */
const GUTTER = 18;

export function useCamera(scene: Scene, selected: string | null) {
  const store = useStoreApi();
  const { setViewport, setCenter, zoomTo } = useReactFlow();
  const size = useStore((s) => `${s.width}×${s.height}`);
  const moved = useRef(false);

  const fit = useCallback(() => {
    const { width, height, minZoom } = store.getState();
    if (width === 0 || scene.byId.size === 0) return;
    moved.current = false;
    const { bounds } = scene;
    const room = { ...bounds, x: bounds.x - GUTTER, width: bounds.width + 2 * GUTTER };
    const view = getViewportForBounds(room, width, height - BAND, minZoom, 1, PADDING);
    void setViewport({ ...view, y: view.y + BAND });
  }, [store, scene, setViewport]);

  const reveal = useCallback(
    (id: string, nearer = false) => {
      const placed = scene.byId.get(id);
      const { transform, width, height } = store.getState();
      if (!placed || width === 0) return;
      const [x, y, zoom] = transform;
      const rect = visibleRect({ x, y, zoom }, width, height - BAND);
      const inside =
        placed.x - GUTTER >= rect.x &&
        placed.x + CARD.width <= rect.x + rect.width &&
        placed.y >= rect.y + BAND / zoom &&
        placed.y + CARD.height <= rect.y + rect.height;
      if (inside && !nearer) return;
      moved.current = true;
      const to = nearer ? Math.max(zoom, NEAR) : zoom;
      void setCenter(placed.x + CARD.width / 2, placed.y + CARD.height / 2, { zoom: to, duration: 0 });
    },
    [store, scene, setCenter],
  );

  // A new layout is fitted into the pane, and so is the old one when the pane's size changes, unless the person has
  // moved the picture to where they want it.
  const bounds = `${scene.bounds.width}×${scene.bounds.height}`;
  const fitted = useRef("");
  const latest = useRef(selected);
  latest.current = selected;
  useEffect(() => {
    if (moved.current && fitted.current === bounds) {
      // The inspector has opened over it, or a pane was dragged.
      if (latest.current !== null) reveal(latest.current);
      return;
    }
    fitted.current = bounds;
    fit();
  }, [bounds, size, fit, reveal]);

  useEffect(() => {
    if (selected !== null) reveal(selected);
    // Chosen elsewhere or here: only a new choice moves the view, not a new layout around an old one.
  }, [selected]);

  return {
    fit,
    reveal,
    zoomBy: (factor: number) => {
      moved.current = true;
      void zoomTo(store.getState().transform[2] * factor);
    },
    onMoved: () => (moved.current = true),
  };
}
