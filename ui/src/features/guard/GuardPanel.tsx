/** What the guard made of the proposed calls, and the words in the query that it rests on. */
import { ShieldCheck } from "lucide-react";
import { useMemo } from "react";
import { OutcomeBadge, Rule } from "../../components/Badges";
import { StatusIcon } from "../../components/Status";
import { ToolName } from "../../components/ToolName";
import type { GuardedCall, Outcome, Planning } from "../../ipc/client";
import { counted, duration, inline } from "../../lib/format";
import type { Fate } from "../../lib/steps";
import { useWindow } from "../../lib/store";
import { OUTCOME, PATH, STATUS } from "../../lib/words";
import { Highlighted } from "./Highlighted";
import { evidenceMarks, modelMarks, subQuestionsWithEvidence } from "./marks";
import "./guard.css";

interface Numbered {
  call: GuardedCall;
  index: number;
  fate: Fate | undefined;
}

interface GuardPanelProps {
  planning: Planning;
  /** By the index of the call: how the step that it became stands in the run that is shown. */
  fates?: ReadonlyMap<number, Fate>;
}

const NO_FATES: ReadonlyMap<number, Fate> = new Map();

export function GuardPanel({ planning, fates = NO_FATES }: GuardPanelProps) {
  const { guard, request, planner } = planning;
  const queryMarks = useMemo(() => evidenceMarks(guard, { kind: "query" }), [guard]);
  const textMarks = useMemo(() => modelMarks(guard), [guard]);
  const subQuestions = useMemo(() => subQuestionsWithEvidence(planning), [planning]);
  const calls = guard.calls.map((call, index): Numbered => ({ call, index, fate: fates.get(index) }));
  const having = (outcome: Outcome) => calls.filter((c) => c.call.outcome === outcome);
  const rewritten = having("rewritten");
  const unguarded = calls.length - having("added").length;
  const guarded = calls.length - having("dropped").length;

  return (
    <section className="section guard" aria-label="Guard" data-testid="guard-panel">
      <h3>
        <ShieldCheck size={13} aria-hidden /> <span className="grow">Guard</span>
      </h3>
      <p className="guard-summary" data-testid="guard-summary">
        Unguarded: {counted(unguarded, "call")} → guarded: <strong>{guarded}</strong>
      </p>
      <p className="guard-path" data-testid="guard-path" data-path={guard.path}>
        <span className="badge">{PATH[guard.path]}</span> <span className="muted">{guard.path_reason}</span>
      </p>
      {planner.fallback_reason !== "" && (
        <p className="guard-path">
          <span className="badge" data-outcome="rewritten">
            {planner.label}
          </span>{" "}
          <span className="muted">{planner.fallback_reason}</span>
        </p>
      )}
      <div className="field-label">Query</div>
      <Highlighted text={request.query} marks={queryMarks} guard={guard} testId="guard-query" />
      {subQuestions.map(({ index, text }) => (
        <div key={index}>
          <div className="field-label">Sub-question {index + 1}</div>
          <Highlighted text={text} marks={evidenceMarks(guard, { kind: "sub_question", index })} guard={guard} />
        </div>
      ))}
      {guard.model_text !== "" && (
        <>
          <div className="field-label">
            Model's reply · {planner.label}
            {planner.model_ms !== null && ` · ${duration(planner.model_ms)}`}
          </div>
          <Highlighted text={guard.model_text} marks={textMarks} guard={guard} testId="guard-model-text" />
        </>
      )}
      <CallList outcome="kept" calls={having("kept")} none="No proposed call was kept." />
      {rewritten.length > 0 && <CallList outcome="rewritten" calls={rewritten} none="" />}
      <CallList outcome="dropped" calls={having("dropped")} none="Nothing was dropped." />
      <CallList outcome="added" calls={having("added")} none="No rule added a call." />
    </section>
  );
}

function CallList({ outcome, calls, none }: { outcome: Outcome; calls: Numbered[]; none: string }) {
  return (
    <div className="guard-list" data-testid={`guard-${outcome}`} data-count={calls.length}>
      <h4>
        {OUTCOME[outcome]} <span className="muted">{calls.length}</span>
      </h4>
      {calls.length === 0 && <p className="muted">{none}</p>}
      <ul>
        {calls.map((c) => (
          <Call key={c.index} {...c} />
        ))}
      </ul>
    </div>
  );
}

function Call({ call, index, fate }: Numbered) {
  const hot = useWindow((s) => s.hoveredCall === index);
  const set = useWindow((s) => s.set);
  const { tool } = call.call;
  const args = inline(call.call.arguments);
  const point = () => set({ hoveredCall: index });
  const leave = () => set({ hoveredCall: null });
  return (
    <li
      className="guard-call"
      data-testid={`guard-call-${tool}`}
      data-outcome={call.outcome}
      data-rule={call.verdict.rule}
      data-hot={hot || undefined}
      onMouseEnter={point}
      onMouseLeave={leave}
    >
      {/* The name is the link for the keyboard; the card around it is a larger place to click. */}
      <div className="guard-call-body" onClick={() => set({ tool, step: null })} onFocus={point} onBlur={leave}>
        <span className="guard-call-head">
          <ToolName name={tool} />
          {call.would_drop && (
            <span className="badge" data-outcome="dropped" title="Audit mode: the guard reports it and lets it through">
              audit: would drop
            </span>
          )}
          <OutcomeBadge of={call.outcome} />
        </span>
        <span className="guard-reason">{call.verdict.reason}</span>
        {args !== "" && (
          <span className="guard-arguments" title={args}>
            {args}
          </span>
        )}
        {fate && (
          <span className="guard-fate" data-testid={`guard-fate-${tool}`} data-status={fate.status}>
            <StatusIcon status={fate.status} /> {fate.step}: {STATUS[fate.status].toLowerCase()}
          </span>
        )}
        <span className="guard-foot">
          <Rule id={call.verdict.rule} />
          {call.verdict.config_key !== null && <span className="muted">set by {call.verdict.config_key}</span>}
          {call.sub_query !== "" && <span className="muted">for {call.sub_query}</span>}
        </span>
      </div>
    </li>
  );
}
