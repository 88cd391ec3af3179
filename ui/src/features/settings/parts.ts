/** What the page of the settings is made of, as data: sections of fields, each for one setting by its path. */
import type { ComponentType } from "react";
import type { Settings } from "../../ipc/client";
import type { PathOf } from "./paths";

export type Options = readonly (readonly [value: string, label: string])[];

/** A field of the objects in a list. */
export type ItemField<Key extends string = string> = {
  key: Key;
  label: string;
  placeholder?: string;
} & ({ kind: "text" | "list" | "lines" | "toggle" } | { kind: "choice"; options: Options });

export interface ItemsForm {
  /** What one item is called: "mode". */
  one: string;
  fresh: object;
  /** The first one names the item. */
  fields: readonly ItemField[];
}

export type Field = { path: string; label: string; testId?: string } & (
  | { kind: "toggle" | "whole" | "fraction" }
  | { kind: "line"; placeholder: string }
  | { kind: "names"; placeholder: string; plain: boolean }
  | { kind: "choice"; options: Options | ((settings: Settings) => Options) }
  | { kind: "items"; form: ItemsForm }
  | { kind: "json"; example: object }
);

export type Part = Field | { kind: "own"; content: ComponentType };

export interface Section {
  title: string;
  parts: Part[];
}

export const section = (title: string, ...parts: Part[]): Section => ({ title, parts });

export const toggle = (path: PathOf<boolean>, label: string, testId?: string): Part => ({
  kind: "toggle",
  path,
  label,
  testId,
});

export const whole = (path: PathOf<number>, label: string): Part => ({
  kind: "whole",
  path,
  label,
  testId: `setting-${path}`,
});

export const fraction = (path: PathOf<number | null>, label: string): Part => ({ kind: "fraction", path, label });

export const line = (path: PathOf<string>, label: string, placeholder: string): Part => ({
  kind: "line",
  path,
  label,
  placeholder,
});

interface NamesMore {
  testId?: string;
  placeholder?: string;
  /** Words of a person, and no names. */
  plain?: boolean;
}

export const names = (path: PathOf<string[]>, label: string, more: NamesMore = {}): Part => ({
  kind: "names",
  path,
  label,
  testId: more.testId,
  placeholder: more.placeholder ?? "none",
  plain: more.plain ?? false,
});

export const choice = (
  path: PathOf<string>,
  label: string,
  options: Options | ((settings: Settings) => Options),
  testId?: string,
): Part => ({ kind: "choice", path, label, options, testId });

/** A list of objects as one form each. */
export const items = <Item extends object>(
  path: PathOf<Item[]>,
  label: string,
  one: string,
  fresh: Item,
  fields: readonly ItemField<keyof Item & string>[],
): Part => ({ kind: "items", path, label, form: { one, fresh, fields } });

/** A list of objects of several shapes. */
export const json = (path: PathOf<object[]>, label: string, example: object): Part => ({
  kind: "json",
  path,
  label,
  example,
});

export const own = (content: ComponentType): Part => ({ kind: "own", content });
