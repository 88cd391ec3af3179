import type { PlanningEntry } from "../../ipc/client";

const CAME: Record<PlanningEntry["came"], string> = {
  enabled: "enabled",
  alias: "another name",
  implied: "implied",
};

/** How an id came into the expanded set. */
export const came = (of: PlanningEntry["came"]): string => CAME[of];
