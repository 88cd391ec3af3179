import { expect, test } from "vitest";
import type { LabRow, SearchLab } from "../../ipc/client";
import { elsewhere, ranked, searchQuery, snippet, toolSearchCall, toolSearchResult } from "./lab";

const row = (tool: string, ranks: Partial<Record<"exact" | "regex" | "lexical" | "semantic", number>>): LabRow => {
  const at = (rank: number | undefined) => (rank === undefined ? null : { rank, score: 1 / rank });
  return {
    tool,
    namespace: "",
    exact: at(ranks.exact),
    regex: at(ranks.regex),
    lexical: at(ranks.lexical),
    semantic: at(ranks.semantic),
    fields: [],
    loading: "always",
    visible: tool !== "hidden",
    gate: null,
    reason: "",
  };
};
const lab: SearchLab = {
  rankings: [],
  rows: [row("b", { lexical: 2, regex: 1 }), row("a", { lexical: 1 }), row("hidden", { lexical: 3 })],
};

test("a column holds what its method found, by rank, and tells where the others put it", () => {
  expect(ranked(lab, "lexical").map((r) => r.tool)).toEqual(["a", "b", "hidden"]);
  expect(ranked(lab, "exact")).toEqual([]);
  expect(elsewhere(lab.rows[0]!, "lexical")).toBe("regex 1");
});

test("the call leaves defaults out, and the answer what is hidden", () => {
  const asked = searchQuery({ query: " meetings ", limit: 5, tags: [], namespace: " " });
  expect(toolSearchCall(asked, "lexical").arguments).toEqual({
    query: "meetings",
    limit: 5,
    include_always_loaded: true,
  });
  expect(toolSearchCall({ ...asked, namespace: "jira", tags: ["x"] }, "regex").arguments).toMatchObject({
    search_type: "regex",
    namespace: "jira",
    tags: ["x"],
  });
  expect(toolSearchResult(lab, "lexical").tools.map((t) => t.name)).toEqual(["a", "b"]);
});

test("a snippet shows the first match with what is around it", () => {
  const text = `${"x".repeat(60)} the word stands here ${"y".repeat(200)}`;
  const { before, marked, after } = snippet({ field: "description", text, spans: [{ start: 65, end: 69 }] });
  expect(marked).toBe("word");
  expect(before.startsWith("…")).toBe(true);
  expect(after.endsWith("…")).toBe(true);
  expect((before + marked + after).length).toBeLessThan(120);
});
