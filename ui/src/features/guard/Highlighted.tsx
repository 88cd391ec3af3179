import { useMemo } from "react";
import type { GuardReport } from "../../ipc/client";
import { segments, type Mark } from "../../lib/highlight";
import { useWindow } from "../../lib/store";
import { OUTCOME } from "../../lib/words";
import { callOf } from "./marks";

/** A text with evidence and mentions marked. Pointing at evidence points at its verdict, and the other way round. */
export function Highlighted({
  text,
  marks,
  guard,
  testId,
}: {
  text: string;
  marks: Mark[];
  guard: GuardReport;
  testId?: string;
}) {
  const hovered = useWindow((s) => s.hoveredCall);
  const set = useWindow((s) => s.set);
  const parts = useMemo(() => segments(text, marks), [text, marks]);
  const lastOfHovered = parts.findLastIndex((p) => p.keys.some((k) => callOf(k) === hovered && hovered !== null));

  return (
    <p className="highlighted" data-testid={testId}>
      {parts.map((part, i) => {
        if (part.keys.length === 0) return part.text;
        const calls = part.keys.map(callOf).filter((c) => c !== null);
        const mention = part.keys
          .map((k) => (k.startsWith("mention:") ? guard.mentions[Number(k.slice(8))] : undefined))
          .find(Boolean);
        const shown = calls.find((c) => c === hovered) ?? calls[0];
        const call = shown === undefined ? undefined : guard.calls[shown];
        const about = call
          ? `${OUTCOME[call.outcome]}: ${call.call.tool} (${call.verdict.rule})`
          : mention &&
            `Mentions ${mention.tool}${mention.negated ? ", negated" : ""}${mention.thinking ? ", while thinking" : ""}`;
        return (
          <span key={i}>
            <mark
              title={about}
              data-outcome={call?.outcome}
              data-mention={mention && !call ? true : undefined}
              data-negated={mention?.negated || undefined}
              data-thinking={mention?.thinking || undefined}
              data-hot={(hovered !== null && calls.includes(hovered)) || undefined}
              onMouseEnter={() => set({ hoveredCall: shown ?? null })}
              onMouseLeave={() => set({ hoveredCall: null })}
            >
              {part.text}
            </mark>
            {i === lastOfHovered && hovered !== null && (
              <code className="rule evidence-rule">{guard.calls[hovered]?.verdict.rule}</code>
            )}
          </span>
        );
      })}
    </p>
  );
}
