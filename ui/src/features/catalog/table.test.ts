import { beforeEach, expect, test } from "vitest";
import { only } from "../../lib/selection";
import { isFiltered, noFilter, setFilter, shownValues, sortBy, useTable, withFacet } from "./table";

beforeEach(() => useTable.setState({ filter: noFilter, sort: "relevance", descending: false }));

test("a value of a facet is taken in and out", () => {
  const on = withFacet(noFilter, "tags", "docs");
  expect(on.tags).toEqual(["docs"]);
  expect(withFacet(on, "tags", "docs")).toEqual(noFilter);
  expect(withFacet(noFilter, "visible", "false").visible).toBe(false);
  expect(withFacet(withFacet(noFilter, "visible", "false"), "visible", "false").visible).toBeNull();
  expect([isFiltered(noFilter), isFiltered(on), isFiltered({ ...noFilter, visible: false })]).toEqual([
    false,
    true,
    true,
  ]);
});

test("another filter lets go of what was chosen among the old rows", () => {
  useTable.setState({ chosen: only("a"), cursor: 7 });
  setFilter({ text: "b" });
  const { chosen, cursor, filter } = useTable.getState();
  expect([chosen.kind === "names" && chosen.names.size, cursor, filter.text]).toEqual([0, -1, "b"]);
});

test("a header sorts one way, the other way, and no more", () => {
  const now = () => {
    const { sort, descending } = useTable.getState();
    return `${sort} ${descending ? "down" : "up"}`;
  };
  const clicks = (id: "name" | "tokens") => [1, 2, 3].map(() => (sortBy(id), now()));
  expect(clicks("name")).toEqual(["name up", "name down", "relevance up"]);
  // Of numbers the largest are looked for.
  expect(clicks("tokens")).toEqual(["tokens down", "tokens up", "relevance up"]);
});

test("chosen values of a facet are shown, however rare", () => {
  const values = ["a", "b", "c", "d"].map((value, i) => ({ value, count: 9 - i, selected: value === "d" }));
  expect(shownValues({ name: "tags", values, distinct: 4 }, 2).map((v) => v.value)).toEqual(["a", "d"]);
});
