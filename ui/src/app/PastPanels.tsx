/** What a run knew at one instant: the guard's verdicts with what became of each call, and what the prompt cost. */
import { useQuery } from "@tanstack/react-query";
import { useMemo, type ReactNode } from "react";
import { Empty } from "../components/Empty";
import { PastNote, type Instant } from "../components/PastNote";
import { GuardPanel } from "../features/guard/GuardPanel";
import { TokensPanel } from "../features/visibility/TokensPanel";
import type { Planning, RunState, TokenReport } from "../ipc/client";
import { runAtQuery } from "../lib/queries";
import { fatesOf } from "../lib/steps";

interface PastProps {
  instant: Instant;
  planning: Planning | null;
}

/** The tokens of the instant; null before the query was planned, undefined while nobody knows yet. */
function useTokensThen({ run, at }: Instant): TokenReport | null | undefined {
  return useQuery(runAtQuery(run, at)).data?.tokens;
}

function Planned({ instant, children }: { instant: Instant; children: ReactNode }) {
  const tokens = useTokensThen(instant);
  if (tokens === undefined) return null;
  return (
    <>
      <PastNote instant={instant} />
      {tokens === null ? (
        <Empty title="Not planned yet">
          <p>At this event the query had not been planned.</p>
        </Empty>
      ) : (
        children
      )}
    </>
  );
}

export function VerdictsThen({ instant, planning, state }: PastProps & { state: RunState | null }) {
  const fates = useMemo(() => planning && fatesOf(planning, state), [planning, state]);
  return (
    <Planned instant={instant}>
      <div className="then-guard" data-testid="verdicts-then">
        {planning && fates && <GuardPanel planning={planning} fates={fates} />}
      </div>
    </Planned>
  );
}

export function TokensThen({ instant, planning }: PastProps) {
  const tokens = useTokensThen(instant);
  const then = useMemo(() => planning && tokens && { ...planning, tokens }, [planning, tokens]);
  return <Planned instant={instant}>{then && <TokensPanel planning={then} />}</Planned>;
}
