/** Everything about one tool: why it is where it is, what it is, how it behaved, and how it came to be so. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ClassificationBadge } from "../../components/Badges";
import { ProblemNote } from "../../components/ProblemNote";
import { ToolName } from "../../components/ToolName";
import { TrailList } from "../../components/TrailList";
import { Problem, type ToolDetail } from "../../ipc/client";
import { count, duration, percent } from "../../lib/format";
import { useContextRequest } from "../../lib/planning";
import { toolQuery } from "../../lib/queries";
import { RevisionList } from "./RevisionList";
import { ToolEditor } from "./ToolEditor";
import "./catalog.css";

/** `lints`: what another part of the window has to say about the tool. */
export function ToolInspector({ name, lints }: { name: string; lints: ReactNode }) {
  const { request, plan } = useContextRequest();
  const { data: detail, error } = useQuery(toolQuery(name, request, plan));
  return (
    <div className="panel-column" data-tool={name}>
      {error && <ProblemNote problem={Problem.from(error)} />}
      {detail && (
        <>
          <section className="section">
            <div className="tool-title">
              <span data-testid="inspector-tool">
                <ToolName name={detail.spec.name} plain />
              </span>
              <ClassificationBadge of={detail.spec.classification} />
            </div>
            {detail.spec.title !== null && <p>{detail.spec.title}</p>}
            <p className="muted">
              {[
                detail.spec.namespace,
                detail.spec.category,
                `${detail.spec.side_effects} side effects`,
                bindingWord(detail),
              ]
                .filter(Boolean)
                .join(" · ")}
            </p>
          </section>
          <section className="section" aria-label="Trail">
            <h3>{request.query === "" ? "Way through the gates" : "Way through the gates for this query"}</h3>
            <TrailList verdicts={detail.trail.verdicts} />
          </section>
          {lints}
          <ToolEditor key={name} detail={detail} />
          <Numbers detail={detail} />
          <RevisionList tool={name} history={detail.history} />
        </>
      )}
    </div>
  );
}

function bindingWord({ spec }: ToolDetail): string {
  switch (spec.binding.kind) {
    case "none":
      return "no binding: it can be planned, not run";
    case "builtin":
      return "built in";
    case "http":
      return `HTTP ${spec.binding.method}`;
    case "mcp":
      return `MCP server ${spec.binding.server}`;
    case "mock":
      return "mock: a fixed answer";
  }
}

function Numbers({ detail: { cost, stats } }: { detail: ToolDetail }) {
  const rows: [string, string][] = [
    [
      "Tokens",
      `${count(cost.name + cost.description + cost.schema)} (name ${cost.name}, description ${cost.description}, schema ${cost.schema})`,
    ],
  ];
  if (stats) {
    rows.push(
      ["Calls", `${count(stats.calls)}, ${count(stats.failures)} failed (${percent(stats.failure_rate)})`],
      ["Retries", `${count(stats.retries)}, timeouts ${count(stats.timeouts)}`],
      [
        "Duration",
        `average ${duration(stats.average_ms)}, p50 ${duration(stats.p50_ms)}, p95 ${duration(stats.p95_ms)}`,
      ],
      ["Confidence", percent(stats.average_confidence)],
    );
  }
  return (
    <section className="section" aria-label="Numbers">
      <h3>Numbers</h3>
      <dl className="facts">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {!stats && <p className="muted">It has not been called yet.</p>}
    </section>
  );
}
