/** What the prompt says beside query and definitions: discovery, directory, hints, guidance, each with its tokens. */
import { Empty } from "../../components/Empty";
import { ToolName } from "../../components/ToolName";
import type { Planning } from "../../ipc/client";
import { count, counted } from "../../lib/format";
import { useWindow } from "../../lib/store";
import "./visibility.css";

const TITLE: Record<Planning["blocks"]["blocks"][number]["kind"], string> = {
  discovery: "How to find more tools",
  directory: "Directory",
  hints: "Hints",
};

export function PromptPanel({ planning: { blocks, guidance } }: { planning: Planning }) {
  const set = useWindow((s) => s.set);
  if (blocks.blocks.length === 0 && guidance.lines.length === 0)
    return (
      <Empty title="Nothing but the query and the definitions">
        <p>
          Hints, the directory of tools and guidance lines of tools stand here when the prompt holds them.{" "}
          <button
            type="button"
            className="link"
            onClick={() => set({ view: "settings", settingsAt: "discovery.hints.enabled" })}
          >
            Turn hints on
          </button>
        </p>
      </Empty>
    );
  return (
    <div className="prompt-blocks" data-testid="prompt-blocks">
      {blocks.blocks.map((block) => (
        <section key={block.kind}>
          <h3>
            {TITLE[block.kind]} <span className="muted">{counted(block.tokens, "token")}</span>
          </h3>
          <pre className="json-block">{block.text.trim()}</pre>
        </section>
      ))}
      {guidance.lines.length > 0 && (
        <section>
          <h3>
            Guidance <span className="muted">{counted(guidance.tokens, "token")}</span>{" "}
            <button type="button" className="link plain" onClick={() => set({ view: "capabilities" })}>
              More about it
            </button>
          </h3>
          <ol className="prompt-guidance">
            {guidance.lines.map((line, i) => (
              <li key={i}>
                <span>{line.line}</span>
                <ToolName name={line.tools[0] ?? ""} />
                <span className="muted">{count(line.tokens)}</span>
              </li>
            ))}
          </ol>
        </section>
      )}
    </div>
  );
}
