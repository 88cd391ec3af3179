import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test } from "vitest";
import { client } from "../../ipc/client";
import { queryClient } from "../../lib/queries";
import { useToasts } from "../../lib/toasts";
import { useSettingsDraft } from "./draft";
import { matching, SECTIONS } from "./groups";
import { groupOf, valueAt, type GroupId } from "./paths";
import { SettingsView } from "./SettingsView";

const stored = async () => (await client.info()).settings;

beforeEach(async () => {
  queryClient.clear();
  useSettingsDraft.getState().discard();
  useToasts.setState({ toasts: [] });
  render(
    <QueryClientProvider client={queryClient}>
      <SettingsView />
    </QueryClientProvider>,
  );
  fireEvent.click(await screen.findByTestId("settings-nav-policy"));
});
afterEach(cleanup);

test("every field stands for a setting of its group", async () => {
  const settings = await stored();
  for (const [group, sections] of Object.entries(SECTIONS))
    for (const part of sections.flatMap((s) => s.parts)) {
      if (part.kind === "own") continue;
      expect(valueAt(settings, part.path), part.path).not.toBeUndefined();
      expect(groupOf(part.path), part.path).toBe(group as GroupId);
      if (part.kind === "items") {
        const keys = Object.keys(part.form.fresh);
        expect(keys, part.path).toEqual(expect.arrayContaining(part.form.fields.map((f) => f.key)));
      }
    }
});

test("a mode is made in its form, and a stored change can be taken back", async () => {
  const before = await stored();
  fireEvent.click(screen.getByTestId("add-modes"));
  const forms = screen.getAllByLabelText("Groups of tools");
  fireEvent.change(screen.getAllByLabelText("Name").at(before.modes.length)!, { target: { value: "audit" } });
  fireEvent.change(forms.at(-1)!, { target: { value: "read, web" } });
  expect((await stored()).modes).toEqual(before.modes);
  fireEvent.click(screen.getByTestId("settings-save"));
  const mode = { name: "audit", title: "", groups: ["read", "web"], tools: [] };
  await waitFor(async () => expect((await stored()).modes).toEqual([...before.modes, mode]));
  await waitFor(() => expect(useToasts.getState().toasts[0]?.action?.label).toBe("Undo"));
  useToasts.getState().toasts[0]!.action!.run();
  await waitFor(async () => expect(await stored()).toEqual(before));
});

test("lines may hold commas, and a new item keeps what is nothing", async () => {
  fireEvent.click(screen.getByTestId("settings-nav-session"));
  fireEvent.click(screen.getByTestId("add-intents"));
  const field = screen.getAllByLabelText("Constraints, one a line").at(-1)!;
  fireEvent.change(field, { target: { value: "Change nothing, ever\nAsk first" } });
  expect(useSettingsDraft.getState().draft!.intents.at(-1)!.constraints).toEqual(["Change nothing, ever", "Ask first"]);
  fireEvent.click(screen.getByTestId("settings-nav-discovery"));
  fireEvent.click(screen.getByTestId("add-discovery.directory.groups"));
  const title = screen.getByLabelText("Title");
  const group = () => useSettingsDraft.getState().draft!.discovery.directory.groups.at(-1)!;
  fireEvent.change(title, { target: { value: "Documents" } });
  expect(group().title).toBe("Documents");
  fireEvent.change(title, { target: { value: "" } });
  expect(group().title).toBeNull();
});

test("a changed field says so and leads back to what is stored", async () => {
  fireEvent.click(screen.getByTestId("settings-nav-run"));
  const field = screen.getByTestId<HTMLInputElement>("setting-run.timeout_ms");
  const before = field.value;
  fireEvent.change(field, { target: { value: "9000" } });
  fireEvent.click(screen.getByRole("button", { name: "Back to what is stored: Milliseconds of one attempt" }));
  expect(field.value).toBe(before);
  expect(screen.queryByRole("button", { name: /Back to what is stored/ })).toBeNull();
});

test("beside each setting stands who decides it, and a variable of the environment cannot be edited away (O-13)", async () => {
  fireEvent.click(screen.getByTestId("settings-nav-run"));
  const place = (path: string) => document.querySelector<HTMLElement>(`[data-setting="${path}"]`)!;
  await waitFor(() => expect(place("run.parallel_limit").textContent).toContain("TOOL_PARALLEL_LIMIT"));
  expect(screen.getByTestId("setting-run.parallel_limit").closest("fieldset")!.disabled).toBe(true);
  expect(place("run.timeout_ms").querySelector(".setting-source")!.textContent).toBe("default");
  const before = await stored();
  fireEvent.change(screen.getByTestId("setting-run.timeout_ms"), { target: { value: "9000" } });
  fireEvent.click(screen.getByTestId("settings-save"));
  await waitFor(() => expect(place("run.timeout_ms").querySelector(".setting-source")?.textContent).toBe("workspace"));
  await client.saveSettings(before);
});

test("settings are found by words and by names", () => {
  const found = (text: string) => matching(text).flatMap((s) => s.parts.map((p) => (p.kind === "own" ? "" : p.path)));
  expect(found("retry base")).toEqual(["run.retry.base_ms"]);
  expect(found("allow-list")).toContain("policy.denied");
  fireEvent.change(screen.getByTestId("settings-find"), { target: { value: "nonsense" } });
  expect(screen.getByText("No setting is called that")).toBeTruthy();
});
