import { expect, test } from "vitest";
import { client, Problem, unwrap } from "./client";

const problem = { code: "catalog.malformed", message: "line 3 is no tool", hint: "correct the line" };

async function thrownBy(reply: Promise<unknown>): Promise<Problem> {
  try {
    await reply;
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(Problem);
    return thrown as Problem;
  }
  throw new Error("it did not throw");
}

test("an answer comes out of its reply", async () => {
  expect(await unwrap(Promise.resolve({ status: "ok", data: 7 }))).toBe(7);
});

test("Rust's problem is thrown with code, message and hint", async () => {
  const thrown = await thrownBy(unwrap(Promise.resolve({ status: "error", error: problem })));
  expect({ code: thrown.code, message: thrown.message, hint: thrown.hint }).toEqual(problem);
});

test("what Tauri itself refuses is a problem too", async () => {
  // Tauri answers a forbidden command with a bare string in the place of the error.
  const thrown = await thrownBy(unwrap(Promise.resolve({ status: "error", error: "plan not allowed" })));
  expect(thrown.message).toBe("plan not allowed");
  expect(thrown.code).toBe("window.unexpected");
  const broken = await thrownBy(unwrap(Promise.reject(new TypeError("no bridge"))));
  expect(broken.message).toBe("no bridge");
});

test("something that only resembles a problem is not taken for one", () => {
  expect(Problem.from({ code: "x", message: "y" }).code).toBe("window.unexpected");
});

test("without Tauri the fake host answers, and its refusals are problems", async () => {
  expect((await client.info()).workspace.tools).toBeGreaterThan(20);
  const thrown = await thrownBy(client.openRun(999));
  expect(thrown.code).toBe("run.unknown");
  expect(thrown.hint).not.toBe("");
});
