import { Blocks, Grid3x3, History, Search, Settings, Table2, Workflow } from "lucide-react";
import { useWindow, type View } from "../lib/store";
import { VIEWS } from "./actions";

const ICON: Record<View, typeof Workflow> = {
  plan: Workflow,
  catalog: Table2,
  visibility: Grid3x3,
  discovery: Search,
  capabilities: Blocks,
  runs: History,
  settings: Settings,
};

export function Rail() {
  const current = useWindow((s) => s.view);
  const set = useWindow((s) => s.set);
  return (
    <nav className="rail" aria-label="Views">
      {VIEWS.map(({ view, label }, i) => {
        const Icon = ICON[view];
        return (
          <button
            type="button"
            key={view}
            data-testid={`rail-${view}`}
            aria-current={view === current ? "page" : undefined}
            title={`${label} (${i + 1})`}
            onClick={() => set({ view })}
          >
            <Icon size={18} aria-hidden />
            <span>{label}</span>
          </button>
        );
      })}
    </nav>
  );
}
