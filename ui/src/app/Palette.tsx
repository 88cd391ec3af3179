import * as Dialog from "@radix-ui/react-dialog";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useContextRequest } from "../lib/planning";
import { infoQuery, toolsByWords } from "../lib/queries";
import { useWindow } from "../lib/store";
import { actions, sampleActions, type Action } from "./actions";

/** More lines than this nobody reads; another letter narrows them down. */
const SHOWN = 40;

/** Commands, samples and tools by name. */
export function Palette() {
  const open = useWindow((s) => s.overlay === "palette");
  const set = useWindow((s) => s.set);
  return (
    <Dialog.Root open={open} onOpenChange={(on) => set({ overlay: on ? "palette" : null })}>
      <Dialog.Portal>
        <Dialog.Overlay className="dialog-backdrop" />
        <Dialog.Content className="dialog palette" aria-describedby={undefined} data-testid="palette">
          <Dialog.Title className="visually-hidden">Find a command or tool</Dialog.Title>
          <Finder onDone={() => set({ overlay: null })} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Finder({ onDone }: { onDone: () => void }) {
  const { data: info } = useQuery(infoQuery);
  const { request, plan } = useContextRequest();
  const [text, setText] = useState("");
  const { data: tools } = useQuery({ ...toolsByWords(text, request, plan), enabled: text.trim() !== "" });
  const [at, setAt] = useState(0);

  const found = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const found = [...actions.filter((a) => a.id !== "palette"), ...sampleActions(info)].filter((a) =>
      words.every((w) => `${a.label} ${a.keywords ?? ""}`.toLowerCase().includes(w)),
    );
    const named = (words.length > 0 ? (tools?.rows ?? []) : []).map(({ row }): Action => ({
      id: `tool-${row.name}`,
      label: `Tool: ${row.name}`,
      run: () => useWindow.getState().set({ view: "catalog", tool: row.name, step: null }),
    }));
    // What can be done now stands before what cannot.
    const free = (action: Action) => (action.blocked?.() ? 1 : 0);
    return [...found.sort((a, b) => free(a) - free(b)), ...named].slice(0, SHOWN);
  }, [text, tools, info]);

  const choose = (action: Action | undefined) => {
    if (!action || action.blocked?.()) return;
    // Closing first: the action may open another overlay.
    onDone();
    action.run();
  };

  return (
    <>
      <input
        autoFocus
        className="palette-input"
        role="combobox"
        aria-expanded
        aria-controls="palette-list"
        aria-activedescendant={found[at] && `palette-${found[at].id}`}
        aria-label="Command or tool"
        placeholder="Type a command, a sample or a tool"
        value={text}
        onChange={(e) => {
          setText(e.target.value);
          setAt(0);
        }}
        onKeyDown={(e) => {
          if (e.key === "ArrowDown" || e.key === "ArrowUp") {
            e.preventDefault();
            setAt(Math.min(found.length - 1, Math.max(0, at + (e.key === "ArrowDown" ? 1 : -1))));
          } else if (e.key === "Enter") {
            e.preventDefault();
            choose(found[at]);
          }
        }}
      />
      <ul id="palette-list" role="listbox" className="palette-list">
        {found.map((action, i) => {
          const blocked = action.blocked?.() ?? null;
          return (
            <li
              key={action.id}
              id={`palette-${action.id}`}
              data-testid={`palette-${action.id}`}
              role="option"
              aria-selected={i === at}
              aria-disabled={blocked !== null}
              ref={i === at ? (line) => line?.scrollIntoView({ block: "nearest" }) : undefined}
              onMouseMove={() => setAt(i)}
              onClick={() => choose(action)}
            >
              <span className="truncate">{action.label}</span>
              {blocked !== null && <span className="palette-blocked truncate">{blocked}</span>}
              {action.shortcut && <kbd>{action.shortcut}</kbd>}
            </li>
          );
        })}
        {found.length === 0 && <li className="muted">Nothing is called that.</li>}
      </ul>
    </>
  );
}
