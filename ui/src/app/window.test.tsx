/** What a person sees and can do, on the in-browser host. */
import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test } from "vitest";
import { client } from "../ipc/client";
import { usePlanning } from "../lib/planning";
import { queryClient } from "../lib/queries";
import { emptyRequest, useWindow } from "../lib/store";
import { App } from "./App";
import { followRuns } from "./followRuns";

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

test("an edit is saved while typing, shows its changes, and can be undone", async () => {
  await openSample(0);
  await screen.findByTestId("guard-panel");
  useWindow.setState({ view: "catalog", tool: "run_query" });
  fireEvent.change(await screen.findByTestId("field-classification"), { target: { value: "SAFE" } });
  await waitFor(() => expect(screen.getByTestId("changes-chip").textContent).toContain("change"));
  fireEvent.change(screen.getByTestId("field-description"), { target: { value: "Runs SQL" } });
  await waitFor(
    async () => expect((await client.tool("run_query", emptyRequest, null)).spec.description).toBe("Runs SQL"),
    { timeout: 2000 },
  );
  await waitFor(() => expect(screen.getByTestId("save-state").textContent).not.toContain("saving"));
  fireEvent.keyDown(document.body, { key: "z", ctrlKey: true });
  await waitFor(() =>
    expect(screen.getByTestId<HTMLTextAreaElement>("field-description").value).toContain("SQL statement"),
  );
  expect((await client.tool("run_query", emptyRequest, null)).spec.classification).toBe("SAFE");
  fireEvent.click(await screen.findByText("Redo"));
  await waitFor(() => expect(screen.getByTestId<HTMLTextAreaElement>("field-description").value).toBe("Runs SQL"));
}, 20_000);

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
  await waitFor(
    async () => expect((await client.tool("send_mail", emptyRequest, null)).spec.description).toBe("Sends mail"),
    { timeout: 2000 },
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
  await waitFor(() => expect(screen.getByTestId("run-outcome").textContent).toBe("Succeeded"), { timeout: 3000 });
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
  expect(screen.getByTestId("event-position").textContent).toMatch(/^Run 2 at event 1 of \d+$/);
  fireEvent.keyDown(document.body, { key: "End" });
  await waitFor(() => expect(screen.getByTestId("step-status-step-3").dataset.status).toBe("skipped"));
});
