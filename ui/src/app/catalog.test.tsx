/** The catalog, discovery, visibility and settings as a person uses them, on the in-browser host. */
import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test } from "vitest";
import { noFilter, useTable } from "../features/catalog/table";
import { useLab } from "../features/discovery/lab";
import { client } from "../ipc/client";
import { usePlanning } from "../lib/planning";
import { queryClient } from "../lib/queries";
import { nothing } from "../lib/selection";
import { emptyRequest, useWindow, type View } from "../lib/store";
import { useToasts } from "../lib/toasts";
import { App } from "./App";

// There is no layout here; without a height, a virtual table would draw no rows.
Object.defineProperty(HTMLElement.prototype, "clientHeight", { value: 600 });
Object.defineProperty(HTMLElement.prototype, "clientWidth", { value: 800 });

beforeEach(() => {
  queryClient.clear();
  usePlanning.setState({ view: null, problem: null });
  useToasts.setState({ toasts: [] });
  useTable.setState({ filter: noFilter, chosen: nothing, cursor: -1, anchor: -1, sort: "relevance" });
  useLab.setState({ query: "", limit: 12, tags: [], namespace: "", hidden: true });
  useWindow.setState({
    view: "plan",
    draft: emptyRequest,
    step: null,
    tool: null,
    overlay: null,
    why: null,
    settingsAt: null,
    catalogTab: "tools",
    visibilityTab: "matrix",
    discoveryTab: "lab",
    asTable: true,
  });
  render(
    <QueryClientProvider client={queryClient}>
      <App />
    </QueryClientProvider>,
  );
});
afterEach(cleanup);

const SLOW = 20_000;
const go = (view: View) => useWindow.setState({ view });
const type = (testId: string, value: string) => fireEvent.change(screen.getByTestId(testId), { target: { value } });
const settled = (testId: string, text: string | RegExp) =>
  waitFor(() => expect(screen.getByTestId(testId).textContent).toMatch(text), { timeout: 4000 });

test(
  "facets and words narrow the table, and every counted value can be chosen",
  async () => {
    go("catalog");
    await settled("catalog-count", "25 tools");
    fireEvent.click(screen.getByTestId("facet-classifications-unclassified"));
    await settled("catalog-count", "2 of 25 tools");
    expect(screen.getByTestId("facet-groups-data").textContent).toContain("2");
    type("catalog-filter", "csv");
    await settled("catalog-count", "1 of 25 tools");
    expect(await screen.findByTestId("catalog-row-export_csv")).toBeTruthy();
  },
  SLOW,
);

test(
  "many tools are chosen, the edit is shown first, made once and taken back",
  async () => {
    go("catalog");
    await screen.findByTestId("catalog-row-vector_search");
    fireEvent.keyDown(screen.getByRole("grid", { name: "Tools" }), { key: "a", ctrlKey: true });
    expect((await screen.findByTestId("bulk-count")).textContent).toBe("25 tools chosen");
    type("bulk-field", "loading");
    type("bulk-value", "deferred");
    await settled("bulk-preview", "Changes 21 of 25 tools");
    fireEvent.click(screen.getByTestId("bulk-apply"));
    await waitFor(() => expect(screen.getByTestId("toast").textContent).toContain("Changed 21 tools: loading"), {
      timeout: 4000,
    });
    fireEvent.click(within(screen.getByTestId("toast")).getByText("Undo"));
    await waitFor(
      async () => expect((await client.tool("vector_search", emptyRequest, null)).spec.loading).toBe("always"),
      { timeout: 4000 },
    );
    useWindow.setState({ catalogTab: "history" });
    expect((await screen.findByTestId("history-list")).textContent).toContain("takes back r41");
  },
  SLOW,
);

