/** Which tools the model sees in which state, and the session that moves between the states. */
import { PageTabs } from "../../components/PageTabs";
import { useWindow } from "../../lib/store";
import { Matrix } from "./Matrix";
import { SessionPanel } from "./SessionPanel";
import "./visibility.css";

export function VisibilityPage() {
  const tab = useWindow((s) => s.visibilityTab);
  const set = useWindow((s) => s.set);
  return (
    <div className="panel-column">
      <PageTabs
        label="Visibility"
        value={tab}
        onChange={(visibilityTab) => set({ visibilityTab })}
        tabs={[
          { value: "matrix", label: "Tools and states" },
          { value: "session", label: "Session" },
        ]}
      />
      {tab === "matrix" ? <Matrix /> : <SessionPanel />}
    </div>
  );
}
