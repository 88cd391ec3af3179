/** Rows that arrive in pages, as far as they are in sight. While new ones are on their way, the old ones stay. */
import { useQueries } from "@tanstack/react-query";
import { useCallback, useRef } from "react";
import { queryClient } from "./queries";

export const PAGE = 100;

export interface Pages<Page, Row> {
  /** The first page, which also carries what is said of all rows. */
  first: Page | undefined;
  rowAt: (index: number) => Row | undefined;
  error: Error | null;
}

interface PagesOptions<Page, Row> {
  /** Names the question; a page's number is added to it. */
  queryKey: readonly unknown[];
  load: (offset: number, limit: number) => Promise<Page>;
  rowsOf: (page: Page) => Row[];
  /** The pages in sight. */
  pages: readonly number[];
}

/** The numbers of the pages that rows `start` to `end` lie on. */
export function pagesOf(start: number, end: number): number[] {
  const first = Math.floor(Math.max(0, start) / PAGE);
  const last = Math.floor(Math.max(0, end) / PAGE);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

const options = <Page, Row>({ queryKey, load }: Pick<PagesOptions<Page, Row>, "queryKey" | "load">, page: number) => ({
  queryKey: [...queryKey, page],
  queryFn: () => load(page * PAGE, PAGE),
  gcTime: 20_000,
});

export function usePages<Page, Row>(asked: PagesOptions<Page, Row>): Pages<Page, Row> {
  const { rowsOf } = asked;
  const numbers = [...new Set([0, ...asked.pages])];
  const answers = useQueries({ queries: numbers.map((page) => options(asked, page)) });
  const last = useRef(new Map<number, Page>());
  const known = new Map<number, Page>();
  numbers.forEach((page, i) => {
    const data = answers[i]?.data ?? last.current.get(page);
    if (data !== undefined) known.set(page, data);
  });
  last.current = known;
  const rowAt = (index: number) => {
    const page = known.get(Math.floor(index / PAGE));
    return page && rowsOf(page)[index % PAGE];
  };
  return { first: known.get(0), rowAt, error: answers.find((a) => a.error)?.error ?? null };
}

/** Reads rows `from` to `to`, those out of sight too. */
export function useRowReader<Page, Row>(asked: Omit<PagesOptions<Page, Row>, "pages">) {
  const latest = useRef(asked);
  latest.current = asked;
  return useCallback(async (from: number, to: number): Promise<Row[]> => {
    const { rowsOf } = latest.current;
    const pages = await Promise.all(
      pagesOf(from, to).map((page) =>
        queryClient.fetchQuery({ ...options(latest.current, page), staleTime: Infinity }),
      ),
    );
    return pages.flatMap(rowsOf).slice(from % PAGE, (from % PAGE) + to - from + 1);
  }, []);
}
