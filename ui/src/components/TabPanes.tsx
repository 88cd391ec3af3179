/** Parts of a pane behind tabs. Only the chosen part is built; a line of tabs that is too long scrolls. */
import * as Tabs from "@radix-ui/react-tabs";
import { useEffect, useRef, type ReactNode } from "react";

export interface Tab<Value extends string> {
  value: Value;
  label: ReactNode;
  content: () => ReactNode;
}

interface TabPanesProps<Value extends string> {
  label: string;
  /** Stands before the value in the test id of each tab. */
  testId: string;
  value: Value;
  tabs: readonly Tab<Value>[];
  onChange: (value: Value) => void;
}

export function TabPanes<Value extends string>({ label, testId, value, tabs, onChange }: TabPanesProps<Value>) {
  const list = useRef<HTMLDivElement>(null);
  const open = tabs.find((tab) => tab.value === value) ?? tabs[0]!;
  useEffect(() => {
    list.current?.querySelector("[data-state=active]")?.scrollIntoView?.({ block: "nearest", inline: "nearest" });
  }, [open.value]);
  return (
    <Tabs.Root value={open.value} onValueChange={(next) => onChange(next as Value)} className="bottom">
      <Tabs.List className="tabs" aria-label={label} ref={list}>
        {tabs.map((tab) => (
          <Tabs.Trigger key={tab.value} value={tab.value} data-testid={`${testId}-${tab.value}`}>
            {tab.label}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {tabs.map((tab) => (
        <Tabs.Content key={tab.value} value={tab.value} className="tab-body">
          {tab === open && tab.content()}
        </Tabs.Content>
      ))}
    </Tabs.Root>
  );
}
