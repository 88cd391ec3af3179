/** What the enabled extensions stand for: entries, capabilities, guidance, and which query calls for which. */
import "../../components/table.css";
import { useQuery } from "@tanstack/react-query";
import { CircleAlert } from "lucide-react";
import { useState } from "react";
import { Empty } from "../../components/Empty";
import { PageTabs } from "../../components/PageTabs";
import { ProblemNote } from "../../components/ProblemNote";
import { ToolName } from "../../components/ToolName";
import { Problem, type PlanningView } from "../../ipc/client";
import { counted } from "../../lib/format";
import { usePlanning } from "../../lib/planning";
import { infoQuery, planningViewQuery } from "../../lib/queries";
import { enable } from "./enable";
import { Extensions } from "./Extensions";
import { Guidance } from "./Guidance";
import { MatcherTester } from "./MatcherTester";
import { came } from "./words";
import "./capability.css";

type Tab = "entries" | "tools" | "guidance" | "matchers";

export function CapabilityView() {
  const [tab, setTab] = useState<Tab>("entries");
  const { data: info } = useQuery(infoQuery);
  // Null asks for what the settings enable.
  const { data: view, error } = useQuery(planningViewQuery(null));
  const guidance = usePlanning((s) => s.view?.planning.guidance);
  return (
    <div className="panel-column">
      <PageTabs
        label="Capabilities"
        value={tab}
        onChange={setTab}
        tabs={[
          { value: "entries", label: view ? `Entries ${view.entries.length}` : "Entries" },
          { value: "tools", label: view ? `Capabilities ${view.capabilities.length}` : "Capabilities" },
          { value: "guidance", label: guidance ? `Guidance ${guidance.total_lines}` : "Guidance" },
          { value: "matchers", label: "Matchers" },
        ]}
      />
      {info && view && <Extensions settings={info.settings} view={view} />}
      {error && <ProblemNote problem={Problem.from(error)} />}
      <div className="scroll">
        {tab === "matchers" ? (
          <MatcherTester />
        ) : tab === "guidance" ? (
          <Guidance />
        ) : !view ? null : view.expanded_ids.length === 0 ? (
          <Empty title="No extension is enabled">
            <p>
              An extension is a set of tools that is switched on together: a name of the core catalog such as{" "}
              <code>web</code> or <code>files</code>, the namespace of an imported server, or one tool. Enable one above
              to see which tools and capabilities it brings, and what its guidance costs.
            </p>
            {info && (
              <div className="empty-actions">
                {["web", "files"].map((id) => (
                  <button type="button" key={id} className="button" onClick={() => enable(info.settings, [id])}>
                    Enable {id}
                  </button>
                ))}
              </div>
            )}
          </Empty>
        ) : tab === "entries" ? (
          <Entries view={view} />
        ) : (
          <Tools view={view} />
        )}
      </div>
    </div>
  );
}

function Entries({ view }: { view: PlanningView }) {
  return (
    <>
      <table className="plain-table" data-testid="capability-entries">
        <thead>
          <tr>
            <th>Tool</th>
            <th>Extension</th>
            <th>Came in</th>
            <th>Described by</th>
            <th>Capabilities</th>
            <th className="numeric">Guidance</th>
          </tr>
        </thead>
        <tbody>
          {view.entries.map((entry) => (
            <tr key={entry.tool} data-phantom={!entry.registered || undefined}>
              <td>
                {entry.registered ? (
                  <ToolName name={entry.tool} />
                ) : (
                  <>
                    <code>{entry.tool}</code>{" "}
                    <span
                      className="badge"
                      title="Described by the core catalog, but no tool of this name is registered"
                    >
                      not registered
                    </span>
                  </>
                )}
              </td>
              <td>
                <code>{entry.extension}</code>
              </td>
              <td className="muted">{came(entry.came)}</td>
              <td className="muted">{entry.source === "both" ? "tool and core" : entry.source}</td>
              <td>
                {entry.capabilities.map((c) => (
                  <span key={c} className="tag">
                    {c}
                  </span>
                ))}
              </td>
              <td className="numeric" title={entry.guidance.join("\n")}>
                {counted(entry.guidance.length, "line")}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {view.undescribed.length > 0 && (
        <section className="section">
          <h3>Belong to an enabled extension and describe nothing</h3>
          <p className="names">
            {view.undescribed.slice(0, 60).map((tool) => (
              <ToolName key={tool} name={tool} />
            ))}
            {view.undescribed.length > 60 && <span className="muted">and {view.undescribed.length - 60} more</span>}
          </p>
        </section>
      )}
    </>
  );
}

function Tools({ view }: { view: PlanningView }) {
  const callable = new Set(view.callable);
  if (view.capabilities.length === 0)
    return (
      <Empty title="No capability">
        <p>None of the enabled tools names a capability. Capabilities are a field of the tool, in the inspector.</p>
      </Empty>
    );
  return (
    <table className="plain-table" data-testid="capability-tools">
      <thead>
        <tr>
          <th>Capability</th>
          <th>Tools, in the order of the entries; the first that can be called begins</th>
        </tr>
      </thead>
      <tbody>
        {view.capabilities.map(({ capability, tools }) => {
          const first = tools.find((t) => callable.has(t)) ?? tools[0];
          return (
            <tr key={capability}>
              <td>
                <code>{capability}</code>
              </td>
              <td>
                <span className="names">
                  {tools.map((tool) =>
                    callable.has(tool) ? (
                      <span key={tool} className="first-tool" data-first={tool === first || undefined}>
                        <ToolName name={tool} />
                      </span>
                    ) : (
                      <span key={tool} className="muted" title="Not registered: it cannot be called">
                        <CircleAlert size={12} aria-hidden /> <code>{tool}</code>
                      </span>
                    ),
                  )}
                </span>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
