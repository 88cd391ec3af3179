/** A result for people: an answer with what each sentence rests on, a judgement with its claims, else the value. */
import { Fragment } from "react";
import type { StepState } from "../../ipc/client";
import { json, percent } from "../../lib/format";
import { readAnswer, sourcesOf, type AnswerView, type Statement } from "./answer";
import "./answer.css";

type Result = NonNullable<StepState["result"]>;

const GRADE: Record<string, { word: string; outcome: string }> = {
  supported: { word: "Supported", outcome: "kept" },
  unsupported: { word: "Unsupported", outcome: "rewritten" },
  contradicted: { word: "Contradicted", outcome: "dropped" },
};
/** Other methods say in words what they are. */
const METHOD: Record<string, string> = { extractive: "sentences of the results", model: "by a model" };
const GOOD = ["valid", "borne out"];

export function Answer({ result }: { result: Result }) {
  const view = readAnswer(result.data);
  const named = view ? sourcesOf(view.statements) : [];
  const others = result.sources.filter((source) => !named.some((n) => n.sources.includes(source)));
  return (
    <>
      {view ? (
        <Readable view={view} />
      ) : (
        <pre className="json-block">{typeof result.data === "string" ? result.data : json(result.data)}</pre>
      )}
      <p className="muted answer-facts">{facts(result, view).join(" · ")}</p>
      {named.length > 0 && (
        <ol className="answer-sources" aria-label="Sources of the answer">
          {named.map(({ result, sources }) => (
            <li key={result}>
              <span className="answer-number">{result}</span>
              <span>{sources.length > 0 ? sources.join(", ") : `result ${result}`}</span>
            </li>
          ))}
        </ol>
      )}
      {others.length > 0 && (
        <ul className="sources" aria-label="Sources">
          {others.map((source) => (
            <li key={source}>{source}</li>
          ))}
        </ul>
      )}
      {view && (
        <details>
          <summary className="muted">As JSON</summary>
          <pre className="json-block">{json(result.data)}</pre>
        </details>
      )}
    </>
  );
}

function facts({ confidence }: Result, view: AnswerView | null): string[] {
  const known = (word: string, n: number | null | undefined) => (n == null ? [] : [`${word} ${percent(n)}`]);
  return [
    ...known("Confidence", confidence),
    ...known("coverage", view?.coverage),
    ...known("support", view?.support),
    ...(view?.method ? [METHOD[view.method] ?? view.method] : []),
    ...(view?.why ? [view.why] : []),
  ];
}

function Readable({ view }: { view: AnswerView }) {
  const { answer, statements, verdict, reasons, missing } = view;
  const faulty = statements.filter((s) => s.grade !== "" && s.grade !== "supported");
  return (
    <div className="answer" data-testid="answer">
      {verdict !== "" && (
        <p>
          <span
            className="badge"
            data-outcome={GOOD.includes(verdict) ? "kept" : "dropped"}
            data-testid="answer-verdict"
          >
            {verdict}
          </span>
        </p>
      )}
      {reasons.map((reason) => (
        <p key={reason}>{reason}</p>
      ))}
      {missing.length > 0 && <p className="muted">It says nothing of {missing.join(", ")}.</p>}
      {answer === null && <p className="muted">The results hold no answer.</p>}
      {answer && (
        <p className="answer-text">
          {statements.length === 0
            ? answer
            : statements.map((s, i) => (
                <Fragment key={i}>
                  <span data-grade={s.grade || undefined} title={s.reason || undefined}>
                    {plain(s.text)}
                  </span>
                  <Numbers of={s} />{" "}
                </Fragment>
              ))}
        </p>
      )}
      {answer === undefined && <Claims claims={statements} />}
      {answer && faulty.length > 0 && (
        <>
          <h4>Not borne out</h4>
          <Claims claims={faulty} />
        </>
      )}
    </div>
  );
}

/** Links of a document lead nowhere here, and its stars are no words: the rest is enough. */
const plain = (text: string) => text.replace(/\[([^\][]+)\]\([^()\s]*\)/g, "$1").replace(/\*\*([^*]+)\*\*/g, "$1");

function Numbers({ of: { rests } }: { of: Statement }) {
  return rests.map(({ result, quote, source }, i) => (
    <sup key={i} className="answer-number" title={[quote && `“${quote}”`, source].filter(Boolean).join(" — ")}>
      {result}
    </sup>
  ));
}

function Claims({ claims }: { claims: readonly Statement[] }) {
  return (
    <ul className="answer-claims">
      {claims.map((claim, i) => {
        const grade = GRADE[claim.grade];
        return (
          <li key={i} data-grade={claim.grade || undefined}>
            <div>
              {grade && (
                <span className="badge" data-outcome={grade.outcome}>
                  {grade.word}
                </span>
              )}{" "}
              {claim.text} <Numbers of={claim} />
            </div>
            {claim.reason !== "" && <div className="muted">{claim.reason}</div>}
            {claim.rests.map(({ quote }, k) => quote !== "" && <q key={k}>{quote}</q>)}
          </li>
        );
      })}
    </ul>
  );
}
