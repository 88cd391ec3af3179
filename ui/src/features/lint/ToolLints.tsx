import { useQuery } from "@tanstack/react-query";
import { lintsQuery } from "../../lib/queries";
import { SEVERITY } from "../../lib/words";
import { Fix } from "./Fix";
import "./lint.css";

/** In the inspector: what is wrong with this tool, with the fixes. */
export function ToolLints({ tool }: { tool: string }) {
  const { data } = useQuery(lintsQuery({ codes: [], severities: [], tools: [tool], offset: 0, limit: 50 }));
  const lints = data?.lints.filter((l) => l.tools.includes(tool)) ?? [];
  if (lints.length === 0) return null;
  return (
    <section className="section" aria-label="Lints" data-testid="tool-lints">
      <h3>Lints</h3>
      <ol className="lint-list compact">
        {lints.map((lint, i) => (
          <li key={i}>
            <span className="lint-dot" data-severity={lint.severity} title={SEVERITY[lint.severity]} />
            <span className="lint-says">
              <span>{lint.message}</span>
              <code className="rule">{lint.code}</code>
            </span>
            {lint.fix && <Fix lint={lint} fix={lint.fix} />}
          </li>
        ))}
      </ol>
    </section>
  );
}
