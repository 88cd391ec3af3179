/** What a person sees and can do, on the in-browser host. */
import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, configure, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test } from "vitest";
import { client } from "../ipc/client";
import { useDebug } from "../lib/debug";
import { usePlanning } from "../lib/planning";
import { queryClient } from "../lib/queries";
import { emptyRequest, useWindow } from "../lib/store";
import { followWork } from "../lib/work";
import { App } from "./App";
import { followRuns } from "./followRuns";

// A busy machine is no failure: what is waited for either comes, or the test ends at its own limit.
configure({ asyncUtilTimeout: 6000 });

// There is no layout here; without a height, a virtual table would draw no rows.
Object.defineProperty(HTMLElement.prototype, "clientHeight", { value: 600 });
Object.defineProperty(HTMLElement.prototype, "clientWidth", { value: 800 });

beforeEach(() => {
  queryClient.clear();
  usePlanning.setState({ view: null, problem: null });
  useWindow.setState({
    view: "plan",
    draft: emptyRequest,
    step: null,
    tool: null,
    asTable: true,
    live: null,
    openRun: null,
    cursor: null,
    overlay: null,
    runTab: "events",
    compareWith: null,
  });
  render(
    <QueryClientProvider client={queryClient}>
      <App />
    </QueryClientProvider>,
  );
});
afterEach(cleanup);

const openSample = async (index: number) => fireEvent.click(await screen.findByTestId(`start-${index}`));

test("a sample shows which calls the guard kept and dropped, each with its rule", async () => {
  await openSample(0);
  const dropped = await screen.findByTestId("guard-dropped");
  expect(screen.getByTestId("guard-kept").dataset.count).toBe("1");
  expect(dropped.dataset.count).toBe("4");
  const jira = within(dropped).getByTestId("guard-call-jira_get_issue");
  expect(jira.dataset.rule).toBe("applies.Jira_key");
  expect(jira.textContent).toContain("The query has no Jira key");
  expect(screen.getByTestId("guard-summary").textContent).toBe("Unguarded: 5 calls → guarded: 1");
});

test("pointing at a verdict lights up its evidence, and the other way round", async () => {
  await openSample(0);
  const call = await screen.findByTestId("guard-call-vector_search");
  const marks = () => [...screen.getByTestId("guard-query").querySelectorAll("mark")];
  expect(marks().map((m) => m.textContent)).toEqual(["介绍一下这个项目 😀", "README says about its architecture"]);
  fireEvent.mouseEnter(call);
  expect(marks().every((m) => m.dataset.hot === "true")).toBe(true);
  fireEvent.mouseLeave(call);
  expect(call.dataset.hot).toBeUndefined();
  fireEvent.mouseEnter(marks()[0]!);
  expect(call.dataset.hot).toBe("true");
});

test("a plan with findings says why it cannot run", async () => {
  await openSample(3);
  expect((await screen.findByTestId("findings")).textContent).toContain("these steps wait for one another");
  const run = screen.getByTestId<HTMLButtonElement>("run-button");
  expect(run.disabled).toBe(true);
  expect(run.title).toContain("these steps wait for one another");
});

test("a failed plan leaves the last one on screen and says what to do", async () => {
  await openSample(0);
  await screen.findByTestId("guard-panel");
  fireEvent.change(screen.getByTestId("query-input"), { target: { value: "please fail" } });
  fireEvent.click(screen.getByTestId("plan-button"));
  expect((await screen.findByTestId("problem")).textContent).toContain("choose the offline planner");
  expect(screen.getByTestId("guard-kept").dataset.count).toBe("1");
});

test("ACTION without an intent says that it counts as REASONING", async () => {
  fireEvent.click(await screen.findByTestId("state-ACTION"));
  expect(screen.getByTestId("needs-intent").textContent).toContain("counts as REASONING");
  fireEvent.change(screen.getByTestId("intent-select"), { target: { value: "release" } });
  expect(screen.queryByTestId("needs-intent")).toBeNull();
});

test("an edit is saved while typing, shows its changes, and can be undone and made again", async () => {
  await openSample(0);
  await screen.findByTestId("guard-panel");
  useWindow.setState({ view: "catalog", tool: "run_query" });
  fireEvent.change(await screen.findByTestId("field-classification"), { target: { value: "SAFE" } });
  await waitFor(() => expect(screen.getByTestId("changes-chip").textContent).toContain("change"));
  fireEvent.change(screen.getByTestId("field-description"), { target: { value: "Runs SQL" } });
  await waitFor(async () =>
    expect((await client.tool("run_query", emptyRequest, null)).spec.description).toBe("Runs SQL"),
  );
  await waitFor(() => expect(screen.getByTestId("save-state").textContent).not.toContain("saving"));
  fireEvent.keyDown(document.body, { key: "z", ctrlKey: true });
  await waitFor(() =>
    expect(screen.getByTestId<HTMLTextAreaElement>("field-description").value).toContain("SQL statement"),
  );
  expect((await client.tool("run_query", emptyRequest, null)).spec.classification).toBe("SAFE");
  fireEvent.click(await screen.findByText("Redo"));
  await waitFor(() => expect(screen.getByTestId<HTMLTextAreaElement>("field-description").value).toBe("Runs SQL"));
  fireEvent.keyDown(document.body, { key: "z", ctrlKey: true });
  await waitFor(() =>
    expect(screen.getByTestId<HTMLTextAreaElement>("field-description").value).toContain("SQL statement"),
  );
  fireEvent.keyDown(document.body, { key: "y", ctrlKey: true });
  await waitFor(() => expect(screen.getByTestId<HTMLTextAreaElement>("field-description").value).toBe("Runs SQL"));
});