test(
  "Shift chooses a stretch, Space one more, Escape lets go",
  async () => {
    go("catalog");
    const grid = await screen.findByRole("grid", { name: "Tools" });
    fireEvent.click(await screen.findByTestId("catalog-row-vector_search"));
    fireEvent.click(screen.getByTestId("catalog-row-list_files"), { shiftKey: true });
    expect((await screen.findByTestId("bulk-count")).textContent).toBe("4 tools chosen");
    fireEvent.click(screen.getByTestId("catalog-row-web_fetch"), { ctrlKey: true });
    await settled("bulk-count", "5 tools chosen");
    fireEvent.keyDown(grid, { key: " " });
    await settled("bulk-count", "4 tools chosen");
    fireEvent.keyDown(document.body, { key: "Escape" });
    await waitFor(() => expect(screen.queryByTestId("bulk-bar")).toBeNull());
    expect(useWindow.getState().tool).toBe("vector_search");
  },
  SLOW,
);

test(
  "a lint's fix tells what it changes before it changes it",
  async () => {
    useWindow.setState({ view: "catalog", catalogTab: "lints" });
    fireEvent.click(await screen.findByTestId("fix-guidance.phantom_tool-grep_search"));
    await waitFor(() => expect(document.querySelector(".fix .diff-before")?.textContent).toContain("find_file"));
    expect((await client.tool("grep_search", emptyRequest, null)).spec.guidance).toHaveLength(2);
    fireEvent.click(screen.getByTestId("fix-apply"));
    await waitFor(
      async () => expect((await client.tool("grep_search", emptyRequest, null)).spec.guidance).toHaveLength(1),
      { timeout: 4000 },
    );
  },
  SLOW,
);

test(
  "the key w tells why the chosen tool is hidden, in each state",
  async () => {
    useWindow.setState({ view: "catalog", tool: "git_commit" });
    await screen.findByTestId("catalog-row-git_commit");
    fireEvent.keyDown(document.body, { key: "w" });
    await settled("why-decided", "Stopped at state: Hidden in REQUEST");
    expect((await screen.findByTestId("why-ACTION")).dataset.visible).toBe("true");
    expect(screen.getByTestId("why-REASONING").dataset.visible).toBe("false");
  },
  SLOW,
);

test(
  "the lab puts four ways of searching side by side and says what is wrong with a pattern",
  async () => {
    go("discovery");
    fireEvent.change(await screen.findByTestId("lab-query"), { target: { value: "jira" } });
    const lexical = await screen.findByTestId("lab-lexical");
    await waitFor(() => expect(lexical.querySelectorAll("li").length).toBeGreaterThan(2));
    const comment = () => within(lexical).getAllByText("jira_add_comment")[0]!.closest("li")!;
    expect(comment().textContent).toContain("hidden by state");
    fireEvent.mouseEnter(comment());
    const regex = screen.getByTestId("lab-regex");
    await waitFor(() =>
      expect(regex.querySelector<HTMLElement>("[data-tool=jira_add_comment]")?.dataset.hot).toBe("true"),
    );
    expect(screen.getByTestId("model-teaser").textContent).toContain("No embedding model is installed");
    type("lab-query", "jira_(");
    await settled("lab-error-regex", "Not a pattern");
  },
  SLOW,
);

test(
  "a session refuses what its state does not allow, and takes the context along",
  async () => {
    useWindow.setState({ view: "visibility", visibilityTab: "session" });
    fireEvent.click(await screen.findByTestId("select-release"));
    await settled("session-log", "Refused: Cannot select intent in state REQUEST");
    expect(useWindow.getState().draft.state).toBe("REQUEST");
    fireEvent.click(screen.getByTestId("session-send"));
    await waitFor(() => expect(screen.getByTestId("state-machine").dataset.stateNow).toBe("REASONING"));
    fireEvent.click(screen.getByTestId("select-release"));
    await waitFor(() => expect(useWindow.getState().draft).toMatchObject({ state: "ACTION", intent: "release" }));
    fireEvent.click(screen.getByTestId("session-recover"));
    await waitFor(() => expect(useWindow.getState().draft).toMatchObject({ state: "REASONING", intent: "" }));
  },
  SLOW,
);

