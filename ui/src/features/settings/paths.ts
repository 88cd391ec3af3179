/** Settings by their paths, as verdicts name them: `discovery.hints.top_k`. */
import type { Settings } from "../../ipc/client";

/** The paths below `T` whose values are a `V`. */
type Leaf<T, V, Prefix extends string = ""> = {
  [K in keyof T & string]: T[K] extends V
    ? `${Prefix}${K}`
    : T[K] extends unknown[] | string | number | boolean | null
      ? never
      : Leaf<T[K], V, `${Prefix}${K}.`>;
}[keyof T & string];

export type PathOf<V> = Leaf<Settings, V>;

type Part = { [key: string]: unknown };

/** The value at the path; undefined where there is none. */
export function valueAt(settings: Settings, path: string): unknown {
  return path.split(".").reduce<unknown>((part, key) => (part as Part | undefined)?.[key], settings);
}

/** The settings with another value at the path; what is not on the way stays the very same. */
export function withValue(settings: Settings, path: string, value: unknown): Settings {
  const put = (part: Part, [key, ...rest]: string[]): Part => ({
    ...part,
    [key!]: rest.length === 0 ? value : put(part[key!] as Part, rest),
  });
  return put(settings as unknown as Part, path.split(".")) as unknown as Settings;
}

/** The group of the page that holds the setting. */
export function groupOf(path: string): GroupId {
  const start = GROUPS.find((g) => g.paths.some((p) => path === p || path.startsWith(`${p}.`)));
  return start?.id ?? "json";
}

export type GroupId =
  | "guard"
  | "policy"
  | "session"
  | "discovery"
  | "capabilities"
  | "planner"
  | "run"
  | "storage"
  | "network"
  | "window"
  | "json";

export const GROUPS: { id: GroupId; label: string; paths: string[] }[] = [
  { id: "policy", label: "Policy and modes", paths: ["policy", "visibility", "kill_switch", "modes", "default_mode"] },
  { id: "session", label: "Sessions and intents", paths: ["session", "intents", "handshake_tools", "tenants"] },
  { id: "discovery", label: "Discovery", paths: ["discovery"] },
  { id: "capabilities", label: "Capabilities", paths: ["capabilities"] },
  { id: "guard", label: "Guard", paths: ["guard"] },
  { id: "planner", label: "Planner and tokens", paths: ["planner", "savings"] },
  { id: "run", label: "Runs", paths: ["run"] },
  { id: "storage", label: "Storage and redaction", paths: ["retention", "redaction"] },
  { id: "network", label: "Network", paths: ["network"] },
  { id: "window", label: "Window", paths: [] },
  { id: "json", label: "All as JSON", paths: [] },
];
