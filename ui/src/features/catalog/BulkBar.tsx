/** Under the table while several tools are chosen: one edit for all of them, shown before it is made. */
import * as Popover from "@radix-ui/react-popover";
import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useState } from "react";
import { FieldDiff } from "../../components/FieldDiff";
import { ProblemNote } from "../../components/ProblemNote";
import { client, Problem, type CatalogQuery, type Selection } from "../../ipc/client";
import { bulkEdit } from "../../lib/edits";
import { counted } from "../../lib/format";
import { countOf, nothing, type Chosen } from "../../lib/selection";
import { useRested } from "../../lib/useRested";
import { FIELDS, patchOf, sentence } from "./bulk";
import { useTable } from "./table";

/** How long a text rests before its preview is asked for. */
const TYPING_MS = 200;

interface BulkBarProps {
  chosen: Chosen;
  query: CatalogQuery;
  total: number;
  plan: number | null;
}

export function BulkBar({ chosen, query, total, plan }: BulkBarProps) {
  const [fieldId, setFieldId] = useState("classification");
  const [text, setText] = useState("");
  const [saving, setSaving] = useState(false);
  const field = FIELDS.find((f) => f.id === fieldId) ?? FIELDS[0]!;
  const typed = patchOf(field, text);
  const says = JSON.stringify(typed);
  const patch = useRested(says, TYPING_MS) === says ? typed : null;
  const selection: Selection =
    chosen.kind === "all" ? { kind: "filter", query } : { kind: "tools", names: [...chosen.names] };
  const { data: preview, error } = useQuery({
    queryKey: ["bulk-preview", plan, selection, patch],
    queryFn: () => client.bulkPreview(selection, patch!, plan),
    enabled: patch !== null,
    gcTime: 5000,
    // The catalog may have changed since.
    staleTime: 0,
  });

  const apply = async () => {
    if (typed === null || saving) return;
    setSaving(true);
    await bulkEdit(selection, typed);
    setSaving(false);
    setText("");
  };

  return (
    <form
      className="bulk-bar"
      aria-label="Edit the chosen tools"
      data-testid="bulk-bar"
      onSubmit={(e) => {
        e.preventDefault();
        void apply();
      }}
    >
      <strong data-testid="bulk-count">{counted(countOf(chosen, total), "tool")} chosen</strong>
      <select
        aria-label="What to change"
        data-testid="bulk-field"
        value={fieldId}
        onChange={(e) => {
          setFieldId(e.target.value);
          setText("");
        }}
      >
        {FIELDS.map((f) => (
          <option key={f.id} value={f.id}>
            {f.label}
          </option>
        ))}
      </select>
      {field.kind === "choice" ? (
        <select aria-label="Value" data-testid="bulk-value" value={text} onChange={(e) => setText(e.target.value)}>
          <option value="">choose…</option>
          {field.options!.map((o) => (
            <option key={o}>{o}</option>
          ))}
        </select>
      ) : (
        field.kind !== "none" && (
          <input
            aria-label="Value"
            data-testid="bulk-value"
            value={text}
            placeholder={field.placeholder}
            onChange={(e) => setText(e.target.value)}
          />
        )
      )}
      <span className="bulk-says" role="status" data-testid="bulk-preview">
        {patch === null ? "Choose a value to see what it changes" : preview ? sentence(preview) : "…"}
      </span>
      {patch !== null && preview && preview.examples.length > 0 && (
        <Popover.Root>
          <Popover.Trigger className="link small">show</Popover.Trigger>
          <Popover.Portal>
            <Popover.Content className="popover bulk-examples" side="top" sideOffset={8}>
              {preview.examples.map((diff) => (
                <div key={diff.tool}>
                  <code>{diff.tool}</code>
                  <FieldDiff changes={diff.changed} />
                </div>
              ))}
              {preview.changed > preview.examples.length && (
                <p className="muted">and {counted(preview.changed - preview.examples.length, "other tool")}</p>
              )}
            </Popover.Content>
          </Popover.Portal>
        </Popover.Root>
      )}
      {error && <ProblemNote problem={Problem.from(error)} />}
      <button
        type="submit"
        className="button primary"
        data-testid="bulk-apply"
        disabled={saving || preview === undefined || preview.changed === 0 || patch === null}
      >
        {saving ? "Changing…" : "Apply"}
      </button>
      <button
        type="button"
        className="icon-button"
        aria-label="Choose nothing"
        title="Choose nothing (Esc)"
        onClick={() => useTable.getState().set({ chosen: nothing })}
      >
        <X size={14} />
      </button>
    </form>
  );
}
