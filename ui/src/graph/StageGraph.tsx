/**
 * The one picture of a plan: stages as columns, steps as cards, and what flows between them. It knows no feature; what
 * a step looks like at an instant comes in as data, so the live run, the replay and the plain plan share it.
 *
 * React Flow pans and zooms; the graph itself is painted, except for the cards close enough to be read.
 */
import { ReactFlow, ReactFlowProvider, useReactFlow, useStore } from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { Maximize, Minus, Plus } from "lucide-react";
import { useMemo, useRef, useState, type KeyboardEvent, type MouseEvent } from "react";
import { IconButton } from "../components/IconButton";
import type { GraphView } from "../ipc/client";
import { counted } from "../lib/format";
import type { StepLook } from "../lib/steps";
import { Cards } from "./Cards";
import { HoverNote, type Hovered } from "./HoverNote";
import { detailAt } from "./lod";
import { neighbour } from "./neighbour";
import { Overview } from "./Overview";
import { Picture } from "./Picture";
import { edgeAt, makeScene, stepAt } from "./scene";
import { StageBand } from "./StageBand";
import { useCamera } from "./useCamera";
import { useLayout } from "./useLayout";
import "./graph.css";

/** Plans with fewer steps are seen whole. */
const OVERVIEW = 12;
const NO_NODES: never[] = [];

export interface StageGraphProps {
  graph: GraphView;
  /** By step id; a step without an entry was not run. */
  looks: Record<string, StepLook>;
  /** Ids on the longest path, first to last. */
  criticalPath: readonly string[];
  selected: string | null;
  /** Ids of the steps that the last change touched. */
  changed: ReadonlySet<string>;
  /** Ids that a search or filter left, the others are dimmed; null means all. */
  shown: ReadonlySet<string> | null;
  /** Steps with a breakpoint before them, and whether it is on. */
  breakpoints: ReadonlyMap<string, boolean>;
  onBreakpoint: (id: string) => void;
  onSelect: (id: string | null) => void;
}

export function StageGraph(props: StageGraphProps) {
  return (
    <ReactFlowProvider>
      <Pane {...props} />
    </ReactFlowProvider>
  );
}

function Pane(props: StageGraphProps) {
  const { graph, looks, criticalPath, selected, changed, shown, breakpoints, onBreakpoint, onSelect } = props;
  const positions = useLayout(graph);
  const scene = useMemo(() => makeScene(graph, positions, criticalPath), [graph, positions, criticalPath]);
  const { screenToFlowPosition, getZoom } = useReactFlow();
  const detail = useStore((s) => detailAt(s.transform[2], scene.byId.size));
  const camera = useCamera(scene, selected);
  const pane = useRef<HTMLDivElement>(null);
  const [hovered, setHovered] = useState<Hovered | null>(null);

  const lights = useMemo(
    () => ({ looks, selected, shown, breakpoints, hovered: hovered?.edge ?? null }),
    [looks, selected, shown, breakpoints, hovered?.edge],
  );
  const failed = useMemo(
    () => new Set(graph.steps.filter((s) => looks[s.id]?.status === "failed").map((s) => s.stage)),
    [graph, looks],
  );

  const under = (event: MouseEvent) => {
    const { x, y } = screenToFlowPosition({ x: event.clientX, y: event.clientY });
    const reach = 4 / getZoom();
    const step = detail === "cards" ? null : stepAt(scene, x, y, reach);
    return { step, edge: step ? null : edgeAt(scene, x, y, 1.5 * reach) };
  };

  const hover = (event: MouseEvent) => {
    const overCard = event.target instanceof HTMLElement && event.target.closest(".step-card, button, .graph-overview");
    const found = overCard || event.buttons !== 0 ? { step: null, edge: null } : under(event);
    if (!found.step && !(found.edge && (found.edge.label !== "" || detail === "cards"))) return setHovered(null);
    const box = pane.current!.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    setHovered({ ...found, x, y, left: x > box.width / 2, above: y > box.height / 2 });
  };

  const walk = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith("Arrow")) {
      const next = selected === null ? scene.columns[0]?.[0]?.step.id : neighbour(scene, selected, event.key);
      event.preventDefault();
      // Arrows also step through a run; inside the graph they mean its neighbours.
      event.stopPropagation();
      if (next == null) return;
      onSelect(next);
      pane.current?.focus({ preventScroll: true });
    } else if (event.key === "f") camera.fit();
    else if (event.key === "+") camera.zoomBy(1.25);
    else if (event.key === "-") camera.zoomBy(0.8);
    else if (event.key === "Enter" && selected !== null && event.target === pane.current) camera.reveal(selected, true);
  };

  const minZoom = useStore((s) =>
    Math.min(0.25, 0.9 * Math.min(s.width / scene.bounds.width, s.height / scene.bounds.height) || 0.25),
  );
  const summary = `${counted(graph.steps.length, "step")} in ${counted(graph.stages.length, "stage")}`;
  return (
    <div
      className="stage-graph"
      data-detail={detail}
      data-ready={scene.byId.size > 0 || undefined}
      data-testid="stage-graph"
      ref={pane}
      role="group"
      tabIndex={0}
      aria-label={`Graph of ${summary}. Arrow keys move between steps; T shows them as a table.`}
      onKeyDown={walk}
      onMouseMove={hover}
      onMouseLeave={() => setHovered(null)}
      onDoubleClick={(event) => {
        const { step } = under(event);
        if (step) camera.reveal(step.step.id, true);
      }}
    >
      <ReactFlow
        nodes={NO_NODES}
        edges={NO_NODES}
        nodesDraggable={false}
        nodesConnectable={false}
        elementsSelectable={false}
        zoomOnDoubleClick={false}
        onPaneClick={(event) => onSelect(under(event).step?.step.id ?? null)}
        // Moves by the program come without an event; a click starts a move that goes nowhere.
        onMove={(event) => event !== null && camera.onMoved()}
        onMoveStart={() => {
          pane.current?.toggleAttribute("data-moving", true);
          setHovered(null);
        }}
        onMoveEnd={() => pane.current?.toggleAttribute("data-moving", false)}
        minZoom={minZoom}
        maxZoom={1.6}
        proOptions={{ hideAttribution: true }}
        deleteKeyCode={null}
      >
        <Picture scene={scene} lights={lights} />
        <Cards {...{ scene, looks, selected, changed, shown, breakpoints, onBreakpoint, onSelect }} />
      </ReactFlow>
      <StageBand stages={graph.stages} failed={failed} />
      <div className="graph-controls" role="group" aria-label="View">
        <IconButton label="Zoom in" keys="+" icon={Plus} onClick={() => camera.zoomBy(1.4)} />
        <IconButton label="Zoom out" keys="−" icon={Minus} onClick={() => camera.zoomBy(1 / 1.4)} />
        <IconButton label="Show everything" keys="F" icon={Maximize} size={13} onClick={camera.fit} />
      </div>
      {graph.steps.length > OVERVIEW && <Overview scene={scene} looks={looks} shown={shown} />}
      {hovered && <HoverNote hovered={hovered} look={hovered.step ? looks[hovered.step.step.id] : undefined} />}
      <p className="visually-hidden" aria-live="polite">
        {selected !== null && scene.byId.has(selected) ? `${selected}, ${scene.byId.get(selected)!.step.tool}` : ""}
      </p>
    </div>
  );
}
