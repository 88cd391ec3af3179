import { Plus, Trash2 } from "lucide-react";
import { ListField } from "../../components/ListField";
import type { Intent, IntentStatus } from "../../ipc/client";
import { INTENT_STATUS } from "../../lib/words";

interface IntentsProps {
  intents: Intent[];
  onChange: (intents: Intent[]) => void;
}

const fresh: Intent = { id: "", title: "", status: "open", constraints: [], scope: [], acceptance: [] };

/** What a session can commit to before destructive tools are shown. */
export function Intents({ intents, onChange }: IntentsProps) {
  const put = (at: number, part: Partial<Intent>) =>
    onChange(intents.map((intent, i) => (i === at ? { ...intent, ...part } : intent)));
  return (
    <div className="settings-intents" data-setting="intents">
      {intents.length === 0 && <p className="muted">None: destructive tools stay hidden from every session.</p>}
      {intents.map((intent, i) => (
        <div key={i} className="settings-intent">
          <div className="settings-intent-head">
            <input
              className="mono"
              aria-label="Id"
              placeholder="REQ-1"
              value={intent.id}
              onChange={(e) => put(i, { id: e.target.value })}
            />
            <input
              aria-label="Title"
              placeholder="Title"
              value={intent.title}
              onChange={(e) => put(i, { title: e.target.value })}
            />
            <select
              aria-label="Status"
              value={intent.status}
              onChange={(e) => put(i, { status: e.target.value as IntentStatus })}
            >
              {Object.entries(INTENT_STATUS).map(([value, word]) => (
                <option key={value} value={value}>
                  {word}
                </option>
              ))}
            </select>
            <button
              type="button"
              className="icon-button"
              aria-label={`Remove the intent ${intent.id}`}
              onClick={() => onChange(intents.filter((_, at) => at !== i))}
            >
              <Trash2 size={13} />
            </button>
          </div>
          <details>
            <summary>
              Constraints, scope, acceptance{" "}
              {intent.constraints.length + intent.scope.length + intent.acceptance.length > 0 &&
                `(${intent.constraints.length + intent.scope.length + intent.acceptance.length})`}
            </summary>
            <ListField
              label="Constraints, in the prompt"
              value={intent.constraints}
              placeholder="none"
              onChange={(constraints) => put(i, { constraints })}
            />
            <ListField
              label="Scope: path patterns, as narrow as src/billing/**"
              value={intent.scope}
              placeholder="says nothing of files"
              mono
              onChange={(scope) => put(i, { scope })}
            />
            <ListField
              label="Met when"
              value={intent.acceptance}
              placeholder="none"
              onChange={(acceptance) => put(i, { acceptance })}
            />
          </details>
        </div>
      ))}
      <button
        type="button"
        className="button small"
        data-testid="settings-intent-add"
        onClick={() => onChange([...intents, fresh])}
      >
        <Plus size={12} aria-hidden /> Add an intent
      </button>
    </div>
  );
}
