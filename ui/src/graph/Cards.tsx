/** The cards in sight. They are chosen anew only when the view has moved by a card, not with every frame of a pan. */
import { useStore, ViewportPortal, type ReactFlowState } from "@xyflow/react";
import { useMemo } from "react";
import type { StepLook } from "../lib/steps";
import { visibleRect } from "./draw";
import { CARD, COLUMN, ROW_GAP } from "./layout";
import { detailAt } from "./lod";
import { stepsIn, type Scene } from "./scene";
import { StepCard } from "./StepCard";

const ROW = CARD.height + ROW_GAP;

/** The visible part in whole columns and rows, as text, so that equal parts are equal values. */
const visibleCells = (steps: number) => (state: ReactFlowState) => {
  const { transform, width, height } = state;
  const [x, y, zoom] = transform;
  if (detailAt(zoom, steps) !== "cards" || width === 0) return "";
  const rect = visibleRect({ x, y, zoom }, width, height);
  const right = Math.ceil((rect.x + rect.width) / COLUMN);
  const bottom = Math.ceil((rect.y + rect.height) / ROW);
  return [Math.floor(rect.x / COLUMN), Math.floor(rect.y / ROW), right, bottom].join();
};

interface CardsProps {
  scene: Scene;
  looks: Record<string, StepLook>;
  selected: string | null;
  changed: ReadonlySet<string>;
  shown: ReadonlySet<string> | null;
  breakpoints: ReadonlyMap<string, boolean>;
  onSelect: (id: string) => void;
  onBreakpoint: (id: string) => void;
}

export function Cards(props: CardsProps) {
  const { scene, looks, selected, changed, shown, breakpoints, onSelect, onBreakpoint } = props;
  const cells = useStore(visibleCells(scene.byId.size));
  const visible = useMemo(() => {
    if (cells === "") return [];
    const [left, top, right, bottom] = cells.split(",").map(Number) as [number, number, number, number];
    return stepsIn(scene, {
      x: left * COLUMN,
      y: top * ROW,
      width: (right - left) * COLUMN,
      height: (bottom - top) * ROW,
    });
  }, [scene, cells]);
  return (
    <ViewportPortal>
      {visible.map(({ step, x, y }) => (
        <StepCard
          key={step.id}
          step={step}
          x={x}
          y={y}
          look={looks[step.id]}
          chosen={step.id === selected}
          changed={changed.has(step.id)}
          dimmed={shown !== null && !shown.has(step.id)}
          breakpoint={breakpoints.get(step.id)}
          onSelect={onSelect}
          onBreakpoint={onBreakpoint}
        />
      ))}
    </ViewportPortal>
  );
}
