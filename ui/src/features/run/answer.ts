/**
 * Results that make an answer or judge one, read by their shape: an answer in sentences, claims with grades, a verdict.
 * What is not there is left out, so that results of other tools of the kind are read too.
 */
import type { Value } from "../../ipc/client";

export interface Statement {
  text: string;
  /** `supported`, `unsupported`, `contradicted`; empty where nobody judged. */
  grade: string;
  reason: string;
  /** Numbers of the results that it rests on, from 1, each with what stands there. */
  rests: { result: number; source: string; quote: string }[];
  confidence: number | null;
}

export interface AnswerView {
  /** Undefined: the result judges an answer and has none of its own. Null: there is none. */
  answer: string | null | undefined;
  verdict: string;
  reasons: string[];
  missing: string[];
  statements: Statement[];
  coverage: number | null;
  support: number | null;
  method: string;
  why: string;
}

type Fields = Record<string, Value>;

const fields = (value: Value | undefined): Fields | null =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
const text = (value: Value | undefined): string => (typeof value === "string" ? value : "");
const number = (value: Value | undefined): number | null => (typeof value === "number" ? value : null);
const list = (value: Value | undefined): Value[] => (Array.isArray(value) ? value : []);
const texts = (value: Value | undefined): string[] => list(value).filter((v) => typeof v === "string");

function statement(value: Value): Statement | null {
  if (typeof value === "string") return { text: value, grade: "", reason: "", rests: [], confidence: null };
  const of = fields(value);
  if (!of || typeof of.text !== "string") return null;
  const own = { result: of.result, source: of.source, quote: of.evidence ?? of.quote };
  const rests = (list(of.citations).length > 0 ? list(of.citations) : [own as Value]).map(fields).flatMap((c) => {
    const result = number(c?.result);
    return result === null ? [] : [{ result, source: text(c!.source), quote: text(c!.quote) }];
  });
  return { text: of.text, grade: text(of.grade), reason: text(of.reason), rests, confidence: number(of.confidence) };
}

/** Null where the result is neither an answer nor a judgement of one. */
export function readAnswer(data: Value): AnswerView | null {
  const of = fields(data);
  if (!of) return null;
  const told = [of.sentences, of.claims].find(Array.isArray) ?? [];
  const statements = list(told).flatMap((s) => statement(s) ?? []);
  const answers = "answer" in of && (of.answer === null || typeof of.answer === "string");
  const judges = typeof of.hallucinated === "boolean" || (typeof of.verdict === "string" && Array.isArray(of.reasons));
  if (!(answers && Array.isArray(of.sentences)) && !judges) return null;
  const hallucinated = of.hallucinated === true ? "hallucinated" : of.hallucinated === false ? "borne out" : "";
  return {
    answer: answers ? (of.answer as string | null) : undefined,
    verdict: text(of.verdict) || hallucinated,
    reasons: texts(of.reasons),
    missing: texts(of.missing),
    statements,
    coverage: number(of.coverage),
    support: number(of.support),
    method: text(of.method),
    why: text(of.why),
  };
}

/** What the statements rest on: by the number of the result, its sources, each once. */
export function sourcesOf(statements: readonly Statement[]): { result: number; sources: string[] }[] {
  const known = new Map<number, Set<string>>();
  for (const { rests } of statements)
    for (const { result, source } of rests) {
      const sources = known.get(result) ?? new Set();
      known.set(result, source === "" ? sources : sources.add(source));
    }
  return [...known].sort(([a], [b]) => a - b).map(([result, sources]) => ({ result, sources: [...sources] }));
}
