import { expect, test } from "vitest";
import { suggest } from "./filter";

const known = { tool: ["jira_search", "jira_get_issue", "web_fetch"], step: ["step-1", "step-12"] };

/** `|` is the caret. Gives the text after the first suggestion was taken, and the other suggestions. */
function taken(typed: string): [string, string[]] {
  const caret = typed.indexOf("|");
  const text = typed.replace("|", "");
  const { from, to, options } = suggest(text, caret, known);
  const first = options[0];
  return [
    first ? text.slice(0, from) + first.insert + text.slice(to) : text,
    options.slice(1).map((o) => o.insert.trim()),
  ];
}

test("keys are offered for what was begun, values for the key before the colon (W-05)", () => {
  expect(taken("st|")).toEqual(["step:", ["status:"]]);
  expect(taken("status:fai|")).toEqual(["status:failed ", []]);
  expect(taken("tool:ji|")).toEqual(["tool:jira_search ", ["tool:jira_get_issue"]]);
});

test("a minus, and values before a comma, stay", () => {
  expect(taken("-ki|")[0]).toBe("-kind:");
  expect(taken("tool:web_fetch,is|")[0]).toBe("tool:web_fetch,jira_get_issue ");
});

test("only the word at the caret is replaced", () => {
  expect(taken("status:failed to| dur:>1s")[0]).toBe("status:failed tool: dur:>1s");
});

test("values that hold what was typed follow those that begin with it", () => {
  expect(taken("tool:_|")[1]).toHaveLength(2);
  expect(taken("step:step-1|")).toEqual(["step:step-12 ", []]);
});

test("inside quotes nothing is offered", () => {
  expect(taken('"tool|')).toEqual(['"tool', []]);
});

test("an empty field offers every key", () => {
  expect(suggest("", 0, known).options).toHaveLength(8);
});
