import { useEffect } from "react";
import { useTable } from "../features/catalog/table";
import { nothing } from "../lib/selection";
import { useWindow } from "../lib/store";
import { actions } from "./actions";

const TEXT = "input:not([type=range], [type=checkbox]), textarea, select, .cm-editor";

/** The key event in the notation of the actions: `Ctrl+K`, `Shift+F5`, `t`. */
function notation(event: KeyboardEvent): string {
  const control = event.ctrlKey || event.metaKey;
  const key = event.key.length === 1 && control ? event.key.toUpperCase() : event.key;
  // A shifted character is already another key ("?"); only named keys spell the modifier out.
  const shift = event.shiftKey && (key.length > 1 || control);
  return [control && "Ctrl", shift && "Shift", key].filter(Boolean).join("+");
}

/** Keys that also work while the person types. */
const EVERYWHERE = [
  "Ctrl+K",
  "Ctrl+Enter",
  "Ctrl+F",
  "F5",
  "Shift+F5",
  "F6",
  "F9",
  "F10",
  "F11",
  "Ctrl+F10",
  "Shift+F9",
  "Shift+F11",
];

/** First the choice of several tools, then the inspector. */
function closeTop() {
  const { chosen, set } = useTable.getState();
  const several = chosen.kind === "all" || chosen.names.size > 1;
  if (several && useWindow.getState().view === "catalog") set({ chosen: nothing });
  else useWindow.getState().set({ step: null, tool: null });
}

export function useShortcuts() {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const keys = notation(event);
      // Reloading the webview would throw the window's state away, whatever F5 means at the moment.
      if (event.key === "F5") event.preventDefault();
      if (event.defaultPrevented && event.key !== "F5") return;
      // What is on top takes its own keys, Escape among them.
      if (useWindow.getState().overlay !== null || useWindow.getState().why !== null) return;
      const focused = event.target instanceof HTMLElement ? event.target : null;
      const typing = focused?.closest(TEXT) != null;
      if (keys === "Escape") {
        if (typing) focused?.blur();
        else closeTop();
        return;
      }
      if (typing && !EVERYWHERE.includes(keys)) return;
      const action = actions.find((a) => a.shortcut === keys || a.also === keys);
      if (!action) return;
      event.preventDefault();
      action.run();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);
}
