/** What differs between two plannings, as the in-browser host tells it. */
import type { Change, PlanDiff, Planning, PlanView } from "../client";
import { decided } from "./visibility";

export function changesBetween(before: PlanView, after: Pick<PlanView, "planning" | "graph">): Change[] {
  const verdictChanges = after.planning.trails.flatMap((trail): Change[] => {
    const old = before.planning.trails.find((t) => t.tool === trail.tool);
    const [was, is] = [old ? decided(old).reason : "", decided(trail).reason];
    return was === is ? [] : [{ subject: "verdict", name: trail.tool, before: was, after: is }];
  });
  const stepsOf = (view: Pick<PlanView, "graph">) =>
    new Map(view.graph.steps.map((s) => [s.id, `${s.tool} ${s.key_argument}`]));
  const [old, now] = [stepsOf(before), stepsOf(after)];
  const stepChanges = [...new Set([...old.keys(), ...now.keys()])].flatMap((id): Change[] =>
    old.get(id) === now.get(id)
      ? []
      : [{ subject: "step", name: id, before: old.get(id) ?? "", after: now.get(id) ?? "" }],
  );
  const tokenChanges = after.planning.tokens.states.flatMap((row): Change[] => {
    const was = before.planning.tokens.states.find((s) => s.state === row.state)!;
    return was.visible === row.visible
      ? []
      : [{ subject: "tokens", name: row.state, before: String(was.visible), after: String(row.visible) }];
  });
  return [...stepChanges, ...verdictChanges, ...tokenChanges];
}

export function planDiff(a: Planning, b: Planning): PlanDiff {
  const end = (planning: Planning, tool: string) => {
    const trail = planning.trails.find((t) => t.tool === tool);
    if (!trail) return null;
    const { gate, outcome, rule, reason } = decided(trail);
    return { gate, outcome, rule, reason };
  };
  const pairs = <T>(of: (planning: Planning) => T) => ({ a: of(a), b: of(b) });
  const ids = [...new Set([...a.plan.steps, ...b.plan.steps].map((s) => s.id))];
  return {
    facts: a.revision === b.revision ? [] : [{ name: "catalog_revision", ...pairs((p) => String(p.revision)) }],
    steps: ids.flatMap((id): PlanDiff["steps"] => {
      const { a: x, b: y } = pairs((p) => p.plan.steps.find((s) => s.id === id) ?? null);
      if (x?.tool === y?.tool) return [];
      return [{ id: { a: x && id, b: y && id }, tool: { a: x?.tool ?? null, b: y?.tool ?? null }, changed: [] }];
    }),
    verdicts: b.trails.flatMap(({ tool }) => {
      const ends = pairs((p) => end(p, tool));
      return ends.a?.rule === ends.b?.rule ? [] : [{ tool, ...ends }];
    }),
    tokens: b.tokens.states.flatMap(({ state }, i) => {
      const visible = pairs((p) => p.tokens.states[i]!.visible);
      return visible.a === visible.b ? [] : [{ state, visible, full: pairs((p) => p.tokens.states[i]!.full) }];
    }),
  };
}
