/** The import rules of the window, read off its sources: base ← features ← app, and one door to Rust. */
import { expect, test } from "vitest";

const sources: Record<string, string> = import.meta.glob("./**/*.{ts,tsx}", {
  query: "?raw",
  import: "default",
  eager: true,
});
const BASE = ["lib", "components", "graph", "ipc"];

interface Import {
  file: string;
  target: string;
}

/** The path of a relative import from the root of the sources; a package's name as it is. */
function resolve(file: string, target: string): string {
  if (!target.startsWith(".")) return target;
  const path = file.split("/").slice(0, -1);
  for (const part of target.split("/")) {
    if (part === "..") path.pop();
    else if (part !== ".") path.push(part);
  }
  return path.join("/");
}

const files = Object.entries(sources).map(([path, text]) => ({ file: path.replace("./", ""), text }));
const imports = files.flatMap(({ file, text }) =>
  [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((m): Import => ({ file, target: resolve(file, m[1]!) })),
);

const folder = (path: string) => path.split("/")[0]!;
const feature = (path: string) => (folder(path) === "features" ? path.split("/")[1]! : null);
const written = (found: Import[]) => found.map((i) => `${i.file} imports ${i.target}`);

test("the scan sees the sources", () => {
  expect(imports.length).toBeGreaterThan(200);
  expect(written(imports)).toContain("app/CatalogPage.tsx imports features/catalog/CatalogTable");
  expect(written(imports)).toContain("ipc/client.ts imports ipc/fake");
});

test("base folders import only base folders", () => {
  const upward = imports.filter((i) => BASE.includes(folder(i.file)) && ["features", "app"].includes(folder(i.target)));
  expect(written(upward)).toEqual([]);
});

test("a feature imports neither another feature nor the app", () => {
  const across = imports.filter(
    (i) =>
      feature(i.file) !== null &&
      (folder(i.target) === "app" || (feature(i.target) ?? feature(i.file)) !== feature(i.file)),
  );
  expect(written(across)).toEqual([]);
});

test("only ipc imports the bindings and Tauri", () => {
  const direct = imports.filter(
    (i) => (i.target === "ipc/bindings" || i.target.startsWith("@tauri-apps/")) && folder(i.file) !== "ipc",
  );
  expect(written(direct)).toEqual([]);
});

test("no file grows beyond 400 lines", () => {
  const long = files.filter(({ file, text }) => file !== "ipc/bindings.ts" && text.split("\n").length > 400);
  expect(long.map((f) => f.file)).toEqual([]);
});
