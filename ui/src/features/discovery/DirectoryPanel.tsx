/** What discovery adds to the prompt: directory and hints as the model sees them, and what sessions have activated. */
import { useQuery } from "@tanstack/react-query";
import { Empty } from "../../components/Empty";
import { ProblemNote } from "../../components/ProblemNote";
import { ToolName } from "../../components/ToolName";
import { client, Problem } from "../../ipc/client";
import { change } from "../../lib/edits";
import { count, counted } from "../../lib/format";
import { useContextRequest, usePlanning } from "../../lib/planning";
import { directoryQuery, infoQuery } from "../../lib/queries";
import { useSessionId } from "../../lib/session";
import { useWindow } from "../../lib/store";
import "./discovery.css";

export function DirectoryPanel() {
  const { request } = useContextRequest();
  const { data: info } = useQuery(infoQuery);
  const { data, error } = useQuery(directoryQuery(request));
  const set = useWindow((s) => s.set);
  const discovery = info?.settings.discovery;
  return (
    <div className="scroll directory">
      {error && <ProblemNote problem={Problem.from(error)} />}
      {discovery && (!discovery.enabled || !discovery.directory.enabled) && (
        <p className="muted">
          {discovery.enabled ? "The directory is not part of the prompt now" : "Discovery is off now"}: this is what the
          model would see.{" "}
          <button
            type="button"
            className="link"
            onClick={() => set({ view: "settings", settingsAt: "discovery.directory.enabled" })}
          >
            Change it in the settings
          </button>
        </p>
      )}
      <Blocks />
      {data && data.groups.length === 0 && (
        <Empty title="No groups">
          <p>Groups form by namespace, or as the settings say. None of the visible tools is in one.</p>
        </Empty>
      )}
      {data && data.groups.length > 0 && (
        <div className="directory-both">
          <section aria-label="Groups">
            <h3>
              {counted(data.groups.length, "group")}
              {data.left_out > 0 && <span className="muted"> · {count(data.left_out)} left out</span>}
            </h3>
            <ul className="directory-groups">
              {data.groups.map((group) => (
                <li key={group.name}>
                  <div className="directory-head">
                    <strong className="grow truncate">{group.title ?? group.name}</strong>
                    {group.task_type !== null && <span className="badge">{group.task_type}</span>}
                    <span className="muted small">{counted(group.tools, "tool")}</span>
                  </div>
                  {group.trigger !== null && <div className="muted small">{group.trigger}</div>}
                  <div className="directory-names">
                    {group.examples.map((tool) => (
                      <ToolName key={tool} name={tool} />
                    ))}
                  </div>
                </li>
              ))}
            </ul>
          </section>
          <section aria-label="As the model sees it">
            <h3>As the model sees it</h3>
            <pre className="json-block tall" data-testid="directory-text">
              {data.text}
            </pre>
          </section>
        </div>
      )}
      <Activated />
    </div>
  );
}

function Blocks() {
  const blocks = usePlanning((s) => s.view?.planning.blocks);
  if (!blocks || blocks.blocks.length === 0) return null;
  const hints = blocks.blocks.filter((b) => b.kind !== "directory");
  return (
    <section aria-label="Other blocks of the open planning">
      <h3>
        In the open planning <span className="muted">· {counted(blocks.tokens, "token")} for all blocks</span>
      </h3>
      {hints.map((block) => (
        <details key={block.kind} open={block.kind === "hints"}>
          <summary>
            {block.kind} <span className="muted">{counted(block.tokens, "token")}</span>
          </summary>
          <pre className="json-block">{block.text}</pre>
        </details>
      ))}
    </section>
  );
}

function Activated() {
  const { id } = useSessionId();
  const { data } = useQuery({
    queryKey: ["directory", null, "activated", id],
    queryFn: () => client.activatedTools(id),
    staleTime: 0,
  });
  return (
    <section aria-label="Activated tools">
      <h3>Activated in the session {id}</h3>
      {data?.length ? (
        <div className="directory-names">
          {data.map((tool) => (
            <ToolName key={tool} name={tool} />
          ))}
          <button
            type="button"
            className="button small"
            onClick={() => void change(() => client.deactivateTools(id, null))}
          >
            Take all back
          </button>
        </div>
      ) : (
        <p className="muted">
          None. A deferred tool is activated by its first call; with the scope “session” it stays so for the session.
        </p>
      )}
    </section>
  );
}
