/** A session: where it stands, what may happen next, its intents, and what has happened so far. */
import { useQuery } from "@tanstack/react-query";
import { CircleAlert, LifeBuoy, MessageSquare, RotateCcw, Sparkles } from "lucide-react";
import { useEffect, useState } from "react";
import { ProblemNote } from "../../components/ProblemNote";
import { Problem, type IntentView, type SessionEvent, type SessionView } from "../../ipc/client";
import { timeOfDay } from "../../lib/format";
import { sessionQuery } from "../../lib/queries";
import { planInSession, sessionEvent, useSessionId } from "../../lib/session";
import { useWindow } from "../../lib/store";
import { INTENT_STATUS } from "../../lib/words";
import { StateMachine } from "./StateMachine";
import "./session.css";

export function SessionPanel() {
  const { id, setId } = useSessionId();
  const [typed, setTyped] = useState(id);
  useEffect(() => setTyped(id), [id]);
  const { data: view, error } = useQuery(sessionQuery(id));
  return (
    <div className="scroll session">
      <div className="session-name">
        <label className="choice always">
          <span>Session</span>
          <input
            data-testid="session-id"
            value={typed}
            onChange={(e) => setTyped(e.target.value)}
            onBlur={() => typed.trim() !== "" && setId(typed.trim())}
            onKeyDown={(e) => e.key === "Enter" && typed.trim() !== "" && setId(typed.trim())}
          />
        </label>
        <span className="muted">
          A session moves from REQUEST by a message to REASONING, and by an intent to ACTION, where destructive tools
          are shown.
        </span>
      </div>
      {error && <ProblemNote problem={Problem.from(error)} />}
      {view && <Panel view={view} />}
    </div>
  );
}

function Panel({ view }: { view: SessionView }) {
  const { session, intents, trouble, deadlocks } = view;
  const send = (event: SessionEvent) => void sessionEvent(event);
  return (
    <>
      <div className="session-top">
        <div>
          <StateMachine state={session.state} hasIntent={intents.some((i) => i.why_not === null)} />
          <p className="session-now" data-testid="session-now">
            {session.intent !== "" ? (
              <>
                Works on <code>{session.intent}</code>.
              </>
            ) : session.last_intent !== "" ? (
              <>
                No intent; the last was <code>{session.last_intent}</code>, and may be selected again.
              </>
            ) : (
              "No intent is selected: destructive tools are hidden."
            )}
          </p>
        </div>
        <Actions onSend={send} />
      </div>
      {view.refused && <ProblemNote problem={new Problem(view.refused)} />}
      {trouble && <ProblemNote problem={new Problem(trouble)} />}
      {deadlocks.map((d) => (
        <ProblemNote key={d.code + d.message} problem={new Problem(d)} />
      ))}
      <div className="session-bottom">
        <section aria-label="Intents">
          <h3>Intents</h3>
          {intents.length === 0 && (
            <p className="muted">
              No intent is defined, so destructive tools stay hidden.{" "}
              <button
                type="button"
                className="link"
                onClick={() => useWindow.getState().set({ view: "settings", settingsAt: "intents" })}
              >
                Add one in the settings
              </button>
            </p>
          )}
          <ul className="intents">
            {intents.map((intent) => (
              <IntentLine key={intent.intent.id} view={intent} session={session} onSend={send} />
            ))}
          </ul>
        </section>
        <Log session={session} />
      </div>
    </>
  );
}

const WAYS_OUT = [
  { kind: "recover", word: "Recover", icon: LifeBuoy, title: "To REASONING, out of any state" },
  { kind: "reset", word: "Reset", icon: RotateCcw, title: "Back to REQUEST" },
] as const;

function Actions({ onSend }: { onSend: (event: SessionEvent) => void }) {
  const [text, setText] = useState("");
  const query = useWindow((s) => s.draft.query);
  return (
    <form
      className="session-actions"
      onSubmit={(e) => {
        e.preventDefault();
        onSend({ kind: "message", text: text.trim() || query });
        setText("");
      }}
    >
      <label className="field">
        <span>Message</span>
        <input
          data-testid="session-message"
          value={text}
          placeholder={query || "What the person says next"}
          onChange={(e) => setText(e.target.value)}
        />
      </label>
      <div className="session-buttons">
        <button type="submit" className="button" data-testid="session-send">
          <MessageSquare size={13} aria-hidden /> Send message
        </button>
        <button
          type="button"
          className="button"
          data-testid="session-plan"
          disabled={query.trim() === ""}
          title={query.trim() === "" ? "Write a query in the plan view first" : "Plan the open query in this session"}
          onClick={() => void planInSession()}
        >
          <Sparkles size={13} aria-hidden /> Plan in session
        </button>
      </div>
      <div className="session-buttons">
        {WAYS_OUT.map(({ kind, word, icon: Icon, title }) => (
          <button
            type="button"
            key={kind}
            className="button"
            data-testid={`session-${kind}`}
            title={title}
            onClick={() => onSend({ kind })}
          >
            <Icon size={13} aria-hidden /> {word}
          </button>
        ))}
      </div>
    </form>
  );
}

interface IntentLineProps {
  view: IntentView;
  session: SessionView["session"];
  onSend: (event: SessionEvent) => void;
}

function IntentLine({ view: { intent, why_not }, session, onSend }: IntentLineProps) {
  const selected = session.intent === intent.id;
  const switches = session.state === "ACTION";
  return (
    <li data-selected={selected || undefined} data-testid={`intent-${intent.id}`}>
      <div className="intent-head">
        <code>{intent.id}</code>
        <span className="grow truncate">{intent.title}</span>
        <span className="badge" data-intent={intent.status}>
          {INTENT_STATUS[intent.status]}
        </span>
        <button
          type="button"
          className="button small"
          disabled={selected}
          data-testid={`select-${intent.id}`}
          onClick={() =>
            onSend(
              switches
                ? { kind: "switch_intent", intent: intent.id }
                : { kind: "select_intent", intent: intent.id, by: "person" },
            )
          }
        >
          {selected ? "Selected" : switches ? "Switch to it" : "Select"}
        </button>
      </div>
      {why_not && (
        <div className="small intent-why">
          <CircleAlert size={12} aria-hidden /> {why_not.message}
        </div>
      )}
      {intent.constraints.map((c) => (
        <div key={c} className="muted small">
          {c}
        </div>
      ))}
      {intent.scope.length > 0 && (
        <div className="muted small">
          Scope <code>{intent.scope.join(" ")}</code>
        </div>
      )}
    </li>
  );
}

function Log({ session }: { session: SessionView["session"] }) {
  return (
    <section aria-label="What happened">
      <h3>What happened</h3>
      {session.log.length === 0 && <p className="muted">Nothing yet. Send a message to begin a request.</p>}
      <ol className="session-log" data-testid="session-log">
        {[...session.log].reverse().map((t) => (
          <li key={t.seq} data-refused={t.refused !== null || undefined}>
            <span className="muted">{timeOfDay(t.at_ms)}</span>
            <code>{t.from === t.to ? t.from : `${t.from} → ${t.to}`}</code>
            <span>
              {t.text}
              {t.event.kind === "message" && t.event.text !== "" && (
                <>
                  {" "}
                  <q className="muted">{t.event.text}</q>
                </>
              )}
              {t.event.kind === "select_intent" && t.event.by === "model" && (
                <span className="muted"> (the model)</span>
              )}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
