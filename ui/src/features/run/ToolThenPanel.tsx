/** One tool as it was at a run: its definition, its trail by one event, and what has changed since. */
import { useQuery } from "@tanstack/react-query";
import { ClassificationBadge } from "../../components/Badges";
import { FieldDiff } from "../../components/FieldDiff";
import { PastNote, type Instant } from "../../components/PastNote";
import { ProblemNote } from "../../components/ProblemNote";
import { StatusIcon } from "../../components/Status";
import { TrailList } from "../../components/TrailList";
import { Problem } from "../../ipc/client";
import { count, counted, json } from "../../lib/format";
import { toolThenQuery } from "../../lib/queries";
import { useWindow } from "../../lib/store";
import { usedWords } from "./toolWords";
import "./then.css";

export function ToolThenPanel({ instant, name }: { instant: Instant; name: string }) {
  const { data, error } = useQuery(toolThenQuery(instant.run, instant.at, name));
  const set = useWindow((s) => s.set);
  if (error) return <ProblemNote problem={Problem.from(error)} />;
  if (!data) return null;
  const { at, spec, cost, trail, changed } = data;
  const tokens = cost.name + cost.description + cost.schema;
  return (
    <div className="panel-column" data-testid="tool-then">
      <PastNote instant={instant} />
      <section className="section">
        <div className="step-title">
          <code>{spec.name}</code>
          <ClassificationBadge of={spec.classification} />
          <span className="step-title-status" data-testid="tool-then-status" data-status={at.status ?? "unused"}>
            {at.status && <StatusIcon status={at.status} />} {usedWords(at)}
          </span>
        </div>
        <p>{spec.description}</p>
        <p className="muted">
          {counted(at.calls, "call")} by then
          {at.failures > 0 && `, ${count(at.failures)} of them failed`} · {counted(tokens, "token")}
        </p>
        {at.step !== "" && (
          <button type="button" className="link" onClick={() => set({ step: at.step, tool: null })}>
            Show {at.step}
          </button>
        )}
      </section>
      <section className="section" aria-label="Trail">
        <h3>Why</h3>
        {trail.verdicts.length > 0 ? (
          <TrailList verdicts={trail.verdicts} />
        ) : (
          <p className="muted">Not planned yet.</p>
        )}
      </section>
      <section className="section" aria-label="Since then">
        <h3>Since then</h3>
        {at.removed ? (
          <p className="muted">The catalog has it no more.</p>
        ) : at.unchanged ? (
          <p className="muted">It is the same today.</p>
        ) : (
          <FieldDiff changes={changed} />
        )}
      </section>
      <section className="section" aria-label="Parameters">
        <h3>Parameters</h3>
        <pre className="json-block">{json(spec.parameters)}</pre>
      </section>
    </div>
  );
}
