import * as Popover from "@radix-ui/react-popover";
import { useQuery } from "@tanstack/react-query";
import { WorkProgress } from "../components/WorkProgress";
import { ProblemNote } from "../components/ProblemNote";
import { Problem, type AppInfo, type PlanView } from "../ipc/client";
import { countsAs } from "../lib/context";
import { count, counted, reduction } from "../lib/format";
import { usePlanning } from "../lib/planning";
import { infoQuery } from "../lib/queries";

/** What goes on whatever view is open. */
const BACKGROUND = ["import", "export", "embedding"] as const;

export function StatusBar() {
  const { data: info } = useQuery(infoQuery);
  const view = usePlanning((s) => s.view);
  return (
    <footer className="status-bar" data-testid="status-bar">
      {info && <span className="truncate">{sentence(info, view)}</span>}
      <span className="grow" />
      <WorkProgress kinds={BACKGROUND} />
      {info && info.workspace.notices.length > 0 && <Notices notices={info.workspace.notices} />}
    </footer>
  );
}

function sentence(info: AppInfo, view: PlanView | null): string {
  const parts = [`catalog r${view?.planning.revision ?? info.revision}`];
  const { request, tokens, planner } = view?.planning ?? {};
  const state = request && countsAs(request);
  const row = tokens?.states.find((s) => s.state === state);
  if (row && tokens) {
    parts.push(
      `${counted(row.full_tools, "tool")}, ${count(row.visible_tools)} visible`,
      `definitions ${count(row.visible)} of ${count(row.full)} tokens (${reduction(row.visible, row.full)}, ${tokens.encoding}, ${tokens.exact ? "exact" : "estimated"})`,
    );
  } else {
    parts.push(counted(info.workspace.tools, "tool"));
  }
  parts.push(planner ? `planned by ${planner.label}` : info.provider.note);
  return parts.join(" · ");
}

function Notices({ notices }: { notices: AppInfo["workspace"]["notices"] }) {
  return (
    <Popover.Root>
      <Popover.Trigger className="link" data-testid="notices">
        {counted(notices.length, "notice")}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className="popover notices" align="end" sideOffset={6}>
          {notices.map((notice, i) => (
            <ProblemNote key={i} problem={new Problem(notice)} />
          ))}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
