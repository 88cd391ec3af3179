import { expect, test } from "vitest";
import type { GraphStep, GraphView } from "../ipc/client";
import { found, nextMatch, searchTexts } from "./find";
import { CARD, COLUMN } from "./layout";
import { detailAt, edgesAt, headersAt, headerText } from "./lod";
import { neighbour } from "./neighbour";
import { orderStages } from "./order";
import { edgeAt, makeScene, stepAt, stepsIn } from "./scene";

const step = (id: string, stage: number, tool = "grep_search"): GraphStep => ({
  id,
  tool,
  stage,
  classification: "SAFE",
  key_argument: "",
  expected_ms: null,
  fallback: null,
  critical: false,
  on_critical_path: false,
  mark: null,
});

/** `a b | c` reads as two stages, `a>c` as an edge. */
function graph(text: string, ...wires: string[]): GraphView {
  const columns = text.split("|").map((column) => column.trim().split(/\s+/));
  return {
    stages: columns.map((steps, i) => ({ number: i + 1, steps, bound_ms: null })),
    steps: columns.flatMap((ids, i) => ids.map((id) => step(id, i + 1))),
    edges: wires.map((w) => ({
      from: w.split(">")[0]!,
      to: w.split(">")[1]!,
      kind: "data",
      label: "x",
      implied: false,
    })),
  };
}
const place = (g: GraphView) => orderStages(g.steps, g.edges);
const scene = (g: GraphView) => makeScene(g, place(g), []);

test("cards are left earlier in a large plan, because elements are what costs (W-01)", () => {
  expect(detailAt(1, 1000)).toBe("cards");
  expect(detailAt(0.5, 20)).toBe("cards");
  expect(detailAt(0.5, 1000)).toBe("compact");
  expect(detailAt(0.1, 20)).toBe("marks");
  expect(edgesAt("marks", 1800)).toBe("few");
  expect(edgesAt("marks", 40)).toBe("all");
  expect(edgesAt("compact", 1800)).toBe("all");
});

test("headers say what fits, and never stand closer than can be read", () => {
  const stage = { number: 12, steps: ["a", "b"], bound_ms: 1200 };
  const at = (zoom: number) => headerText(stage, headersAt(zoom).words);
  expect([1, 0.5, 0.3, 0.1].map(at)).toEqual(["Stage 12 · 2 steps · ≤ 1.2 s", "Stage 12 · 2", "Stage 12", "12"]);
  for (const zoom of [0.2, 0.1, 0.03, 0.004]) expect(headersAt(zoom).every * COLUMN * zoom).toBeGreaterThanOrEqual(26);
});

test("the order of a large plan puts steps beside what they are connected with, and no two in one place", () => {
  const g = graph("a b c | x y z", "a>z", "b>y", "c>x");
  const at = place(g);
  const column = (ids: string[]) => ids.sort((p, q) => at[p]!.y - at[q]!.y).join("");
  expect(`${column(["a", "b", "c"])} ${column(["x", "y", "z"])}`).toMatch(/^(abc zyx|cba xyz)$/);
  expect(new Set(Object.values(at).map((p) => `${p.x},${p.y}`)).size).toBe(6);
  expect(Math.min(...Object.values(at).map((p) => p.y))).toBe(0);
});

test("a thousand steps are ordered within a frame or two", () => {
  const steps = Array.from({ length: 1000 }, (_, i) => ({ id: `s${i}`, stage: 1 + (i % 40) }));
  const edges = Array.from({ length: 2000 }, (_, i) => ({ from: `s${i % 999}`, to: `s${(i * 7) % 1000}` }));
  const start = performance.now();
  expect(Object.keys(orderStages(steps, edges))).toHaveLength(1000);
  expect(performance.now() - start).toBeLessThan(400);
});

test("only what is in sight is found in sight, and the pointer finds what it is on", () => {
  const s = scene(graph("a b c | x", "a>x"));
  const all = { x: 0, y: 0, width: 5000, height: 5000 };
  expect(stepsIn(s, all).map((p) => p.step.id)).toEqual(["a", "b", "c", "x"]);
  expect(stepsIn(s, { x: 0, y: 90, width: 100, height: 10 }).map((p) => p.step.id)).toEqual(["b"]);
  const b = s.byId.get("b")!;
  expect(stepAt(s, b.x + 5, b.y + 5)?.step.id).toBe("b");
  expect(stepAt(s, CARD.width + 20, b.y + 5)).toBeNull();
  const middle = s.byId.get("a")!;
  expect(edgeAt(s, CARD.width + 1, middle.y + CARD.height / 2, 4)?.to.step.id).toBe("x");
  expect(edgeAt(s, CARD.width + 1, middle.y + CARD.height / 2 + 300, 4)).toBeNull();
});

test("arrow keys go up and down a stage and to the nearest step of the next", () => {
  const s = scene(graph("a b c | x y z", "a>x", "b>y", "c>z"));
  expect(neighbour(s, "a", "ArrowDown")).toBe("b");
  expect(neighbour(s, "a", "ArrowUp")).toBeNull();
  expect(neighbour(s, "b", "ArrowRight")).toBe("y");
  expect(neighbour(s, "z", "ArrowLeft")).toBe("c");
  expect(neighbour(s, "z", "ArrowRight")).toBeNull();
});

test("a step is found by id, tool and every argument; statuses narrow the rest down", () => {
  const g = graph("a b | c");
  const specs = [{ id: "b", arguments: { issue_key: "PROJ-123" } }] as never[];
  const texts = searchTexts(g, specs);
  const look = (status: "failed" | "succeeded") => ({
    status,
    elapsed_ms: null,
    retries: 0,
    fallback: null,
    cached: false,
    edited: false,
    fault: false,
    live: false,
    argument: null,
  });
  const looks = { a: look("failed"), b: look("failed"), c: look("succeeded") };
  expect(found(g, texts, looks, "", new Set())).toBeNull();
  expect(found(g, texts, looks, "proj-123", new Set())).toEqual(["b"]);
  expect(found(g, texts, looks, "grep", new Set(["failed"]))).toEqual(["a", "b"]);
  expect(found(g, texts, looks, "grep proj", new Set(["succeeded"]))).toEqual([]);
});

test("matches are gone through in reading order, around the ends", () => {
  expect(nextMatch(["a", "b", "c"], null, 1)).toBe("a");
  expect(nextMatch(["a", "b", "c"], "c", 1)).toBe("a");
  expect(nextMatch(["a", "b", "c"], "a", -1)).toBe("c");
  expect(nextMatch(["a", "b"], "elsewhere", -1)).toBe("b");
  expect(nextMatch([], "a", 1)).toBeNull();
});
