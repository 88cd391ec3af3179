import * as Dialog from "@radix-ui/react-dialog";
import { useWindow } from "../lib/store";
import { actions, localKeys } from "./actions";

export function KeySheet() {
  const open = useWindow((s) => s.overlay === "keys");
  const set = useWindow((s) => s.set);
  const rows = [...actions.flatMap((a) => (a.shortcut ? [{ keys: a.shortcut, label: a.label }] : [])), ...localKeys];
  return (
    <Dialog.Root open={open} onOpenChange={(on) => set({ overlay: on ? "keys" : null })}>
      <Dialog.Portal>
        <Dialog.Overlay className="dialog-backdrop" />
        <Dialog.Content className="dialog key-sheet" aria-describedby={undefined} data-testid="key-sheet">
          <Dialog.Title>Keys</Dialog.Title>
          <dl>
            {rows.map((row) => (
              <div key={row.label}>
                <dt>{row.label}</dt>
                <dd>
                  <kbd>{row.keys}</kbd>
                </dd>
              </div>
            ))}
          </dl>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
