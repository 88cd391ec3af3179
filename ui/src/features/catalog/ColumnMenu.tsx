import * as Popover from "@radix-ui/react-popover";
import { Columns3 } from "lucide-react";
import { counted } from "../../lib/format";
import { COLUMNS, columnWord } from "./columns";
import { DEFAULT_COLUMNS, useTable } from "./table";

/** Which columns the table shows as far as there is room; they keep their order. */
export function ColumnMenu({ noRoom }: { noRoom: number }) {
  const columns = useTable((s) => s.columns);
  const set = useTable((s) => s.set);
  const toggle = (id: string) =>
    set({
      columns: COLUMNS.map((c) => c.id).filter((c) => (c === id ? !columns.includes(id) : columns.includes(c))),
    });
  return (
    <Popover.Root>
      <Popover.Trigger
        className="button small"
        data-testid="column-menu"
        title={
          noRoom > 0 ? `${counted(noRoom, "column")} more with more room: close the facets or the inspector` : undefined
        }
      >
        <Columns3 size={13} aria-hidden /> Columns{noRoom > 0 && ` (${noRoom} hidden)`}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className="popover column-menu" align="end" sideOffset={4}>
          {COLUMNS.map((c) => (
            <label key={c.id} className="check">
              <input
                type="checkbox"
                checked={columns.includes(c.id)}
                disabled={c.id === "name"}
                onChange={() => toggle(c.id)}
              />
              {columnWord(c)}
            </label>
          ))}
          <button type="button" className="link small" onClick={() => set({ columns: DEFAULT_COLUMNS })}>
            as at first
          </button>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
