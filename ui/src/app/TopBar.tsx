import { useQuery } from "@tanstack/react-query";
import { Library, Monitor, Moon, Search, Sun } from "lucide-react";
import { ChangesChip } from "../features/plan/ChangesChip";
import { ContextBar } from "../features/plan/ContextBar";
import { infoQuery } from "../lib/queries";
import { useWindow } from "../lib/store";
import { nextTheme } from "./theme";

const THEME_ICON = { auto: Monitor, light: Sun, dark: Moon };

export function TopBar() {
  const { data: info } = useQuery(infoQuery);
  const theme = useWindow((s) => s.theme);
  const set = useWindow((s) => s.set);
  const ThemeIcon = THEME_ICON[theme];
  return (
    <header className="top-bar">
      <span
        className="workspace"
        title={info && `${info.workspace.root}\n${info.workspace.database}`}
        data-testid="workspace-name"
      >
        <Library size={15} aria-hidden />
        <span className="truncate">{info?.workspace.name ?? "Toolplan"}</span>
      </span>
      <ContextBar />
      <span className="grow" />
      <ChangesChip />
      <button
        type="button"
        className="icon-button"
        onClick={nextTheme}
        aria-label={`Theme: ${theme}`}
        title={`Theme: ${theme}`}
      >
        <ThemeIcon size={15} />
      </button>
      <button
        type="button"
        className="button small"
        data-testid="palette-button"
        onClick={() => set({ overlay: "palette" })}
        title="Find a command or tool (Ctrl+K)"
      >
        <Search size={12} aria-hidden /> Ctrl K
      </button>
    </header>
  );
}
