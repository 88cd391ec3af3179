/** The three states of a session and the ways between them; where it is, and which ways are open. */
import type { ExecutionState } from "../../ipc/client";
import { waysFrom, type Way } from "./ways";

const PLACE: Record<ExecutionState, number> = { REQUEST: 70, REASONING: 320, ACTION: 570 };
const WIDTH = 118;
const HEIGHT = 40;
const Y = 92;

interface StateMachineProps {
  state: ExecutionState;
  hasIntent: boolean;
}

/** The curve from one state to another; ways back run below. */
function curve({ from, to, bend }: Way): { path: string; x: number; y: number } {
  const [a, b] = [PLACE[from], PLACE[to]];
  const side = Math.sign(bend);
  const [x1, x2] = [a + side * 0 + (b > a ? 22 : -22), b - (b > a ? 22 : -22)];
  const y = Y - (side * HEIGHT) / 2;
  const top = Y - side * HEIGHT * 0.5 - bend;
  return { path: `M${x1} ${y} C${x1} ${top}, ${x2} ${top}, ${x2} ${y}`, x: (x1 + x2) / 2, y: y - bend * 0.76 };
}

export function StateMachine({ state, hasIntent }: StateMachineProps) {
  const ways = waysFrom(state, hasIntent);
  return (
    <svg
      className="machine"
      viewBox="0 0 640 214"
      role="img"
      aria-label={`The session is in ${state}. Open ways: ${ways
        .filter((w) => w.open)
        .map((w) => `${w.label} to ${w.to}`)
        .join(", ")}`}
      data-testid="state-machine"
      data-state-now={state}
    >
      <defs>
        <marker id="machine-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0 0 L8 4 L0 8 z" />
        </marker>
        <marker
          id="machine-arrow-open"
          viewBox="0 0 8 8"
          refX="7"
          refY="4"
          markerWidth="7"
          markerHeight="7"
          orient="auto"
        >
          <path d="M0 0 L8 4 L0 8 z" />
        </marker>
      </defs>
      {ways.map((way) => (
        <g key={`${way.from}-${way.to}`} className="machine-way" data-open={way.open || undefined}>
          <path d={curve(way).path} markerEnd={`url(#machine-arrow${way.open ? "-open" : ""})`} />
        </g>
      ))}
      {/* Over every line, so that none runs through a word. */}
      {ways.map((way) => {
        const { x, y } = curve(way);
        return (
          <g key={`${way.from}-${way.to}`} className="machine-way" data-open={way.open || undefined}>
            <text x={x} y={y + (way.bend > 0 ? -5 : 13)}>
              {way.label}
            </text>
          </g>
        );
      })}
      {(Object.keys(PLACE) as ExecutionState[]).map((name) => (
        <g key={name} className="machine-state" data-current={name === state || undefined}>
          <rect x={PLACE[name] - WIDTH / 2} y={Y - HEIGHT / 2} width={WIDTH} height={HEIGHT} rx="8" />
          <text x={PLACE[name]} y={Y + 5}>
            {name}
          </text>
        </g>
      ))}
    </svg>
  );
}
