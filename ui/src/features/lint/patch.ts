/** What a JSON merge patch (RFC 7396) would change, field by field, so that a fix can be read before it is made. */
import type { FieldChange, Value } from "../../ipc/client";

const isObject = (value: unknown): value is { [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const words = (value: unknown): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

/** Objects are gone into, so that one required name is not told as a whole new schema. */
export function changesOf(before: unknown, patch: Value, path = ""): FieldChange[] {
  if (!isObject(patch) || !isObject(before)) {
    const [was, is] = [words(before), patch === null ? "" : words(patch)];
    return was === is ? [] : [{ field: path, before: was, after: is }];
  }
  return Object.entries(patch).flatMap(([key, value]) =>
    changesOf(before[key], value, path === "" ? key : `${path}.${key}`),
  );
}
