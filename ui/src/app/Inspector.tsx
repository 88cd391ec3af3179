/** The right pane: the chosen step, the chosen tool, or the one beside the other. */
import { X } from "lucide-react";
import { useState } from "react";
import { ToolInspector } from "../features/catalog/ToolInspector";
import { PastNote, type Instant } from "../components/PastNote";
import { ToolLints } from "../features/lint/ToolLints";
import { StepPanel } from "../features/run/StepPanel";
import { ToolThenPanel } from "../features/run/ToolThenPanel";
import type { Planning, RunState } from "../ipc/client";
import { useWindow } from "../lib/store";

export interface StepSource {
  planning: Planning;
  run: RunState | null;
  /** The number of the run, where `run` is its newest state and can still be changed. */
  live: number | null;
  /** Where the tools are those of a run and not today's. */
  instant: Instant | null;
}

/** Whether there is something to inspect; without it the pane leaves its room to the others. */
export function useInspects(source: StepSource | null): boolean {
  return useWindow((s) => s.tool !== null || (source !== null && s.step !== null));
}

export function Inspector({ source }: { source: StepSource | null }) {
  const step = useWindow((s) => s.step);
  const tool = useWindow((s) => s.tool);
  const set = useWindow((s) => s.set);
  const spec = source?.planning.plan.steps.find((s) => s.id === step);
  const showsTool = tool !== null;

  return (
    <aside className="inspector" aria-label="Inspector" data-testid="inspector">
      <div className="tabs" role="tablist" aria-label="Inspector">
        {spec && (
          <button
            type="button"
            role="tab"
            aria-selected={!showsTool}
            data-state={showsTool ? "inactive" : "active"}
            onClick={() => set({ tool: null })}
          >
            Step <code>{spec.id}</code>
          </button>
        )}
        {(showsTool || spec) && (
          <button
            type="button"
            role="tab"
            className="truncate"
            aria-selected={showsTool}
            data-state={showsTool ? "active" : "inactive"}
            onClick={() => set({ tool: tool ?? spec?.tool ?? null })}
          >
            Tool <code>{tool ?? spec?.tool}</code>
          </button>
        )}
        <span className="grow" />
        <button
          type="button"
          className="icon-button"
          aria-label="Close the inspector"
          title="Close (Esc)"
          onClick={() => set({ step: null, tool: null })}
        >
          <X size={14} />
        </button>
      </div>
      {showsTool ? (
        <ToolNowOrThen key={tool} tool={tool} instant={source?.instant ?? null} />
      ) : spec && source ? (
        <>
          {source.instant && source.instant.at < source.instant.last && <PastNote instant={source.instant} />}
          <StepPanel
            spec={spec}
            planning={source.planning}
            state={source.run?.steps[spec.id] ?? null}
            target={source.live !== null && source.run ? { run: source.live, state: source.run } : null}
            onOpenTool={(name) => set({ tool: name })}
          />
        </>
      ) : null}
    </aside>
  );
}

/** In a run, the tool as it was there; on request as it is today, where it can be edited. */
function ToolNowOrThen({ tool, instant }: { tool: string; instant: Instant | null }) {
  const [today, setToday] = useState(false);
  const now = instant === null || today;
  return (
    <>
      {instant && (
        <div className="then-switch" role="group" aria-label="Which tool">
          <button type="button" className="link" aria-pressed={!today} onClick={() => setToday(false)}>
            At the run
          </button>
          <button type="button" className="link" aria-pressed={today} onClick={() => setToday(true)}>
            Today
          </button>
        </div>
      )}
      {now ? (
        <ToolInspector name={tool} lints={<ToolLints tool={tool} />} />
      ) : (
        <ToolThenPanel instant={instant} name={tool} />
      )}
    </>
  );
}
