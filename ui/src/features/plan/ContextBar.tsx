/** The request's context: always in sight, and the same for every view. */
import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { EXECUTION_STATES, type Planner } from "../../ipc/client";
import { changeContext, countsAs } from "../../lib/context";
import { infoQuery } from "../../lib/queries";
import { useWindow } from "../../lib/store";
import { SessionChip } from "./SessionChip";

interface Option {
  value: string;
  label: string;
}

export function ContextBar() {
  const draft = useWindow((s) => s.draft);
  const { data: info } = useQuery(infoQuery);
  const settings = info?.settings;

  const modes = settings?.modes.map((m) => ({ value: m.name, label: m.title || m.name })) ?? [];
  const standard = settings?.default_mode ? `Default (${settings.default_mode})` : "No mode";
  const tenants = settings?.tenants.map((t) => ({ value: t, label: t })) ?? [];
  const intents = settings?.intents.map((i) => ({ value: i.id, label: i.title || i.id })) ?? [];
  const planners: (Option & { disabled?: boolean; title?: string })[] = [
    { value: "offline", label: "Offline" },
    info?.provider.configured
      ? { value: "model", label: `Model: ${info.provider.label}` }
      : { value: "model", label: "Model (not configured)", disabled: true },
    { value: "recorded", label: "Recorded reply" },
  ];

  return (
    <div className="context-bar">
      <div className="segmented" role="radiogroup" aria-label="State">
        {EXECUTION_STATES.map((state) => (
          <button
            type="button"
            key={state}
            role="radio"
            aria-checked={draft.state === state}
            data-testid={`state-${state}`}
            onClick={() => changeContext({ state })}
          >
            {state}
          </button>
        ))}
      </div>
      <Choice
        label="Mode"
        testId="mode-select"
        value={draft.mode}
        none={standard}
        options={modes}
        onChange={(mode) => changeContext({ mode })}
      />
      <Choice
        label="Tenant"
        testId="tenant-select"
        value={draft.session.tenant}
        none="No tenant"
        options={tenants}
        onChange={(tenant) => changeContext({ session: { ...draft.session, tenant } })}
      />
      <SessionChip tenants={settings?.tenants ?? []} />
      <Choice
        label="Intent"
        testId="intent-select"
        value={draft.intent}
        none="No intent"
        options={intents}
        onChange={(intent) => changeContext({ intent })}
      />
      <label className="choice" title={info?.provider.note}>
        <span>Planner</span>
        <select
          data-testid="planner-select"
          value={draft.planner}
          onChange={(e) => changeContext({ planner: e.target.value as Planner })}
        >
          {planners.map((p) => (
            <option key={p.value} value={p.value} disabled={p.disabled}>
              {p.label}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

/** ACTION alone is not enough: without an intent the engine shows what REASONING shows. */
export function IntentNotice() {
  const missing = useWindow((s) => countsAs(s.draft) !== s.draft.state);
  if (!missing) return null;
  return (
    <div className="intent-notice" role="status" data-testid="needs-intent">
      <TriangleAlert size={13} aria-hidden /> ACTION needs an intent. Until one is chosen, it counts as REASONING.
    </div>
  );
}

interface ChoiceProps {
  label: string;
  testId: string;
  value: string;
  /** What the empty value means. */
  none: string;
  options: Option[];
  onChange: (value: string) => void;
}

function Choice({ label, testId, value, none, options, onChange }: ChoiceProps) {
  // A sample may name something that the settings do not list; it must still be shown as chosen.
  const listed = value === "" || options.some((o) => o.value === value);
  return (
    <label className="choice" title={label}>
      <span>{label}</span>
      <select data-testid={testId} value={value} onChange={(e) => onChange(e.target.value)}>
        <option value="">{none}</option>
        {!listed && <option value={value}>{value}</option>}
        {options.map((o) => (
          <option key={o.value} value={o.value}>
            {o.label}
          </option>
        ))}
      </select>
    </label>
  );
}
