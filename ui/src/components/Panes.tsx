import type { ReactNode } from "react";
import { Group, Panel, Separator, useDefaultLayout } from "react-resizable-panels";
import "./panes.css";

export interface Pane {
  id: string;
  /** Pixels at first; afterwards what the person left it at. Absent: takes what is left. */
  size?: number;
  min?: number;
  content: ReactNode;
}

/** Panes side by side, or one above the other, whose sizes are remembered. */
export function Panes({
  id,
  panes,
  orientation = "horizontal",
}: {
  id: string;
  panes: Pane[];
  orientation?: "horizontal" | "vertical";
}) {
  // The library also puts these ids into the page as `data-testid`, where plain names would collide with the contents'.
  const idOf = (pane: Pane) => `pane-${pane.id}`;
  const panelIds = panes.map(idOf);
  const { defaultLayout, onLayoutChanged } = useDefaultLayout({
    id: `toolplan.${id}`,
    panelIds,
    storage: localStorage,
    onlySaveAfterUserInteractions: true,
  });
  return (
    <Group
      id={`panes-${id}`}
      orientation={orientation}
      defaultLayout={defaultLayout}
      onLayoutChanged={onLayoutChanged}
      className="panes"
    >
      {panes.flatMap((pane, i) => [
        ...(i > 0 ? [<Separator key={`separator-${pane.id}`} className="pane-separator" />] : []),
        <Panel
          key={pane.id}
          id={idOf(pane)}
          className="pane"
          // What is in a pane scrolls by itself; the library would scroll the pane as well.
          style={{ overflow: "hidden" }}
          defaultSize={pane.size}
          minSize={pane.min ?? 120}
          collapsible={pane.size !== undefined}
          groupResizeBehavior={pane.size === undefined ? "preserve-relative-size" : "preserve-pixel-size"}
        >
          {pane.content}
        </Panel>,
      ])}
    </Group>
  );
}
