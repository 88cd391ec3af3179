/** What changed, field by field: before above after, with the part that differs marked. */
import type { FieldChange } from "../ipc/client";
import { differing } from "../lib/textDiff";
import "./field-diff.css";

export function FieldDiff({ changes }: { changes: FieldChange[] }) {
  return (
    <dl className="diff">
      {changes.map((change) => (
        <FieldLine key={change.field} change={change} />
      ))}
    </dl>
  );
}

function FieldLine({ change: { field, before, after } }: { change: FieldChange }) {
  const [was, is] = differing(before, after);
  return (
    <div>
      <dt>{field}</dt>
      <dd className="diff-before">{before === "" ? "empty" : <Marked parts={was} />}</dd>
      <dd className="diff-after">{after === "" ? "empty" : <Marked parts={is} />}</dd>
    </div>
  );
}

function Marked({ parts: [start, middle, end] }: { parts: [string, string, string] }) {
  return (
    <>
      {start}
      {middle !== "" && <mark>{middle}</mark>}
      {end}
    </>
  );
}
