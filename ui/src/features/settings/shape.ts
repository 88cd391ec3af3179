/**
 * Whether edited JSON has the shape of the settings. The form beside the JSON reads every field, so text that lacks one,
 * or misspells it, must not reach it; what the values mean is for Rust to judge.
 */
import type { Settings, Value } from "../../ipc/client";

const OF_OBJECTS = [
  "modes", "intents", "visibility", "discovery.directory.groups", "capabilities.matchers", "run.faults",
  "redaction.patterns",
]; // prettier-ignore
/** Lists of lists, and maps whose keys are the person's own: Rust says what is wrong with them. */
const FREE = ["capabilities.aliases", "capabilities.implications"];
/** Null means that there is no allow-list. */
const MAY_BE_NULL = ["policy.allowed"];

/** What is wrong with the value, in a sentence, or null. `known` are settings that are complete. */
export function misfit(value: Value, known: Settings): string | null {
  return compare(value, known as unknown as Value, "");
}

const isObject = (value: Value): value is { [key: string]: Value } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function compare(value: Value, known: Value, path: string): string | null {
  if (FREE.includes(path))
    return typeof value === "object" && value !== null ? null : `${path} must be a list or an object`;
  if (MAY_BE_NULL.includes(path)) return value === null ? null : list(value, path);
  if (Array.isArray(known)) return list(value, path);
  if (!isObject(known)) return typeof value === typeof known ? null : `${path} must be a ${typeof known}`;
  if (!isObject(value)) return `${path} must be an object`;
  const at = (key: string) => (path === "" ? key : `${path}.${key}`);
  const missing = Object.keys(known).find((key) => !(key in value));
  if (missing !== undefined) return `${at(missing)} is missing`;
  const unknown = Object.keys(value).find((key) => !(key in known));
  if (unknown !== undefined) return `${at(unknown)} is no setting`;
  for (const [key, part] of Object.entries(known)) {
    const wrong = compare(value[key]!, part, at(key));
    if (wrong !== null) return wrong;
  }
  return null;
}

function list(value: Value, path: string): string | null {
  const objects = OF_OBJECTS.includes(path);
  const fits = Array.isArray(value) && value.every((item) => (objects ? isObject(item) : typeof item === "string"));
  return fits ? null : `${path} must be a list of ${objects ? "objects" : "texts"}`;
}
