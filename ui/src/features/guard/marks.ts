/** Which stretches of the query and of the model's text the verdicts rest on, as marks for the highlighter. */
import type { Evidence, GuardedCall, GuardReport, Planning, Source } from "../../ipc/client";
import type { Mark } from "../../lib/highlight";

const callKey = (index: number) => `call:${index}`;
const mentionKey = (index: number) => `mention:${index}`;

/** The index of the call that a key names, or null for the key of a mention. */
export function callOf(key: string): number | null {
  return key.startsWith("call:") ? Number(key.slice(5)) : null;
}

function sameSource(a: Source, b: Source): boolean {
  return a.kind === b.kind && (a.kind !== "sub_question" || b.kind !== "sub_question" || a.index === b.index);
}

/** Everything that the verdicts on a call rest on: a kept call's evidence often lies in a gate before the last. */
function evidenceOf(call: GuardedCall): Evidence[] {
  return [call.verdict, ...call.verdicts].flatMap((v) => v.evidence);
}

/** The evidence of every call that lies in `source`. */
export function evidenceMarks(guard: GuardReport, source: Source): Mark[] {
  return guard.calls.flatMap((call, i) =>
    evidenceOf(call)
      .filter((e) => sameSource(e.source, source))
      .map((e) => ({ ...e.span, key: callKey(i) })),
  );
}

/** Evidence and mentions in the model's text. */
export function modelMarks(guard: GuardReport): Mark[] {
  const mentions = guard.mentions.map((m, i) => ({ ...m.span, key: mentionKey(i) }));
  return [...evidenceMarks(guard, { kind: "model_text" }), ...mentions];
}

/** The sub-questions that hold evidence, with their index. */
export function subQuestionsWithEvidence({
  guard,
  request,
  decomposition,
}: Planning): { index: number; text: string }[] {
  const indexes = guard.calls
    .flatMap(evidenceOf)
    .flatMap((e) => (e.source.kind === "sub_question" ? [e.source.index] : []));
  return [...new Set(indexes)]
    .sort((a, b) => a - b)
    .flatMap((index) => {
      const text = request.routing.sub_questions[index] ?? decomposition.sub_queries[index]?.query;
      return text === undefined ? [] : [{ index, text }];
    });
}
