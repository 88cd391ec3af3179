import * as Popover from "@radix-ui/react-popover";
import { ToolName } from "../../components/ToolName";
import type { Change } from "../../ipc/client";
import { counted } from "../../lib/format";
import { usePlanning } from "../../lib/planning";
import { SUBJECT } from "../../lib/words";

/** What the last edit or change of context did to the plan. */
export function ChangesChip() {
  const changes = usePlanning((s) => s.view?.changes);
  if (!changes || changes.length === 0) return null;
  return (
    <Popover.Root>
      <Popover.Trigger className="chip" data-testid="changes-chip">
        ± {counted(changes.length, "change")}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className="popover" align="end" sideOffset={4}>
          <ul className="changes" data-testid="changes-list">
            {changes.map((change) => (
              <ChangeLine key={`${change.subject}:${change.name}`} change={change} />
            ))}
          </ul>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function ChangeLine({ change: { subject, name, before, after } }: { change: Change }) {
  return (
    <li>
      <span className="muted">{SUBJECT[subject]}</span>{" "}
      {subject === "verdict" ? <ToolName name={name} /> : <code>{name}</code>}
      <div>
        {before !== "" && <del>{before}</del>} {before !== "" && after !== "" && "→"}{" "}
        {after !== "" ? <ins>{after}</ins> : <span className="muted">gone</span>}
      </div>
    </li>
  );
}
