import { lazy, Suspense } from "react";
import type { JsonEditorProps } from "./JsonText";
import "./json-editor.css";

/** The editor is a third of the window's code, and the first view does without it. */
const JsonText = lazy(() => import("./JsonText"));

export function JsonEditor(props: JsonEditorProps) {
  return (
    <Suspense fallback={<div className="json-editor muted">…</div>}>
      <JsonText {...props} />
    </Suspense>
  );
}
