/** The guidance lines of the open planning's prompt: whose they are, what they cost, what is odd about them. */
import { Copy, EyeOff, Ghost, Swords } from "lucide-react";
import type { ReactNode } from "react";
import { Empty } from "../../components/Empty";
import { ToolName } from "../../components/ToolName";
import type { GuidanceLine } from "../../ipc/client";
import { count, counted } from "../../lib/format";
import { usePlanning } from "../../lib/planning";

export function Guidance() {
  const guidance = usePlanning((s) => s.view?.planning.guidance);
  if (!guidance)
    return (
      <Empty title="No planning is open">
        <p>Plan a query to see which guidance lines its prompt holds, which tool each comes from, and what it costs.</p>
      </Empty>
    );
  if (guidance.lines.length === 0)
    return (
      <Empty title="No guidance in the prompt">
        <p>
          None of the tools that the model sees has guidance. It is a field of the tool; in the catalog, choose tools
          and add a line to all of them.
        </p>
      </Empty>
    );
  return (
    <>
      <p className="muted guidance-sum" data-testid="guidance-sum">
        {counted(guidance.total_lines, "line")}, {counted(guidance.tokens, "token")} in the prompt
        {guidance.total_lines > guidance.lines.length && `; the first ${guidance.lines.length} are shown`}
      </p>
      <ol className="guidance" data-testid="guidance">
        {guidance.lines.map((line, i) => (
          <Line key={i} number={i + 1} line={line} />
        ))}
      </ol>
    </>
  );
}

function Line({ number, line }: { number: number; line: GuidanceLine }) {
  const odd =
    line.repeats !== null ||
    line.contradicts.length > 0 ||
    line.names_hidden.length > 0 ||
    line.names_absent.length > 0;
  return (
    <li id={`guidance-${number}`} data-odd={odd || undefined}>
      <span className="guidance-number">{number}</span>
      <span className="guidance-line">
        <span>{line.line}</span>
        <span className="names">
          {line.tools.map((tool) => (
            <ToolName key={tool} name={tool} />
          ))}
          <span className="muted">
            line {line.index}
            {line.source === "core" && ", from the core catalog"}
          </span>
          {line.repeats !== null && (
            <Flag icon={Copy} title="It says nearly the same">
              repeats line {line.repeats}
            </Flag>
          )}
          {line.contradicts.map((other) => (
            <Flag key={other} icon={Swords} title="It says the opposite">
              contradicts line {other}
            </Flag>
          ))}
          {line.names_hidden.map((tool) => (
            <Flag key={tool} icon={EyeOff} title="The model reads of a tool that it does not see">
              names the hidden <ToolName name={tool} />
            </Flag>
          ))}
          {line.names_absent.map((tool) => (
            <Flag key={tool} icon={Ghost} title="No tool of the catalog has this name">
              names <code>{tool}</code>, which is no tool
            </Flag>
          ))}
        </span>
      </span>
      <span className="numeric muted">{count(line.tokens)} tok</span>
    </li>
  );
}

function Flag({ icon: Icon, title, children }: { icon: typeof Copy; title: string; children: ReactNode }) {
  return (
    <span className="badge flag" title={title}>
      <Icon size={12} aria-hidden /> {children}
    </span>
  );
}
