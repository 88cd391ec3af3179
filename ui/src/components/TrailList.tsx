import type { Outcome, Verdict } from "../ipc/client";
import { GATE } from "../lib/words";
import { OutcomeBadge, Rule } from "./Badges";
import "./trail.css";

const STOPS: readonly Outcome[] = ["hidden", "dropped", "not_chosen"];

/** The index of the verdict that decided: the first that stops the tool, else the last. */
function deciding(verdicts: readonly Verdict[]): number {
  const stop = verdicts.findIndex((v) => STOPS.includes(v.outcome));
  return stop >= 0 ? stop : verdicts.length - 1;
}

/** Verdicts in the order of the gates. What comes after the deciding one made no difference and is dimmed. */
export function TrailList({ verdicts }: { verdicts: readonly Verdict[] }) {
  const at = deciding(verdicts);
  return (
    <ol className="trail" data-testid="trail">
      {verdicts.map((v, i) => (
        <li
          key={i}
          data-testid={`trail-${v.gate}`}
          data-outcome={v.outcome}
          data-rule={v.rule}
          data-deciding={i === at || undefined}
          data-after={i > at || undefined}
        >
          <span className="trail-gate">{GATE[v.gate]}</span>
          <span className="trail-what">
            <OutcomeBadge of={v.outcome} /> {v.reason}
            <span className="trail-foot">
              <Rule id={v.rule} />
              {v.config_key !== null && <span className="muted"> set by {v.config_key}</span>}
              {v.evidence.map((e, j) => (
                <q key={j} className="muted">
                  {e.text}
                </q>
              ))}
            </span>
          </span>
        </li>
      ))}
    </ol>
  );
}
