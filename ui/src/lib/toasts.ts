/** Short notices at the edge of the window: what was just done, and how to take it back. */
import { create } from "zustand";
import type { Problem } from "../ipc/client";

export interface Toast {
  id: number;
  text: string;
  problem: boolean;
  action?: { label: string; run: () => void };
}

interface Toasts {
  toasts: Toast[];
  say: (text: string, action?: Toast["action"]) => void;
  fail: (problem: Problem) => void;
  dismiss: (id: number) => void;
}

const SHOWN_MS = 6000;
/** More would cover what they are about. */
const AT_ONCE = 3;
let last = 0;

export const useToasts = create<Toasts>()((set, get) => {
  const push = (toast: Omit<Toast, "id">) => {
    const id = ++last;
    set({ toasts: [...get().toasts, { ...toast, id }].slice(-AT_ONCE) });
    // What went wrong stays until it is read.
    if (!toast.problem) setTimeout(() => get().dismiss(id), SHOWN_MS);
  };
  return {
    toasts: [],
    say: (text, action) => push({ text, problem: false, action }),
    fail: ({ message, hint }) => push({ text: hint === "" ? message : `${message}. ${hint}`, problem: true }),
    dismiss: (id) => set({ toasts: get().toasts.filter((t) => t.id !== id) }),
  };
});
