/** The same edit for many tools: which fields it can set, and what it would do in words. */
import type { BulkPreview, Change, ToolPatch } from "../../ipc/client";
import { count, counted } from "../../lib/format";
import { noPatch } from "../../lib/edits";

export type FieldKind = "choice" | "text" | "list" | "number" | "lines" | "none";

export interface BulkField {
  id: keyof ToolPatch;
  label: string;
  kind: FieldKind;
  options?: readonly string[];
  placeholder?: string;
}

export const FIELDS: BulkField[] = [
  { id: "classification", label: "Classification", kind: "choice", options: ["SAFE", "DESTRUCTIVE", "unclassified"] },
  { id: "accept_suggestions", label: "Accept suggested classes", kind: "none" },
  { id: "loading", label: "Loading", kind: "choice", options: ["undeclared", "always", "deferred"] },
  { id: "add_tags", label: "Add tags", kind: "list", placeholder: "tag, tag" },
  { id: "remove_tags", label: "Remove tags", kind: "list", placeholder: "tag, tag" },
  { id: "group", label: "Group", kind: "text", placeholder: "group" },
  { id: "namespace", label: "Namespace", kind: "text", placeholder: "namespace" },
  { id: "category", label: "Category", kind: "choice", options: ["search", "validation", "synthesis", "external"] },
  {
    id: "side_effects",
    label: "Side effects",
    kind: "choice",
    options: ["pure", "read", "write", "external", "stateful"],
  },
  { id: "critical", label: "Critical", kind: "choice", options: ["yes", "no"] },
  { id: "timeout_ms", label: "Timeout, ms", kind: "number", placeholder: "0 takes it away" },
  { id: "add_capabilities", label: "Add capabilities", kind: "list", placeholder: "capability, capability" },
  { id: "remove_capabilities", label: "Remove capabilities", kind: "list", placeholder: "capability" },
  { id: "add_guidance", label: "Add a guidance line", kind: "lines", placeholder: "One line for the prompt" },
  { id: "remove_guidance", label: "Remove a guidance line", kind: "lines", placeholder: "The exact line" },
];

/** The patch that sets the field to what was typed, or null while it says nothing. */
export function patchOf(field: BulkField, text: string): ToolPatch | null {
  const value = text.trim();
  const put = (part: Partial<ToolPatch>): ToolPatch => ({ ...noPatch, ...part });
  switch (field.kind) {
    case "none":
      return put({ [field.id]: true });
    case "text":
      return put({ [field.id]: value });
    case "choice":
      if (value === "") return null;
      return put({ [field.id]: field.id === "critical" ? value === "yes" : value });
    case "number":
      return /^\d{1,9}$/.test(value) ? put({ [field.id]: Number(value) }) : null;
    case "lines":
      return value === "" ? null : put({ [field.id]: [value] });
    case "list": {
      const items = value
        .split(",")
        .map((v) => v.trim())
        .filter(Boolean);
      return items.length === 0 ? null : put({ [field.id]: items });
    }
  }
}

/** What the edit does, in a sentence: "Changes 214 tools; the open plan loses step-2". */
export function sentence({ selected, changed, changes }: BulkPreview): string {
  if (changed === 0) return "Changes nothing: the tools are like this already";
  const tools = changed === selected ? counted(changed, "tool") : `${count(changed)} of ${counted(selected, "tool")}`;
  const plan = consequences(changes);
  return `Changes ${tools}${plan === "" ? "" : `; the open plan ${plan}`}`;
}

/** How many steps are named before they are only counted. */
const NAMED = 3;

function consequences(changes: Change[]): string {
  const steps = changes.filter((c) => c.subject === "step");
  const kinds: [string, Change[]][] = [
    ["loses", steps.filter((c) => c.after === "")],
    ["gains", steps.filter((c) => c.before === "")],
    ["alters", steps.filter((c) => c.before !== "" && c.after !== "")],
  ];
  const parts = kinds.flatMap(([verb, of]) => (of.length > 0 ? [`${verb} ${named(of)}`] : []));
  const verdicts = changes.filter((c) => c.subject === "verdict").length;
  if (parts.length === 0 && verdicts > 0) return `keeps its steps, with ${counted(verdicts, "other verdict")}`;
  return parts.join(" and ");
}

const named = (steps: Change[]) =>
  steps.length <= NAMED ? steps.map((s) => s.name).join(", ") : counted(steps.length, "step");
