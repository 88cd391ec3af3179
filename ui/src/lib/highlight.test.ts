import { expect, test } from "vitest";
import { segments, type Mark } from "./highlight";

/** `text` with marks as `[text|keys]`. */
const shown = (text: string, marks: Mark[]) =>
  segments(text, marks)
    .map((s) => (s.keys.length === 0 ? s.text : `[${s.text}|${s.keys.join("+")}]`))
    .join("");

/** The mark over the first occurrence of `word`, in the units that Rust sends. */
function over(text: string, word: string, key: string): Mark {
  const start = text.indexOf(word);
  return { start, end: start + word.length, key };
}

test("marks cut the text at their borders", () => {
  const text = "see PROJ-123 please";
  expect(shown(text, [over(text, "PROJ-123", "a")])).toBe("see [PROJ-123|a] please");
});

test("overlapping marks share the stretch that both cover", () => {
  const text = "login fails in PROJ-123";
  const marks = [over(text, "fails in PROJ", "a"), over(text, "in PROJ-123", "b")];
  expect(shown(text, marks)).toBe("login [fails |a][in PROJ|a+b][-123|b]");
});

test("a mark inside another one splits it in three", () => {
  expect(
    shown("abcdef", [
      { start: 0, end: 6, key: "outer" },
      { start: 2, end: 4, key: "inner" },
    ]),
  ).toBe("[ab|outer][cd|outer+inner][ef|outer]");
});

test("offsets after an emoji count its two code units", () => {
  const text = "请看 😀 PROJ-123";
  // What Rust sends: the emoji takes the units 3 and 4, so the key begins at 6.
  expect(shown(text, [{ start: 6, end: 14, key: "a" }])).toBe("请看 😀 [PROJ-123|a]");
});

test("two marks of one call on the same words name it once", () => {
  expect(
    shown("docs", [
      { start: 0, end: 4, key: "a" },
      { start: 0, end: 4, key: "a" },
    ]),
  ).toBe("[docs|a]");
});

test("marks outside the text are cut to it, and no text is lost", () => {
  const text = "short";
  const marks = [
    { start: 3, end: 99, key: "a" },
    { start: 50, end: 60, key: "b" },
    { start: 2, end: 2, key: "c" },
  ];
  expect(shown(text, marks)).toBe("sho[rt|a]");
  expect(
    segments(text, marks)
      .map((s) => s.text)
      .join(""),
  ).toBe(text);
});

test("an empty text has no segments", () => {
  expect(segments("", [{ start: 0, end: 4, key: "a" }])).toEqual([]);
});
