import { useWindow, type Theme } from "../lib/store";

/** Keeps the page in the chosen theme. `?theme=dark` overrides it for this page only, which screenshots use. */
export function followTheme() {
  const forced = new URLSearchParams(location.search).get("theme");
  const apply = (theme: Theme) => {
    document.documentElement.dataset.theme = forced ?? theme;
  };
  apply(useWindow.getState().theme);
  useWindow.subscribe((s) => apply(s.theme));
}

const NEXT: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };

export function nextTheme() {
  const { theme, set } = useWindow.getState();
  set({ theme: NEXT[theme] });
}
