/** What a fork will do, told before it starts: what is taken over, and who answers each call after that. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useDeferredValue } from "react";
import { ProblemNote } from "../../components/ProblemNote";
import { client, Problem, type Fork, type ForkPreview, type ReplayPolicy } from "../../ipc/client";
import { counted } from "../../lib/format";

/** More sentences than these nobody reads. */
const SHOWN = 40;

const WHO: Record<ForkPreview["calls"][number]["answerer"], { word: string; outcome: string }> = {
  record: { word: "record", outcome: "hidden" },
  value: { word: "fixed value", outcome: "hidden" },
  tool: { word: "live", outcome: "rewritten" },
  nobody: { word: "no answer", outcome: "dropped" },
};

export function ForkForesight({ run, fork, policy }: { run: number; fork: Fork; policy: ReplayPolicy }) {
  // What is being typed is looked at when there is time for it.
  const asked = useDeferredValue({ fork, policy });
  const { data, error } = useQuery({
    queryKey: ["run", run, "fork-preview", asked],
    queryFn: () => client.forkPreview(run, asked.fork, asked.policy),
    placeholderData: keepPreviousData,
    gcTime: 5000,
    staleTime: 0,
  });
  if (error) return <ProblemNote problem={Problem.from(error)} />;
  if (!data) return null;
  const { kept, calls } = data;
  return (
    <section className="fork-foresight" aria-label="What will happen" data-testid="fork-preview">
      <p className="muted" title={kept.join(", ")}>
        {kept.length === 0
          ? "Nothing is taken over."
          : `The results of ${counted(kept.length, "step")} are taken over${kept.length > 6 ? "" : `: ${kept.join(", ")}`}.`}{" "}
        {calls.length === 0 ? "No call is made." : `Then ${counted(calls.length, "call")}:`}
      </p>
      <ul>
        {calls.slice(0, SHOWN).map((call) => {
          const who = WHO[call.answerer];
          return (
            <li key={call.step} data-testid={`fork-call-${call.step}`} data-answerer={call.answerer}>
              <span className="badge" data-outcome={who.outcome}>
                {who.word}
              </span>
              <span>
                <code>{call.step}</code> {call.text}
                {call.refused && (
                  <span className="field-error">
                    {" "}
                    {call.refused.message}: {call.refused.hint}
                  </span>
                )}
              </span>
            </li>
          );
        })}
        {calls.length > SHOWN && <li className="muted">and {counted(calls.length - SHOWN, "more call")}</li>}
      </ul>
    </section>
  );
}
