import { expect, test } from "vitest";
import { mergedEdges } from "./mergedEdges";
import { CARD, layoutStages, type LayoutEdge, type LayoutStep } from "./layout";

/** `a b | c | d e` reads as three stages. */
const stages = (text: string): LayoutStep[] =>
  text.split("|").flatMap((column, i) =>
    column
      .trim()
      .split(/\s+/)
      .map((id) => ({ id, stage: i + 1 })),
  );
const edges = (...pairs: string[]): LayoutEdge[] =>
  pairs.map((p) => ({ from: p.split(">")[0]!, to: p.split(">")[1]! }));

/** The ids of each column from left to right, each from top to bottom. */
function columns(steps: LayoutStep[], wires: LayoutEdge[]): string {
  const at = layoutStages(steps, wires);
  const xs = [...new Set(steps.map((s) => at[s.id]!.x))].sort((a, b) => a - b);
  return xs
    .map((x) =>
      steps
        .filter((s) => at[s.id]!.x === x)
        .sort((a, b) => at[a.id]!.y - at[b.id]!.y)
        .map((s) => s.id)
        .join(" "),
    )
    .join(" | ");
}

test("stages are columns even where no edge says so", () => {
  expect(columns(stages("a | b | c"), [])).toBe("a | b | c");
});

test("an edge over several stages bends no column", () => {
  expect(columns(stages("a b | c | d"), edges("a>c", "c>d", "a>d"))).toBe("a b | c | d");
});

test("a step that could stand further left stays in its stage", () => {
  // Only `a` feeds `c`, yet the engine put it in stage 3; dagre alone would pull it to stage 2.
  expect(columns(stages("a | b | c"), edges("a>b", "a>c"))).toBe("a | b | c");
});

test("steps of a column do not overlap, and the topmost stands at the top", () => {
  const steps = stages("a b c d e f | g h i | j");
  const at = layoutStages(steps, edges("a>g", "b>g", "c>h", "d>h", "e>i", "f>i", "g>j", "h>j", "i>j"));
  for (const stage of [1, 2, 3]) {
    const ys = steps
      .filter((s) => s.stage === stage)
      .map((s) => at[s.id]!.y)
      .sort((x, y) => x - y);
    for (let i = 1; i < ys.length; i++) expect(ys[i]! - ys[i - 1]!).toBeGreaterThanOrEqual(CARD.height);
  }
  expect(Math.min(...steps.map((s) => at[s.id]!.y))).toBe(0);
});

test("no two cards of a column overlap, whatever the edges", () => {
  // A small linear congruential generator: the same hundred plans on every machine.
  let seed = 7;
  const below = (n: number) => {
    seed = (seed * 48271) % 2147483647;
    return Math.floor((seed / 2147483647) * n);
  };
  for (let plan = 0; plan < 100; plan++) {
    const steps = Array.from({ length: 2 + below(14) }, (_, i): LayoutStep => ({ id: `s${i}`, stage: 1 + below(4) }));
    const wires = Array.from({ length: below(16) }, () => ({
      from: `s${below(steps.length)}`,
      to: `s${below(steps.length)}`,
    }));
    const at = layoutStages(steps, wires);
    for (const a of steps) {
      for (const b of steps.filter((s) => s.stage === a.stage && s.id !== a.id)) {
        expect(Math.abs(at[a.id]!.y - at[b.id]!.y), `plan ${plan}: ${a.id} and ${b.id}`).toBeGreaterThanOrEqual(
          CARD.height,
        );
      }
    }
  }
});

test("the order inside a column avoids crossings", () => {
  expect(columns(stages("a b | x y"), edges("a>y", "b>x"))).toMatch(/^(a b \| y x|b a \| x y)$/);
});

test("edges that lead nowhere, back or to themselves are no reason to fail", () => {
  expect(columns(stages("a | b"), edges("a>b", "b>a", "a>a", "a>gone", "gone>b"))).toBe("a | b");
});

test("several arguments from one step are one edge, and implied edges are none", () => {
  const edge = (from: string, to: string, kind: "data" | "order", label: string, implied = false) => ({
    from,
    to,
    kind,
    label,
    implied,
  });
  const drawn = mergedEdges([
    edge("a", "c", "order", ""),
    edge("a", "c", "data", "x ← /1"),
    edge("a", "c", "data", "y ← /2"),
    edge("b", "c", "order", "", true),
  ]);
  expect(drawn.map((e) => `${e.from}>${e.to} ${e.kind} ${e.label}`)).toEqual(["a>c data x ← /1, y ← /2"]);
});

test("a plan without steps has no positions", () => {
  expect(layoutStages([], [])).toEqual({});
});
