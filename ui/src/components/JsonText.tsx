/**
 * A JSON object as text. Text that is no valid JSON is marked and kept, and never handed on; a value from outside never
 * replaces it. See `jsonDraft.ts` for the rule.
 */
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { linter } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef, useState } from "react";
import type { Value } from "../ipc/client";
import { json as format } from "../lib/format";
import { readJsonObject, sameJson } from "../lib/json";
import { drafts, replacement } from "../lib/jsonDraft";
import "./json-editor.css";

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--kept)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--deferred)" },
]);

export interface JsonEditorProps {
  /** Under this name invalid text outlives the editor. */
  name: string;
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  /** What else is wrong with a value, in a sentence; such a value is not handed on. */
  check?: (value: Value) => string | null;
  testId?: string;
}

export default function JsonText({ name, label, value, onChange, check, testId }: JsonEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const latest = useRef({ value, onChange, check });
  latest.current = { value, onChange, check };
  const [invalid, setInvalid] = useState<string | null>(null);

  useEffect(() => {
    const read = (text: string) => {
      const reading = readJsonObject(text);
      const wrong = reading.ok ? (latest.current.check?.(reading.value) ?? null) : reading.message;
      drafts.keep(name, text, wrong === null);
      setInvalid(wrong);
      if (reading.ok && wrong === null && !sameJson(reading.value, latest.current.value))
        latest.current.onChange(reading.value);
    };
    const doc = drafts.of(name) ?? format(latest.current.value);
    const editor = new EditorView({
      parent: host.current!,
      state: EditorState.create({
        doc,
        extensions: [
          history(),
          json(),
          linter(jsonParseLinter()),
          syntaxHighlighting(colours),
          bracketMatching(),
          indentOnInput(),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": label }),
          // Escape leaves the editor, so that Tab can indent without trapping the keyboard.
          keymap.of([
            { key: "Escape", run: (v) => (v.contentDOM.blur(), true) },
            indentWithTab,
            ...defaultKeymap,
            ...historyKeymap,
          ]),
          EditorView.updateListener.of((u) => u.docChanged && read(u.state.doc.toString())),
        ],
      }),
    });
    view.current = editor;
    read(doc);
    return () => editor.destroy();
  }, [name, label]);

  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const text = drafts.of(name) === undefined ? replacement(editor.state.doc.toString(), value) : null;
    if (text !== null) editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
  }, [name, value]);

  return (
    <div className="json-editor" data-testid={testId} data-invalid={invalid !== null || undefined}>
      <div ref={host} />
      {invalid !== null && (
        <div className="field-error" role="status">
          Not saved: {invalid}
        </div>
      )}
    </div>
  );
}
