import type { Host } from "../client";

/** A browser tells the names of dropped files, not their paths. */
export const followDrops: Host["onFilesDropped"] = async (listener) => {
  const stop = new AbortController();
  const on = <K extends "dragover" | "drop" | "dragleave">(name: K, handle: (event: DragEvent) => void) =>
    window.addEventListener(name, handle, stop);
  on("dragover", (event) => {
    event.preventDefault();
    listener({ kind: "over" });
  });
  on("drop", (event) => {
    event.preventDefault();
    listener({ kind: "drop", paths: [...(event.dataTransfer?.files ?? [])].map((file) => `/dropped/${file.name}`) });
  });
  on("dragleave", (event) => event.relatedTarget === null && listener({ kind: "leave" }));
  return () => stop.abort();
};