test("a refused edit is told at its field, and the text stays", async () => {
  useWindow.setState({ view: "catalog", tool: "send_mail" });
  const field = () => screen.getByTestId<HTMLTextAreaElement>("field-description");
  fireEvent.change(await screen.findByTestId("field-description"), { target: { value: " " } });
  await waitFor(() => expect(screen.getByTestId("problem").textContent).toContain("send_mail needs a description"), {
    timeout: 2000,
  });
  fireEvent.keyDown(field(), { key: "Escape" });
  useWindow.setState({ tool: "run_query" });
  await waitFor(() => expect(screen.getByTestId("inspector-tool").textContent).toBe("run_query"));
  useWindow.setState({ tool: "send_mail" });
  await waitFor(() => expect(field().value).toBe(" "));
  fireEvent.change(field(), { target: { value: "Sends mail" } });
  await waitFor(async () =>
    expect((await client.tool("send_mail", emptyRequest, null)).spec.description).toBe("Sends mail"),
  );
});

test("F5 runs the plan and does not reload the page", async () => {
  const unfollow = await followRuns();
  await openSample(0);
  await screen.findByTestId("run-button");
  // Neither with something on top, where it means nothing, nor without.
  useWindow.setState({ overlay: "keys" });
  expect(fireEvent.keyDown(document.body, { key: "F5" })).toBe(false);
  expect(screen.queryByTestId("run-outcome")).toBeNull();
  useWindow.setState({ overlay: null });
  expect(fireEvent.keyDown(document.body, { key: "F5" })).toBe(false);
  await waitFor(() => expect(screen.getByTestId("run-outcome").textContent).toBe("Succeeded"));
  expect(screen.getByTestId("step-status-step-1").dataset.status).toBe("succeeded");
  unfollow();
});

test("a past run is shown as it was at the chosen event", async () => {
  useWindow.setState({ view: "runs" });
  fireEvent.click(await screen.findByTestId("run-row-2"));
  const slider = await screen.findByTestId("event-slider");
  await waitFor(() => expect(screen.getByTestId("step-status-step-1").dataset.status).toBe("failed"));
  fireEvent.change(slider, { target: { value: "1" } });
  await waitFor(() => expect(screen.getByTestId("step-status-step-1").dataset.status).toBe("pending"));
  expect(screen.getByTestId("event-position").textContent).toMatch(/^Past: event 1 of \d+$/);
  fireEvent.keyDown(document.body, { key: "End" });
  await waitFor(() => expect(screen.getByTestId("step-status-step-3").dataset.status).toBe("skipped"));
});

test("verdicts and tools follow the scrubber of a past run, and say that they do (R-04)", async () => {
  useWindow.setState({ view: "runs", runTab: "verdicts" });
  fireEvent.click(await screen.findByTestId("run-row-2"));
  const fate = () => screen.getByTestId("guard-fate-web_fetch").dataset.status;
  await waitFor(() => expect(fate()).toBe("failed"));
  expect(screen.getByTestId("past-note").dataset.past).toBeUndefined();
  fireEvent.change(screen.getByTestId("event-slider"), { target: { value: "1" } });
  await waitFor(() => expect(fate()).toBe("pending"));
  expect(screen.getByTestId("past-note").textContent).toMatch(/^Run 2, event 1 of \d+ · read only/);
  useWindow.setState({ runTab: "tools" });
  const row = await screen.findByTestId("then-status-web_fetch");
  expect([row.dataset.status, row.textContent?.trim()]).toEqual(["pending", "Planned step-1"]);
  fireEvent.keyDown(document.body, { key: "End" });
  await waitFor(() => expect(screen.getByTestId("then-status-web_fetch").dataset.status).toBe("failed"));
  expect(screen.getByTestId("then-calls-web_fetch").textContent).toMatch(/^3 −3$/);
});

