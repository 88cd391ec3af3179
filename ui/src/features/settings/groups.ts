/** What each group of the settings holds. */
import { guard, policy, session } from "./groups/access";
import { capabilities, discovery } from "./groups/finding";
import { network, planner, run, storage } from "./groups/running";
import { own, section, type Section } from "./parts";
import type { GroupId } from "./paths";
import { WindowFacts } from "./WindowFacts";

export const SECTIONS: Record<Exclude<GroupId, "json">, Section[]> = {
  policy,
  session,
  discovery,
  capabilities,
  guard,
  planner,
  run,
  storage,
  network,
  window: [section("Window", own(WindowFacts))],
};

/** The fields of all groups whose label or path holds every word, in sections of their own. */
export function matching(text: string): Section[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return Object.values(SECTIONS).flatMap((sections) =>
    sections.flatMap(({ title, parts }) => {
      const found = parts.filter((part) => {
        const says = part.kind === "own" ? "" : `${title} ${part.label} ${part.path}`.toLowerCase();
        return says !== "" && words.every((word) => says.includes(word));
      });
      return found.length > 0 ? [{ title, parts: found }] : [];
    }),
  );
}
