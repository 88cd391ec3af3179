/**
 * The one picture of a plan: stages as columns, steps as cards, and what flows between them. It knows no feature; what
 * a step looks like at an instant comes in as data, so the live run, the replay and the plain plan share it.
 */
import {
  Background,
  Controls,
  MarkerType,
  MiniMap,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
} from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { useCallback, useEffect, useMemo, useRef } from "react";
import type { GraphView } from "../ipc/client";
import type { StepLook } from "../lib/steps";
import { FlowEdge, type FlowEdgeData } from "./FlowEdge";
import { CARD, headerPosition, type Positions } from "./layout";
import { mergedEdges } from "./mergedEdges";
import { neighbour } from "./neighbour";
import { reuseNodes } from "./reuseNodes";
import { StageHeader, type StageNode } from "./StageHeader";
import { StepCard, type StepNode } from "./StepCard";
import { useLayout } from "./useLayout";
import "./graph.css";

/** Beyond this many cards only the visible ones are drawn, and the minimap costs more than it tells. */
const MANY = 300;
/** Below this zoom text is unreadable and is left out; colours stay. */
const FAR = 0.42;

const FIT = { padding: 0.07, maxZoom: 1, duration: 0 };

const nodeTypes = { step: StepCard, stage: StageHeader };
const edgeTypes = { flow: FlowEdge };

export interface StageGraphProps {
  graph: GraphView;
  /** By step id; a step without an entry was not run. */
  looks: Record<string, StepLook>;
  /** Ids on the longest path, first to last. */
  criticalPath: readonly string[];
  selected: string | null;
  /** Ids of the steps that the last change touched. */
  changed: ReadonlySet<string>;
  onSelect: (id: string | null) => void;
}

export function StageGraph(props: StageGraphProps) {
  return (
    <ReactFlowProvider>
      <Canvas {...props} />
    </ReactFlowProvider>
  );
}

function Canvas({ graph, looks, criticalPath, selected, changed, onSelect }: StageGraphProps) {
  const positions = useLayout(graph);
  const { fitView } = useReactFlow();
  const far = useStore((s) => s.transform[2] < FAR);
  const size = useStore((s) => `${s.width}×${s.height}`);

  const move = useCallback(
    (id: string, key: string) => {
      const next = neighbour(graph, positions, id, key);
      if (next === null) return;
      onSelect(next);
      document.querySelector<HTMLElement>(`[data-step="${CSS.escape(next)}"]`)?.focus();
    },
    [graph, positions, onSelect],
  );

  const drawn = useRef<(StepNode | StageNode)[]>([]);
  const nodes = useMemo(() => {
    const headers = graph.stages.map((stage): StageNode => ({
      id: `stage:${stage.number}`,
      type: "stage",
      position: headerPosition(stage.number),
      data: { stage },
      width: CARD.width,
      height: 28,
      selectable: false,
      focusable: false,
    }));
    const cards = graph.steps.flatMap((step): StepNode[] => {
      const position = positions[step.id];
      if (!position) return [];
      const data = {
        step,
        look: looks[step.id],
        chosen: step.id === selected,
        changed: changed.has(step.id),
        onSelect,
        onMove: move,
      };
      return [{ id: step.id, type: "step", position, data, ...CARD }];
    });
    drawn.current = reuseNodes(drawn.current, [...headers, ...cards]);
    return drawn.current;
  }, [graph, positions, looks, selected, changed, onSelect, move]);

  const edges = useMemo(() => {
    const next = new Map(criticalPath.slice(1).map((id, i) => [criticalPath[i]!, id]));
    return mergedEdges(graph.edges).map((e): FlowEdgeData => ({
      id: `${e.from}→${e.to}`,
      type: "flow",
      source: e.from,
      target: e.to,
      focusable: false,
      markerEnd: {
        type: MarkerType.ArrowClosed,
        width: 14,
        height: 14,
        markerUnits: "userSpaceOnUse",
        color: "var(--edge)",
      },
      data: {
        kind: e.kind,
        label: e.label,
        critical: next.get(e.from) === e.to,
        touched: e.from === selected || e.to === selected,
      },
    }));
  }, [graph, criticalPath, selected]);

  // A new layout is fitted into the pane, and so is the old one when the pane's size changes, unless the person has
  // moved the picture to where they want it.
  const fitted = useRef<Positions>(positions);
  const moved = useRef(false);
  useEffect(() => {
    if (Object.keys(positions).length === 0 || (moved.current && fitted.current === positions)) return;
    fitted.current = positions;
    moved.current = false;
    // The nodes of a new layout are measured in the next frame; before that there is nothing to fit.
    const frame = requestAnimationFrame(() => void fitView(FIT));
    return () => cancelAnimationFrame(frame);
  }, [positions, size, fitView]);

  const many = graph.steps.length > MANY;
  return (
    <div className="stage-graph" data-far={far || undefined} data-testid="stage-graph">
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        elementsSelectable={false}
        onlyRenderVisibleElements={many}
        onPaneClick={() => onSelect(null)}
        // Moves by the program come without an event.
        onMoveStart={(event) => (moved.current ||= event !== null)}
        minZoom={0.03}
        maxZoom={1.6}
        proOptions={{ hideAttribution: true }}
        // Delete would remove a card from the picture only, which is no edit of the plan.
        deleteKeyCode={null}
      >
        <Background gap={24} size={1} color="var(--grid)" />
        <Controls showInteractive={false} fitViewOptions={FIT} onFitView={() => (moved.current = false)} />
        {!many && graph.steps.length > 12 && <MiniMap pannable zoomable nodeColor="var(--edge)" />}
      </ReactFlow>
    </div>
  );
}
