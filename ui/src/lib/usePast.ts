/**
 * The state of a run at an event, while the event changes faster than states can be had: one question at a time, and
 * the longer an answer takes, the longer the pause after it, so that the window stays free to follow the pointer.
 */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { RunAt } from "../ipc/client";
import { runAtQuery } from "./queries";

export function usePast(run: number | null, cursor: number | null): { state: RunAt | null; error: Error | null } {
  const [asked, setAsked] = useState(cursor);
  const since = useRef(0);
  const { data, error, isFetching } = useQuery({
    ...runAtQuery(run ?? 0, asked ?? 0),
    enabled: run !== null && asked !== null,
  });

  useEffect(() => {
    if (asked === cursor || (isFetching && asked !== null)) return;
    const took = since.current === 0 ? 0 : performance.now() - since.current;
    const ask = () => {
      since.current = performance.now();
      setAsked(cursor);
    };
    if (took === 0 || asked === null || cursor === null) return ask();
    const timer = setTimeout(ask, Math.min(250, Math.max(0, 2 * took - 16)));
    return () => clearTimeout(timer);
  }, [asked, cursor, isFetching]);

  useEffect(() => {
    since.current = 0;
  }, [run]);

  return { state: cursor === null ? null : (data ?? null), error };
}
