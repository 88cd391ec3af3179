/** The headers of the stages: they stay at the top of the pane, above their columns, and legible at every zoom. */
import { useStore, useStoreApi, type ReactFlowState } from "@xyflow/react";
import { useEffect, useRef } from "react";
import type { StageView } from "../ipc/client";
import { COLUMN } from "./layout";
import { headersAt, headerText } from "./lod";

/** First and last stage in sight, how many of them get a header, and its words. */
function bandOf({ transform, width }: ReactFlowState): string {
  const [x, , zoom] = transform;
  const { every, words } = headersAt(zoom);
  const first = Math.max(1, Math.floor(-x / zoom / COLUMN) + 1);
  return [first, first + Math.ceil(width / zoom / COLUMN), every, words].join();
}

export function StageBand({ stages, failed }: { stages: StageView[]; failed: ReadonlySet<number> }) {
  const store = useStoreApi();
  const row = useRef<HTMLDivElement>(null);
  const [first, last, every, words] = useStore(bandOf).split(",") as [string, string, string, "full"];

  useEffect(() => {
    let drawn = 0;
    const place = () => {
      const [x, , zoom] = store.getState().transform;
      const style = row.current?.style;
      if (!style) return;
      style.transform = `translateX(${x}px)`;
      if (zoom !== drawn) style.setProperty("--column", `${COLUMN * zoom}px`);
      drawn = zoom;
    };
    place();
    return store.subscribe(place);
  }, [store]);

  const visible = stages.filter(
    ({ number }) => number >= Number(first) && number <= Number(last) && (number - 1) % Number(every) === 0,
  );
  return (
    <div className="stage-band" data-words={words}>
      <div className="stage-row" ref={row}>
        {visible.map((stage) => (
          <div
            key={stage.number}
            className="stage-header"
            data-testid={`stage-${stage.number}`}
            data-failed={failed.has(stage.number) || undefined}
            title={headerText(stage, "full")}
            style={{ left: `calc(var(--column) * ${stage.number - 1})` }}
          >
            {headerText(stage, words)}
          </div>
        ))}
      </div>
    </div>
  );
}
