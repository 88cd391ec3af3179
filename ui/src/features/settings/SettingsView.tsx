/** What the workspace allows and how it plans and runs. Saving plans the open query again. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { Empty } from "../../components/Empty";
import { JsonEditor } from "../../components/JsonEditor";
import { ProblemNote } from "../../components/ProblemNote";
import { SearchBox } from "../../components/SearchBox";
import { Problem, type AppInfo, type SettingOrigin, type Settings } from "../../ipc/client";
import { infoQuery, originsQuery } from "../../lib/queries";
import { useWindow } from "../../lib/store";
import { useSettingsDraft } from "./draft";
import { SettingField } from "./Fields";
import { FormContext } from "./form";
import { matching, SECTIONS } from "./groups";
import type { Section } from "./parts";
import { groupOf, GROUPS, type GroupId } from "./paths";
import { misfit } from "./shape";
import "./settings.css";

export function SettingsView() {
  const { data: info, error } = useQuery(infoQuery);
  const { data: origins } = useQuery(originsQuery);
  const byPath = useMemo(() => new Map(origins?.map((o) => [o.path, o])), [origins]);
  if (error) return <ProblemNote problem={Problem.from(error)} />;
  return info ? <Form info={info} origins={byPath} /> : null;
}

/** The group that was open last; a jump from a verdict opens the one that it is about. */
let lastGroup: GroupId = "policy";

function Form({ info, origins }: { info: AppInfo; origins: ReadonlyMap<string, SettingOrigin> }) {
  const { draft, discarded, saving, problem, change, discard, save } = useSettingsDraft();
  const settings = draft ?? info.settings;
  const at = useWindow((s) => s.settingsAt);
  const [group, setGroup] = useState<GroupId>(at === null ? lastGroup : groupOf(at));
  useEffect(() => {
    if (at === null) return;
    setGroup(groupOf(at));
    setWanted("");
  }, [at]);
  useEffect(() => {
    lastGroup = group;
  }, [group]);
  // The next visit is not about this verdict any more.
  useEffect(() => () => useWindow.getState().set({ settingsAt: null }), []);
  const [wanted, setWanted] = useState("");
  const found = wanted.trim() === "" ? null : matching(wanted);

  return (
    <div className="panel-column">
      <div className="toolbar settings-bar">
        <h2>Settings</h2>
        <span className="muted truncate grow">
          {draft
            ? "Changed, not saved"
            : "Saved · the environment comes before the workspace, the workspace before the default"}
        </span>
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
          <SearchBox
            label="Find a setting"
            testId="settings-find"
            placeholder="Find a setting"
            value={wanted}
            onChange={setWanted}
          />
          {GROUPS.map(({ id, label }) => (
            <button
              type="button"
              key={id}
              className="side-choice"
              aria-current={found === null && id === group ? "true" : undefined}
              data-testid={`settings-nav-${id}`}
              onClick={() => {
                setGroup(id);
                setWanted("");
              }}
            >
              {label}
            </button>
          ))}
        </nav>
        <FormContext value={{ info, settings, change, origins, problem, discarded, at }}>
          <div className="settings" key={found ? "found" : group}>
            {found?.length === 0 ? (
              <Empty title="No setting is called that">
                <p>Settings are found by their words on this page and by their names in JSON, such as run.retry.</p>
              </Empty>
            ) : found ? (
              <Sections sections={found} />
            ) : group !== "json" ? (
              <Sections sections={SECTIONS[group]} />
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

function Sections({ sections }: { sections: Section[] }) {
  return (
    <div className="settings-columns">
      {sections.map(({ title, parts }) => (
        <section key={title} className="settings-group" aria-label={title}>
          <h3>{title}</h3>
          {parts.map((part, i) => (
            <SettingField key={part.kind === "own" ? i : part.path} part={part} />
          ))}
        </section>
      ))}
    </div>
  );
}
