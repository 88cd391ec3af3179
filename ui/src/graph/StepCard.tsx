import { CornerDownRight, RotateCw, TriangleAlert } from "lucide-react";
import { memo, type ReactNode } from "react";
import { StatusIcon } from "../components/Status";
import type { GraphStep } from "../ipc/client";
import { duration, expected } from "../lib/format";
import { sameLook, type StepLook } from "../lib/steps";
import { OUTCOME, STATUS } from "../lib/words";

interface StepCardProps {
  step: GraphStep;
  x: number;
  y: number;
  look: StepLook | undefined;
  chosen: boolean;
  changed: boolean;
  dimmed: boolean;
  /** Whether a breakpoint before the step is on; undefined where there is none. */
  breakpoint: boolean | undefined;
  onSelect: (id: string) => void;
  onBreakpoint: (id: string) => void;
}

/** Every event of a run brings new looks for all steps, most of them equal to those before. */
function same(before: StepCardProps, now: StepCardProps): boolean {
  return (Object.keys(now) as (keyof StepCardProps)[]).every(
    (key) => Object.is(before[key], now[key]) || (key === "look" && sameLook(before.look, now.look)),
  );
}

export const StepCard = memo(function StepCard(props: StepCardProps) {
  const { step, x, y, look, chosen, changed, dimmed, breakpoint, onSelect, onBreakpoint } = props;
  const time = look?.elapsed_ms != null ? duration(look.elapsed_ms) : expected(step.expected_ms);
  return (
    <button
      type="button"
      className="step-card"
      data-testid={`step-${step.id}`}
      data-step={step.id}
      data-classification={step.classification}
      data-status={look?.status ?? "planned"}
      data-chosen={chosen || undefined}
      data-changed={changed || undefined}
      data-dimmed={dimmed || undefined}
      style={{ transform: `translate(${x}px, ${y}px)` }}
      aria-pressed={chosen}
      aria-label={`${step.tool}, stage ${step.stage}, ${look ? STATUS[look.status] : "planned"}, ${step.classification}${breakpoint === undefined ? "" : ", breakpoint"}`}
      onClick={() => onSelect(step.id)}
    >
      <span
        className="step-gutter"
        aria-hidden
        data-breakpoint={breakpoint === undefined ? undefined : breakpoint ? "on" : "off"}
        title={breakpoint === undefined ? "Break before this step (F9)" : "Remove the breakpoint (F9)"}
        onClick={(event) => {
          event.stopPropagation();
          onBreakpoint(step.id);
        }}
      />
      <span className="step-top">
        <span className="step-tool">{step.tool}</span>
        {step.mark === "added" && <Mark tone="added" title="Added by a rule" word={OUTCOME.added} />}
        {step.mark === "dropped" && <Mark tone="dropped" title="Audit: the guard would have dropped it" word="audit" />}
        {step.mark === "rewritten" && (
          <Mark tone="rewritten" title="The guard rewrote its arguments" word="rewritten" />
        )}
        <span data-testid={`step-status-${step.id}`} data-status={look?.status ?? "planned"} className="step-status">
          {look ? <StatusIcon status={look.status} /> : null}
        </span>
      </span>
      <span className="step-argument" title={look?.argument ?? undefined}>
        {look?.argument ?? step.key_argument}
      </span>
      <span className="step-bottom">
        {step.critical && (
          <Mark title="Critical: its failure stops the run" word="critical">
            <TriangleAlert size={11} />
          </Mark>
        )}
        {look !== undefined && look.retries > 0 && (
          <Mark tone="rewritten" title={`Retried ${look.retries} times`} word={`×${look.retries}`}>
            <RotateCw size={11} />
          </Mark>
        )}
        {look?.cached && <Mark tone="cache" title="Answered from the result cache" word="cache" />}
        {look?.edited && <Mark tone="rewritten" title="A person changed its arguments or its result" word="edited" />}
        {look?.live && <Mark tone="dropped" title="Called for real in a replay" word="live" />}
        {look?.fault && <Mark tone="dropped" title="A fault on purpose struck it" word="fault" />}
        {step.fallback !== null && (
          <span
            className="mark mark-fallback"
            data-active={look?.fallback != null || undefined}
            title={`Falls back to ${step.fallback}`}
          >
            <CornerDownRight size={11} /> {step.fallback}
          </span>
        )}
        <span className="step-time">{time}</span>
      </span>
    </button>
  );
}, same);

interface MarkProps {
  title: string;
  word: string;
  tone?: "added" | "dropped" | "rewritten" | "cache";
  children?: ReactNode;
}

function Mark({ title, word, tone, children }: MarkProps) {
  return (
    <span className={tone ? `mark mark-${tone}` : "mark"} title={title}>
      {children} {word}
    </span>
  );
}
