import { useCallback, useState } from "react";

/** Keeps the width of the element that the reference is given to; without a layout there is all the room there is. */
export function useWidth() {
  const [width, setWidth] = useState(Infinity);
  const ref = useCallback((element: HTMLElement | null) => {
    if (!element) return;
    const watch = new ResizeObserver(() => setWidth(element.clientWidth || Infinity));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return [ref, width] as const;
}
