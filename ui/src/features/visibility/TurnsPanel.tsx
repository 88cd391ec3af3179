/** What the model was asked and answered while planning: each turn with its calls and what came back. */
import { CircleX } from "lucide-react";
import { Empty } from "../../components/Empty";
import { ToolName } from "../../components/ToolName";
import type { Planning, TurnRecord } from "../../ipc/client";
import { count, counted, duration, inline, json, UNKNOWN } from "../../lib/format";
import "./visibility.css";

export function TurnsPanel({ planning }: { planning: Planning }) {
  if (planning.turns.length === 0)
    return (
      <Empty title="No model was asked">
        <p>
          When a model plans, each of its turns stands here: what it searched with tool_search, the intent it selected,
          what it was answered, and which tools its next prompt held. Choose a model or a recorded reply as the planner.
        </p>
      </Empty>
    );
  return (
    <ol className="turns" data-testid="turns">
      {planning.turns.map((turn) => (
        <Turn key={turn.number} turn={turn} />
      ))}
    </ol>
  );
}

function Turn({ turn }: { turn: TurnRecord }) {
  const prompt = turn.tokens.definitions + turn.tokens.base + turn.tokens.blocks + turn.tokens.carried;
  const moved = turn.state_after !== turn.state || turn.intent_after !== turn.intent;
  return (
    <li data-testid={`turn-${turn.number}`}>
      <div className="turn-head">
        <strong>Turn {turn.number}</strong>
        <code>{turn.state}</code>
        {turn.intent !== "" && <code>{turn.intent}</code>}
        <span className="muted">
          {counted(turn.visible, "tool")} shown · prompt {turn.input_tokens === null ? "≈ " : ""}
          {count(turn.input_tokens ?? prompt)} tokens · {turn.model_ms === null ? UNKNOWN : duration(turn.model_ms)}
          {turn.tokens.extra && " · sent only to search or select"}
        </span>
      </div>
      {turn.text.trim() !== "" && <p className="turn-text">{turn.text}</p>}
      {turn.calls.map((call, i) => (
        <details key={i} className="turn-call">
          <summary>
            <ToolName name={call.call.tool} />
            <code className="truncate muted">{inline(call.call.arguments)}</code>
            {call.is_error ? (
              <span className="badge" data-outcome="dropped">
                <CircleX size={12} aria-hidden /> refused
              </span>
            ) : (
              <span className="muted small">{call.result === null ? "goes to the guard" : "answered"}</span>
            )}
          </summary>
          {call.result !== null && <pre className="json-block">{json(call.result)}</pre>}
        </details>
      ))}
      {moved && (
        <p className="turn-moved">
          → <code>{turn.state_after}</code> {turn.intent_after !== "" && <code>{turn.intent_after}</code>}
        </p>
      )}
      {turn.activated.length > 0 && (
        <p className="turn-moved">
          The next prompt also holds{" "}
          {turn.activated.map((tool) => (
            <ToolName key={tool} name={tool} />
          ))}
        </p>
      )}
    </li>
  );
}
