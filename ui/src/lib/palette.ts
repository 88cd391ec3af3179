/**
 * The colours of the style sheet as a canvas needs them: plain strings. They are read again when the theme changes,
 * because the sheet writes light and dark as one value that only an element can resolve.
 */
import { useSyncExternalStore } from "react";

const NAMES = [
  "bg",
  "panel",
  "raised",
  "inset",
  "border",
  "border-strong",
  "text",
  "muted",
  "edge",
  "grid",
  "accent",
  "accent-soft",
  "kept",
  "dropped",
  "added",
  "rewritten",
  "deferred",
  "hidden",
] as const;

export type Palette = Record<(typeof NAMES)[number], string> & { sans: string; mono: string };

function read(): Palette {
  const probe = document.createElement("span");
  document.body.append(probe);
  const computed = getComputedStyle(probe);
  const colours = NAMES.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, computed.color] as const;
  });
  const font = (name: string) => {
    probe.style.fontFamily = `var(--${name})`;
    return computed.fontFamily || "sans-serif";
  };
  const palette = { ...Object.fromEntries(colours), sans: font("sans"), mono: font("mono") } as Palette;
  probe.remove();
  return palette;
}

let palette: Palette | null = null;
const listeners = new Set<() => void>();

function changed() {
  palette = null;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) watch();
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let watching = false;
function watch() {
  if (watching) return;
  watching = true;
  new MutationObserver(changed).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  for (const query of ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"])
    window.matchMedia?.(query).addEventListener?.("change", changed);
}

export function usePalette(): Palette {
  return useSyncExternalStore(subscribe, () => (palette ??= read()));
}

/** The colour with less of itself: for tints under text and for what is dimmed. */
export function faded(colour: string, opacity: number): string {
  const [r = "0", g = "0", b = "0"] = colour.match(/[\d.]+/g) ?? [];
  return `rgb(${r} ${g} ${b} / ${opacity})`;
}
