/**
 * The window's only way to Rust: every command as a function that returns its answer or throws a `Problem`.
 *
 * Nothing else imports the generated bindings or Tauri. In a plain browser, where there is no Rust, the same functions
 * talk to the in-browser host of `fake.ts`.
 */
import { getCurrentWebview } from "@tauri-apps/api/webview";
import { commands, events } from "./bindings";
import type * as B from "./bindings";
import type { CatalogFilter, ExecutionState, Full, RunAdvanced, WorkAdvanced } from "./types";

export type * from "./types";

type Commands = typeof commands;
type FullAll<Args> = { [K in keyof Args]: Full<Args[K]> };
type AnswerOf<R> = R extends { status: "ok"; data: infer Data } ? Full<Data> : never;
type Command<F> = F extends (...args: infer Args) => Promise<infer R>
  ? (...args: FullAll<Args>) => Promise<AnswerOf<R>>
  : never;

export type FilesDropped = { kind: "over" } | { kind: "leave" } | { kind: "drop"; paths: string[] };

/** What the window needs of the side that answers it. */
export type Host = { [Name in keyof Commands]: Command<Commands[Name]> } & {
  /** Calls `listener` whenever a run went on; returns the function that stops it. */
  onRunAdvanced(listener: (advanced: RunAdvanced) => void): Promise<() => void>;
  /** Calls `listener` whenever long work began, went on or ended; returns the function that stops it. */
  onWorkAdvanced(listener: (advanced: WorkAdvanced) => void): Promise<() => void>;
  /** Calls `listener` while files are dragged over the window, and when they are dropped. */
  onFilesDropped(listener: (event: FilesDropped) => void): Promise<() => void>;
};

/** The code of the problem that work ends with when a person calls it off. */
export const CALLED_OFF = "work.cancelled";

/** Something that could not be done, in words for a person: the thing, and the remedy. */
export class Problem extends Error {
  readonly code: string;
  readonly hint: string;

  constructor(problem: B.Problem) {
    super(problem.message);
    this.name = "Problem";
    this.code = problem.code;
    this.hint = problem.hint;
  }

  /** Reads whatever was thrown: Rust's problem, a JavaScript error, or Tauri's bare string. */
  static from(thrown: unknown): Problem {
    if (thrown instanceof Problem) return thrown;
    if (isProblem(thrown)) return new Problem(thrown);
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new Problem({ code: "window.unexpected", message, hint: "Try again; if it stays, restart Toolplan." });
  }
}

function isProblem(thrown: unknown): thrown is B.Problem {
  if (typeof thrown !== "object" || thrown === null) return false;
  const { code, message, hint } = thrown as Record<string, unknown>;
  return typeof code === "string" && typeof message === "string" && typeof hint === "string";
}

type Reply = { status: "ok"; data: unknown } | { status: "error"; error: unknown };

/** The answer inside the reply of a command, or a throw of its problem. */
export async function unwrap(reply: Promise<Reply>): Promise<unknown> {
  let settled: Reply;
  try {
    settled = await reply;
  } catch (thrown) {
    throw Problem.from(thrown);
  }
  if (settled.status === "error") throw Problem.from(settled.error);
  return settled.data;
}

function tauriHost(): Host {
  const unwrapped = Object.entries(commands).map(([name, command]) => {
    const call = command as (...args: unknown[]) => Promise<Reply>;
    return [name, (...args: unknown[]) => unwrap(call(...args))] as const;
  });
  return {
    // The types were computed from the same table that is walked here.
    ...(Object.fromEntries(unwrapped) as unknown as Omit<Host, "onRunAdvanced" | "onWorkAdvanced" | "onFilesDropped">),
    onFilesDropped: (listener) =>
      getCurrentWebview().onDragDropEvent(({ payload }) => {
        if (payload.type === "drop") listener({ kind: "drop", paths: payload.paths });
        else listener({ kind: payload.type === "leave" ? "leave" : "over" });
      }),
    onWorkAdvanced: (listener) => events.workAdvanced.listen((event) => listener(event.payload as WorkAdvanced)),
    onRunAdvanced: (listener) => events.runAdvanced.listen((event) => listener(event.payload as RunAdvanced)),
  };
}

const insideTauri = typeof window !== "undefined" && "__TAURI_INTERNALS__" in window;

/** Loaded on first use, so that the desktop window never fetches the fake's data. */
let host: Promise<Host> | null = null;
const loadHost = async (): Promise<Host> => (insideTauri ? tauriHost() : (await import("./fake")).createHost());

/** Calls go through this object, so that a test or the fake can stand in without the callers knowing. */
export const client = new Proxy({} as Host, {
  get:
    (_, name: keyof Host) =>
    async (...args: unknown[]) => {
      host ??= loadHost();
      const call = (await host)[name] as (...args: unknown[]) => Promise<unknown>;
      return call(...args);
    },
});

export const EXECUTION_STATES: readonly ExecutionState[] = ["REQUEST", "REASONING", "ACTION"];

/** The filter of the catalog that lets every tool through. */
export const noFilter: CatalogFilter = {
  text: "",
  namespaces: [],
  groups: [],
  categories: [],
  classifications: [],
  loadings: [],
  side_effects: [],
  tags: [],
  gates: [],
  visible: null,
  lints: [],
  ages: [],
};
