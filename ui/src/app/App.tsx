import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Panes } from "../components/Panes";
import { ProblemNote } from "../components/ProblemNote";
import { Toasts } from "../components/Toasts";
import { WhyPopover } from "../components/WhyPopover";
import { CapabilityView } from "../features/capability/CapabilityView";
import { DiscoveryPage } from "../features/discovery/DiscoveryPage";
import { IntentNotice } from "../features/plan/ContextBar";
import { DropImport } from "../features/run/Import";
import { SettingsView } from "../features/settings/SettingsView";
import { VisibilityPage } from "../features/visibility/VisibilityPage";
import { Problem } from "../ipc/client";
import { usePlanning } from "../lib/planning";
import { infoQuery, runsQuery } from "../lib/queries";
import { useWindow, type View } from "../lib/store";
import { CatalogPage } from "./CatalogPage";
import { ErrorBoundary } from "./ErrorBoundary";
import { Inspector, useInspects } from "./Inspector";
import { KeySheet } from "./KeySheet";
import { Palette } from "./Palette";
import { PlanPage } from "./PlanPage";
import { Rail } from "./Rail";
import { RunsPage } from "./RunsPage";
import { StatusBar } from "./StatusBar";
import { TopBar } from "./TopBar";
import { useShortcuts } from "./useShortcuts";
import "./app.css";

const PAGES: Record<View, () => ReactNode> = {
  plan: PlanPage,
  catalog: () => <WithInspector id="catalog" main={<CatalogPage />} />,
  visibility: () => <WithInspector id="visibility" main={<VisibilityPage />} />,
  discovery: () => <WithInspector id="discovery" main={<DiscoveryPage />} />,
  capabilities: () => <WithInspector id="capabilities" main={<CapabilityView />} />,
  runs: RunsPage,
  settings: SettingsView,
};

export function App() {
  useShortcuts();
  const view = useWindow((s) => s.view);
  const open = useWindow((s) => s.openRun);
  const { error } = useQuery(infoQuery);
  const planning = usePlanning();
  const replays = useQuery(runsQuery).data?.find((r) => r.id === open)?.origin?.kind === "replay" && view === "runs";
  const Page = PAGES[view];
  return (
    <div className="app" data-replay={replays || undefined}>
      <TopBar />
      <IntentNotice />
      {error && <ProblemNote problem={Problem.from(error)} />}
      {view !== "plan" && planning.problem && <ProblemNote problem={planning.problem} onDismiss={planning.dismiss} />}
      <div className="app-middle">
        <Rail />
        <main>
          <ErrorBoundary key={view}>
            <Page />
          </ErrorBoundary>
        </main>
      </div>
      <StatusBar />
      <Palette />
      <KeySheet />
      <DropImport />
      <WhyPopover />
      <Toasts />
    </div>
  );
}

function WithInspector({ id, main }: { id: string; main: ReactNode }) {
  const inspects = useInspects(null);
  return (
    <Panes
      id={id}
      panes={[
        { id: `${id}-main`, min: 400, content: main },
        ...(inspects ? [{ id: "inspector", size: 380, min: 280, content: <Inspector source={null} /> }] : []),
      ]}
    />
  );
}