test(
  "a setting out of range is refused at its field, and the text stays",
  async () => {
    useWindow.setState({ view: "settings", settingsAt: "discovery.hints.top_k" });
    const field = await screen.findByTestId("setting-discovery.hints.top_k");
    fireEvent.change(field, { target: { value: "50" } });
    fireEvent.click(screen.getByTestId("settings-save"));
    const place = document.querySelector<HTMLElement>('[data-setting="discovery.hints.top_k"]')!;
    await waitFor(() => expect(place.dataset.refused).toBe("true"));
    expect(place.textContent).toContain("Set it to a number from 1 to 20");
    expect((await client.info()).settings.discovery.hints.top_k).toBe(5);
    fireEvent.change(field, { target: { value: "9" } });
    fireEvent.click(screen.getByTestId("settings-save"));
    await waitFor(async () => expect((await client.info()).settings.discovery.hints.top_k).toBe(9));
  },
  SLOW,
);

test(
  "the tokens of a planning tell gross, overhead and net, turn by turn",
  async () => {
    fireEvent.click(await screen.findByTestId("start-0"));
    await screen.findByTestId("guard-panel");
    useWindow.setState({ bottomTab: "tokens" });
    const savings = await screen.findByTestId("savings");
    expect(savings.textContent).toContain("estimated");
    const number = (id: string) => Number(screen.getByTestId(id).textContent!.replaceAll(",", "").replace("−", "-"));
    const [gross, overhead, net] = ["savings-gross", "savings-overhead", "savings-net"].map(number);
    expect(Math.abs(gross! - overhead! - net!)).toBeLessThanOrEqual(1);
    expect(savings.querySelectorAll("tbody tr")).toHaveLength(3);
    useWindow.setState({ bottomTab: "turns" });
    expect((await screen.findByTestId("turn-2")).textContent).toContain("select_intent");
  },
  SLOW,
);

test(
  "a policy file is tried before it is taken in, and what is wrong with it changes nothing",
  async () => {
    go("settings");
    fireEvent.click(await screen.findByTestId("settings-nav-policy"));
    fireEvent.click(await screen.findByTestId("policy-import"));
    type("policy-text", '{ "polisy": {} }');
    await waitFor(() => expect(within(screen.getByTestId("policy-dialog")).getByRole("alert")).toBeTruthy());
    expect(screen.getByTestId<HTMLButtonElement>("policy-store").disabled).toBe(true);
    type("policy-text", '{ "policy": { "denied": ["send_mail", "no_tool"] } }');
    await settled("policy-preview", /change 1 setting.*no_tool, which is no tool/);
    expect((await client.info()).settings.policy.denied).toEqual([]);
    fireEvent.click(screen.getByTestId("policy-store"));
    await waitFor(() => expect(screen.queryByTestId("policy-dialog")).toBeNull());
    expect(screen.getByTestId<HTMLInputElement>("settings-denied").value).toContain("send_mail");
    const { settings } = await client.info();
    await client.saveSettings({ ...settings, policy: { ...settings.policy, denied: [] } });
  },
  SLOW,
);

test(
  "the query of a past run is planned again: what flips is named, and the plan can be opened",
  async () => {
    const { spec } = await client.tool("vector_search", emptyRequest, null);
    await client.saveTool({ ...spec, classification: "DESTRUCTIVE" });
    go("runs");
    fireEvent.click(await screen.findByTestId("run-row-1"));
    fireEvent.click(await screen.findByTestId("run-replan"));
    await settled("replan-verdict", /verdicts? differ: .*vector_search/);
    fireEvent.click(screen.getByTestId("replan-open"));
    expect(await screen.findByTestId("guard-panel")).toBeTruthy();
    expect(useWindow.getState().view).toBe("plan");
    await client.saveTool(spec);
  },
  SLOW,
);
