import { useWindow, type Theme } from "../../lib/store";
import { useSettingsForm } from "./form";

/** What belongs to this window and not to the workspace, and where everything lies. */
export function WindowFacts() {
  const { info } = useSettingsForm();
  const theme = useWindow((s) => s.theme);
  const set = useWindow((s) => s.set);
  const facts: [string, string][] = [
    ["Workspace", info.workspace.name],
    ["Folder", info.workspace.root],
    ["Database", info.workspace.database],
    ["Version", info.version],
  ];
  return (
    <>
      <label className="field">
        <span>Theme</span>
        <select data-testid="settings-theme" value={theme} onChange={(e) => set({ theme: e.target.value as Theme })}>
          <option value="auto">as the system</option>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </select>
      </label>
      <dl className="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="mono">{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
