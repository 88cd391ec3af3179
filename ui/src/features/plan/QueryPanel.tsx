/** The query box, the whitelist under it, and the parts the query was taken into. */
import { Sparkles } from "lucide-react";
import { ListField } from "../../components/ListField";
import { ProblemNote } from "../../components/ProblemNote";
import { WorkProgress } from "../../components/WorkProgress";
import type { Planning } from "../../ipc/client";
import { planDraft } from "../../lib/context";
import { percent } from "../../lib/format";
import { usePlanning } from "../../lib/planning";
import { useWindow } from "../../lib/store";
import { SamplesMenu } from "./SamplesMenu";
import "./plan.css";

export function QueryPanel() {
  const draft = useWindow((s) => s.draft);
  const setDraft = useWindow((s) => s.setDraft);
  const { view, pending, problem, dismiss } = usePlanning();
  const ready = draft.query.trim() !== "";
  const { routing } = draft;
  const restricted = (routing.suggested_tools?.length ?? 0) > 0;

  return (
    <>
      <section className="section" aria-label="Query">
        <div className="section-head">
          <span className="grow">Query</span>
          <SamplesMenu />
        </div>
        <textarea
          data-testid="query-input"
          aria-label="Query"
          rows={3}
          value={draft.query}
          placeholder="What should the agent find out or do?"
          // A decomposition that came with a sample is about the sample's words.
          onChange={(e) =>
            setDraft({ query: e.target.value, decomposition: null, routing: { ...routing, sub_questions: [] } })
          }
          onKeyDown={(e) => {
            if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
              e.preventDefault();
              planDraft();
            }
          }}
        />
        <details className="routing" open={restricted || undefined}>
          <summary>
            Routing {restricted && <span className="badge">whitelist of {routing.suggested_tools?.length}</span>}
          </summary>
          <ListField
            label="Suggested tools"
            testId="suggested-tools"
            value={routing.suggested_tools ?? []}
            placeholder="any tool"
            mono
            onChange={(tools) =>
              setDraft({ routing: { ...routing, suggested_tools: tools.length > 0 ? tools : null } })
            }
          />
        </details>
        <div className="query-actions">
          <button
            type="button"
            className="button primary"
            data-testid="plan-button"
            data-pending={pending || undefined}
            disabled={!ready}
            title={ready ? "Plan (Ctrl+Enter)" : "Write a query first"}
            onClick={planDraft}
          >
            <Sparkles size={14} aria-hidden /> {pending ? "Planning…" : "Plan"}
          </button>
          <kbd>Ctrl Enter</kbd>
          {view && view.planning.request.query !== draft.query && <span className="muted">not planned yet</span>}
        </div>
        <WorkProgress kinds={["plan"]} />
        {problem && <ProblemNote problem={problem} onDismiss={dismiss} />}
      </section>
      {view && <SubQueries planning={view.planning} />}
    </>
  );
}

function SubQueries({ planning }: { planning: Planning }) {
  const { sub_queries, query_type, confidence, reasoning, entities } = planning.decomposition;
  const apart = sub_queries.length > 1 || (sub_queries[0] && sub_queries[0].query !== planning.request.query);
  return (
    <section className="section" aria-label="Sub-queries" data-testid="sub-queries">
      <h3 title={reasoning}>
        <span className="grow">Sub-queries</span>
        <span className="plain">
          {query_type.replaceAll("_", " ")} · confidence {percent(confidence)}
        </span>
      </h3>
      {!apart && <p className="muted">Answered as one query.</p>}
      <ol className="sub-queries">
        {(apart ? sub_queries : []).map((sub) => (
          <li key={sub.id}>
            <code>{sub.id}</code>
            <span>
              {sub.query}
              <span className="muted">
                {sub.purpose && ` · ${sub.purpose}`}
                {sub.dependencies.length > 0 && ` · after ${sub.dependencies.join(", ")}`}
              </span>
            </span>
          </li>
        ))}
      </ol>
      {entities.length > 0 && <p className="muted">Names {entities.join(", ")}</p>}
    </section>
  );
}
