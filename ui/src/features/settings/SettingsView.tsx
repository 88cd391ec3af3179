/** What the workspace allows and how it plans and runs. Saving plans the open query again. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { JsonEditor } from "../../components/JsonEditor";
import { ListField } from "../../components/ListField";
import { NumberField } from "../../components/NumberField";
import { ProblemNote } from "../../components/ProblemNote";
import { Problem, type AppInfo, type Settings } from "../../ipc/client";
import { infoQuery } from "../../lib/queries";
import { useWindow, type Theme } from "../../lib/store";
import { useSettingsDraft } from "./draft";
import { misfit } from "./shape";
import { StorageMeter } from "./Storage";
import "./settings.css";

export function SettingsView() {
  const { data: info, error } = useQuery(infoQuery);
  if (error) return <ProblemNote problem={Problem.from(error)} />;
  return info ? <Form info={info} /> : null;
}

function Form({ info }: { info: AppInfo }) {
  const { draft, discarded, saving, problem, change, discard, save } = useSettingsDraft();
  const settings = draft ?? info.settings;
  const { guard, policy, run, planner, retention } = settings;
  const put = (part: Partial<Settings>) => change({ ...settings, ...part });
  const putGuard = (part: Partial<Settings["guard"]>) => put({ guard: { ...guard, ...part } });
  const putPolicy = (part: Partial<Settings["policy"]>) => put({ policy: { ...policy, ...part } });
  const putRun = (part: Partial<Settings["run"]>) => put({ run: { ...run, ...part } });
  const putRetention = (part: Partial<typeof retention>) => put({ retention: { ...retention, ...part } });

  return (
    <div className="panel-column">
      <div className="toolbar settings-bar">
        <h2>Settings</h2>
        <span className="muted grow">{draft ? "Changed, not saved" : "Saved"}</span>
        <button type="button" className="button" disabled={saving} onClick={discard}>
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
      <div className="settings">
        <Group title="Guard">
          <label className="field">
            <span>Mode</span>
            <select
              data-testid="settings-guard-mode"
              value={guard.mode}
              onChange={(e) => putGuard({ mode: e.target.value as typeof guard.mode })}
            >
              <option value="enforce">Enforce: drop what does not apply</option>
              <option value="audit">Audit: report it and let it through</option>
            </select>
          </label>
          <Check
            label="Read tool mentions inside thinking text"
            checked={guard.scan_thinking}
            onChange={(scan_thinking) => putGuard({ scan_thinking })}
          />
          <Check
            label="Add the matching tool when the query names a key or URL"
            checked={guard.add_by_rule}
            onChange={(add_by_rule) => putGuard({ add_by_rule })}
          />
          <ListField
            label="Prefixes that are no Jira project"
            value={guard.noise_prefixes}
            placeholder="none"
            mono
            onChange={(noise_prefixes) => putGuard({ noise_prefixes })}
          />
          <ListField
            label="Jira projects; empty means any"
            value={guard.projects}
            placeholder="any"
            mono
            onChange={(projects) => putGuard({ projects })}
          />
        </Group>
        <Group title="Tool policy">
          <Check
            label="Only tools of an allow-list"
            testId="settings-allow-list"
            checked={policy.allowed !== null}
            onChange={(on) => putPolicy({ allowed: on ? [] : null })}
          />
          {policy.allowed !== null && (
            <ListField
              label="Allowed tools"
              testId="settings-allowed"
              value={policy.allowed}
              placeholder="nothing is allowed"
              mono
              onChange={(allowed) => putPolicy({ allowed })}
            />
          )}
          <ListField
            label="Denied tools; they win over the allow-list"
            testId="settings-denied"
            value={policy.denied}
            placeholder="none"
            mono
            onChange={(denied) => putPolicy({ denied })}
          />
          <ListField
            label="Tags that every tool must carry"
            value={policy.require_tags}
            placeholder="none"
            onChange={(require_tags) => putPolicy({ require_tags })}
          />
          <ListField
            label="Kill switch: tools that nobody sees"
            testId="settings-kill-switch"
            value={settings.kill_switch}
            placeholder="none"
            mono
            onChange={(kill_switch) => put({ kill_switch })}
          />
        </Group>
        <Group title="Modes and discovery">
          <label className="field">
            <span>Mode of a request that names none</span>
            <select value={settings.default_mode} onChange={(e) => put({ default_mode: e.target.value })}>
              <option value="">no mode filter</option>
              {settings.modes.map((m) => (
                <option key={m.name} value={m.name}>
                  {m.title || m.name}
                </option>
              ))}
            </select>
          </label>
          <Check
            label="Deferred tools wait for discovery"
            checked={settings.discovery.enabled}
            onChange={(enabled) => put({ discovery: { ...settings.discovery, enabled } })}
          />
        </Group>
        <Group title="Planner">
          <NumberField
            label="Milliseconds for the model's reply"
            testId="settings-planner-timeout"
            value={planner.timeout_ms}
            onChange={(ms) => put({ planner: { ...planner, timeout_ms: ms ?? planner.timeout_ms } })}
          />
          <p className="muted">{info.provider.note}</p>
        </Group>
        <Group title="Runs">
          <NumberField
            label="Steps at once"
            testId="settings-parallel"
            value={run.parallel_limit}
            onChange={(n) => putRun({ parallel_limit: n ?? run.parallel_limit })}
          />
          <NumberField
            label="Milliseconds of one attempt"
            value={run.timeout_ms}
            onChange={(n) => putRun({ timeout_ms: n ?? run.timeout_ms })}
          />
          <NumberField
            label="Retries after the first attempt"
            value={run.retry.max_retries}
            onChange={(n) => putRun({ retry: { ...run.retry, max_retries: n ?? run.retry.max_retries } })}
          />
          <NumberField
            label="Milliseconds before the first retry; doubles each time"
            value={run.retry.base_ms}
            onChange={(n) => putRun({ retry: { ...run.retry, base_ms: n ?? run.retry.base_ms } })}
          />
        </Group>
        <Group title="Storage">
          <StorageMeter />
          <NumberField
            label="Runs that are kept at most; 0 means all"
            value={retention.max_runs}
            onChange={(n) => putRetention({ max_runs: n ?? 0 })}
          />
          <NumberField
            label="Days that a run is kept; 0 means for ever"
            value={retention.max_age_days}
            onChange={(n) => putRetention({ max_age_days: n ?? 0 })}
          />
          <NumberField
            label="Megabytes of events that are kept; 0 means all"
            value={retention.max_megabytes}
            onChange={(n) => putRetention({ max_megabytes: n ?? 0 })}
          />
        </Group>
        <Group title="Window">
          <ThemeChoice />
          <dl className="facts">
            <Fact name="Workspace" value={info.workspace.name} />
            <Fact name="Folder" value={info.workspace.root} />
            <Fact name="Database" value={info.workspace.database} />
            <Fact name="Version" value={info.version} />
          </dl>
        </Group>
        <details className="settings-all">
          <summary>All settings as JSON: modes, intents, tenants, visibility rules, network</summary>
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
        </details>
      </div>
    </div>
  );
}

function ThemeChoice() {
  const theme = useWindow((s) => s.theme);
  const set = useWindow((s) => s.set);
  return (
    <label className="field">
      <span>Theme</span>
      <select data-testid="settings-theme" value={theme} onChange={(e) => set({ theme: e.target.value as Theme })}>
        <option value="auto">as the system</option>
        <option value="light">light</option>
        <option value="dark">dark</option>
      </select>
    </label>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <fieldset className="settings-group">
      <legend>{title}</legend>
      {children}
    </fieldset>
  );
}

function Check({
  label,
  checked,
  onChange,
  testId,
}: {
  label: string;
  checked: boolean;
  onChange: (on: boolean) => void;
  testId?: string;
}) {
  return (
    <label className="check">
      <input type="checkbox" data-testid={testId} checked={checked} onChange={(e) => onChange(e.target.checked)} />
      {label}
    </label>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="mono">{value}</dd>
    </div>
  );
}
