/** Long work that Rust tells of: how far it is, and how it is called off. */
import { create } from "zustand";
import { client, type LongWork, type WorkKind } from "../ipc/client";
import { bytes, count } from "./format";

interface WorkState {
  works: LongWork[];
}

export const useWork = create<WorkState>()(() => ({ works: [] }));

/** Puts what Rust tells of where the panels read it. */
export function followWork(): Promise<() => void> {
  return client.onWorkAdvanced(({ works }) => useWork.setState({ works }));
}

const WORDS: Record<WorkKind, { doing: string; amount: (n: number) => string; unit: string }> = {
  import: { doing: "Importing", amount: bytes, unit: "" },
  export: { doing: "Exporting", amount: count, unit: " events" },
  plan: { doing: "Planning", amount: count, unit: "" },
  embedding: { doing: "Reading tools with", amount: count, unit: " tools" },
};

/** `Importing run-12.jsonl`; a long path keeps its end. */
export function workTitle({ kind, label }: LongWork): string {
  const short = kind === "import" ? (label.split(/[/\\]/).at(-1) ?? label) : label;
  return `${WORDS[kind].doing} ${short.length > 60 ? `${short.slice(0, 59)}…` : short}`;
}

/** `1.2 MB of 34 MB`; empty where nothing is counted. */
export function workAmount({ kind, done, total }: LongWork): string {
  const { amount, unit } = WORDS[kind];
  return total === 0 ? "" : `${amount(done)} of ${amount(total)}${unit}`;
}
