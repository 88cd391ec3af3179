/** What the workspace allows and how it plans and runs. Saving plans the open query again. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { JsonEditor } from "../../components/JsonEditor";
import { ProblemNote } from "../../components/ProblemNote";
import { Problem, type AppInfo, type Settings } from "../../ipc/client";
import { infoQuery } from "../../lib/queries";
import { useWindow } from "../../lib/store";
import { useSettingsDraft } from "./draft";
import { FormContext } from "./Fields";
import { CONTENT } from "./groups";
import { groupOf, GROUPS, type GroupId } from "./paths";
import { misfit } from "./shape";
import "./settings.css";

export function SettingsView() {
  const { data: info, error } = useQuery(infoQuery);
  if (error) return <ProblemNote problem={Problem.from(error)} />;
  return info ? <Form info={info} /> : null;
}

/** The group that was open last; a jump from a verdict opens the one that it is about. */
let lastGroup: GroupId = "policy";

function Form({ info }: { info: AppInfo }) {
  const { draft, discarded, saving, problem, change, discard, save } = useSettingsDraft();
  const settings = draft ?? info.settings;
  const at = useWindow((s) => s.settingsAt);
  const [group, setGroup] = useState<GroupId>(at === null ? lastGroup : groupOf(at));
  useEffect(() => {
    if (at !== null) setGroup(groupOf(at));
  }, [at]);
  useEffect(() => {
    lastGroup = group;
  }, [group]);
  // The next visit is not about this verdict any more.
  useEffect(() => () => useWindow.getState().set({ settingsAt: null }), []);
  const Content = group === "json" ? null : CONTENT[group];

  return (
    <div className="panel-column">
      <div className="toolbar settings-bar">
        <h2>Settings</h2>
        <span className="muted grow">{draft ? "Changed, not saved" : "Saved"}</span>
        <button type="button" className="button" disabled={saving || !draft} onClick={discard}>
          Discard
        </button>
        <button
          type="button"
          className="button primary"
          data-testid="settings-save"
          disabled={!draft || saving}
          onClick={() => void save()}
        >
          {saving ? "Saving…" : "Save"}
        </button>
      </div>
      {problem && <ProblemNote problem={problem} />}
      <div className="beside">
        <nav className="side-list settings-nav" aria-label="Groups of settings">
          {GROUPS.map(({ id, label }) => (
            <button
              type="button"
              key={id}
              className="side-choice"
              aria-current={id === group ? "true" : undefined}
              data-testid={`settings-nav-${id}`}
              onClick={() => setGroup(id)}
            >
              {label}
            </button>
          ))}
        </nav>
        <FormContext value={{ settings, change, problem, discarded, at }}>
          <div className="settings" key={group}>
            {Content ? (
              <div className="settings-columns">
                <Content info={info} settings={settings} change={change} />
              </div>
            ) : (
              <JsonEditor
                // Discarding starts afresh, without the invalid text that waits under the old name.
                key={discarded}
                name={`settings.${discarded}`}
                check={(value) => misfit(value, info.settings)}
                label="All settings"
                testId="settings-json"
                value={settings}
                onChange={(value) => change(value as unknown as Settings)}
              />
            )}
          </div>
        </FormContext>
      </div>
    </div>
  );
}