test("an import tells how far it is; called off, nothing of it is there (W-12)", async () => {
  const unfollow = await followWork();
  useWindow.setState({ view: "runs" });
  await screen.findByTestId("run-row-2");
  const rows = () => screen.getAllByTestId(/^run-row-/).length;
  const before = rows();
  fireEvent.click(screen.getByTestId("import-runs"));
  fireEvent.change(screen.getByTestId("import-path"), { target: { value: "/tmp/long.jsonl" } });
  fireEvent.click(screen.getByTestId("import-start"));
  const dialog = within(screen.getByTestId("import-dialog"));
  expect((await dialog.findByTestId("work")).textContent).toMatch(/Importing long.jsonl.*of 34 MB/);
  fireEvent.click(dialog.getByTestId("work-cancel"));
  await waitFor(() => expect(screen.getByTestId("import-dialog").textContent).toContain("was called off"));
  expect(dialog.queryByTestId("work")).toBeNull();
  expect(rows()).toBe(before);
  unfollow();
});

test("a run stops at a breakpoint, says why, is changed by hand and goes on", async () => {
  const unfollow = await followRuns();
  useDebug.setState({ breakpoints: [] });
  await openSample(1);
  await screen.findByTestId("run-button");
  useWindow.setState({ step: "step-3" });
  fireEvent.keyDown(document.body, { key: "F9" });
  expect(useDebug.getState().breakpoints.map((b) => b.on)).toEqual([{ kind: "step", step: "step-3", when: "before" }]);
  fireEvent.keyDown(document.body, { key: "F5" });
  const banner = await screen.findByTestId("pause-banner", undefined);
  expect(banner.textContent).toContain("before step-3");
  fireEvent.click(screen.getByTestId("step-edit-result"));
  fireEvent.change(screen.getByTestId("edit-result"), { target: { value: '{"same": ' } });
  expect(screen.getByTestId<HTMLButtonElement>("edit-save").disabled).toBe(true);
  fireEvent.change(screen.getByTestId("edit-result"), { target: { value: '{"same": true}' } });
  fireEvent.click(screen.getByTestId("edit-save"));
  await waitFor(() => expect(screen.getByTestId("step-status-step-3").dataset.status).toBe("succeeded"));
  fireEvent.keyDown(document.body, { key: "F5" });
  await waitFor(() => expect(screen.getByTestId("run-outcome").textContent).toBe("Succeeded"));
  expect(screen.queryByTestId("pause-banner")).toBeNull();
  useDebug.setState({ breakpoints: [] });
  unfollow();
});

test("F10 goes step by step from the start", async () => {
  const unfollow = await followRuns();
  await openSample(1);
  await screen.findByTestId("run-button");
  fireEvent.keyDown(document.body, { key: "F10" });
  const reason = async (kind: string) =>
    waitFor(() => expect(screen.getByTestId("pause-banner").dataset.reason).toBe(kind));
  await reason("start");
  fireEvent.keyDown(document.body, { key: "F10" });
  await reason("stepped");
  fireEvent.keyDown(document.body, { key: "F5", shiftKey: true });
  await waitFor(() => expect(screen.getByTestId("run-outcome").textContent).toBe("Cancelled"));
  unfollow();
});

test("a replay is unmistakable and faithful; a fork shows what differs from its origin", async () => {
  useWindow.setState({ view: "runs" });
  fireEvent.click(await screen.findByTestId("run-row-1"));
  fireEvent.click(await screen.findByTestId("run-replay"));
  fireEvent.change(await screen.findByLabelText("Who answers jira_get_issue"), { target: { value: "live" } });
  fireEvent.click(screen.getByTestId("replay-start"));
  const banner = await screen.findByTestId("origin-banner");
  expect(banner.textContent).toContain("Replay of run 1");
  expect(banner.textContent).toContain("faithful");
  expect(document.querySelector(".app")?.hasAttribute("data-replay")).toBe(true);

  fireEvent.click(screen.getByTestId("run-row-1"));
  await waitFor(() => expect(document.querySelector(".app")?.hasAttribute("data-replay")).toBe(false));
  fireEvent.click(await screen.findByTestId("run-fork"));
  fireEvent.change(await screen.findByTestId("fork-kind"), { target: { value: "result" } });
  fireEvent.change(screen.getByTestId("fork-result"), { target: { value: "[]" } });
  fireEvent.click(screen.getByTestId("fork-start"));
  expect((await screen.findByTestId("compare-divergence")).textContent).toContain("step-1");
  expect(screen.getByTestId("compare-step-1")).toBeTruthy();
});

test("the log of a run is filtered, and a mistake in the filter leaves the lines in place", async () => {
  useWindow.setState({ view: "runs" });
  fireEvent.click(await screen.findByTestId("run-row-2"));
  const field = await screen.findByTestId("event-filter");
  const count = () => screen.getByTestId("event-count").textContent;
  await waitFor(() => expect(count()).toMatch(/^\d+ events$/));
  fireEvent.change(field, { target: { value: "kind:step_failed" } });
  await waitFor(() => expect(count()).toMatch(/^1 of \d+$/));
  fireEvent.change(field, { target: { value: "colour:red" } });
  expect((await screen.findByTestId("event-filter-problem")).textContent).toContain('there is no key "colour"');
  expect(count()).toMatch(/^1 of \d+$/);
  fireEvent.change(field, { target: { value: "" } });
  await waitFor(() => expect(count()).toMatch(/^\d+ events$/));
});
