/** Why a tool is hidden or shown: its whole way through the gates, what else would have stopped it, and other states. */
import * as Popover from "@radix-ui/react-popover";
import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useRef } from "react";
import { Problem, type Outcome, type Request, type Verdict, type WhyRow } from "../ipc/client";
import { useContextRequest } from "../lib/planning";
import { toolQuery, whyQuery } from "../lib/queries";
import { useWindow, type WhyAsked } from "../lib/store";
import { GATE } from "../lib/words";
import { ClassificationBadge, Rule } from "./Badges";
import { Seen } from "./Seen";
import { ProblemNote } from "./ProblemNote";
import { TrailList } from "./TrailList";
import "./tool-name.css";

const STOPS: readonly Outcome[] = ["hidden", "dropped", "not_chosen"];

export function WhyPopover() {
  const why = useWindow((s) => s.why);
  const set = useWindow((s) => s.set);
  const anchor = useRef({ getBoundingClientRect: () => new DOMRect() });
  if (why) anchor.current = { getBoundingClientRect: () => DOMRect.fromRect(why.at) };
  return (
    <Popover.Root open={why !== null} onOpenChange={(open) => !open && set({ why: null })}>
      <Popover.Anchor key={why && `${why.tool}:${why.at.x}:${why.at.y}`} virtualRef={anchor} />
      <Popover.Portal>
        {why && (
          <Popover.Content
            className="popover why"
            side="bottom"
            align="start"
            sideOffset={6}
            collisionPadding={8}
            aria-label={`Why is ${why.tool} hidden or shown?`}
            data-testid="why"
          >
            <Why key={why.tool} asked={why} />
          </Popover.Content>
        )}
      </Popover.Portal>
    </Popover.Root>
  );
}

/** The context as a person reads it. */
function contextWords({ state, mode, session, intent }: Request): string {
  return [state, mode && `mode ${mode}`, session.tenant && `tenant ${session.tenant}`, intent && `intent ${intent}`]
    .filter(Boolean)
    .join(" · ");
}

function Why({ asked: { tool } }: { asked: WhyAsked }) {
  const { request, plan } = useContextRequest();
  const set = useWindow((s) => s.set);
  const { data: detail, error } = useQuery(toolQuery(tool, request, plan));
  const { mode, session } = request;
  const { data: states } = useQuery(
    whyQuery(tool, {
      states: [],
      modes: mode === "" ? [] : [mode],
      tenants: session.tenant === "" ? [] : [session.tenant],
      user: session.user,
      flags: session.flags,
    }),
  );
  const verdicts = detail?.trail.verdicts ?? [];
  const stopping = verdicts.filter((v) => STOPS.includes(v.outcome));
  const [decided, ...also] = stopping;
  return (
    <>
      <div className="why-head">
        <code>{tool}</code>
        {detail && <ClassificationBadge of={detail.spec.classification} />}
        <span className="grow" />
        <button
          type="button"
          className="button small"
          onClick={() => set({ tool, step: null, why: null })}
          title="Show the tool in the inspector"
        >
          Open
        </button>
        <Popover.Close className="icon-button" aria-label="Close">
          <X size={14} />
        </Popover.Close>
      </div>
      {error && <ProblemNote problem={Problem.from(error)} />}
      {detail && (
        <div className="why-part">
          <h3>{contextWords(request)}</h3>
          <p data-testid="why-decided">
            {decided
              ? `${decided.outcome === "not_chosen" ? "Not chosen" : "Stopped"} at ${GATE[decided.gate].toLowerCase()}: ${decided.reason}`
              : "Nothing stops it."}
          </p>
        </div>
      )}
      {states && (
        <div className="why-part">
          <h3>In each state</h3>
          <ul className="why-states">
            {states.map((row) => (
              <StateLine key={row.state} row={row} />
            ))}
          </ul>
        </div>
      )}
      {also.length > 0 && (
        <div className="why-part">
          <h3>What else would have stopped it</h3>
          <ul className="why-also" data-testid="why-also">
            {also.map((v, i) => (
              <AlsoLine key={i} verdict={v} />
            ))}
          </ul>
        </div>
      )}
      {verdicts.length > 0 && (
        <div className="why-part">
          <h3>{request.query === "" ? "All gates" : "All gates, for this query"}</h3>
          <TrailList verdicts={verdicts} />
        </div>
      )}
    </>
  );
}

function AlsoLine({ verdict: { gate, reason, rule, config_key } }: { verdict: Verdict }) {
  const set = useWindow((s) => s.set);
  return (
    <li>
      <strong>{GATE[gate]}</strong>
      <span>{reason}</span>
      <Rule id={rule} />
      {config_key !== null && (
        <button
          type="button"
          className="link"
          onClick={() => set({ view: "settings", settingsAt: config_key, why: null })}
        >
          {config_key}
        </button>
      )}
    </li>
  );
}

function StateLine({ row }: { row: WhyRow }) {
  return (
    <li data-testid={`why-${row.state}`} data-visible={row.visible}>
      <code>{row.state}</code>
      <Seen how={row.in_prompt ? "visible" : row.visible ? "deferred" : "hidden"} />
      <span className="muted">
        {row.decided?.reason ?? ""}
        {row.also.length > 0 && `; also ${row.also.map((v) => GATE[v.gate].toLowerCase()).join(", ")}`}
      </span>
    </li>
  );
}
