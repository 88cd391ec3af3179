import type { KeyboardEvent, ReactNode } from "react";
import "./page-tabs.css";

interface PageTabsProps<Value extends string> {
  label: string;
  value: Value;
  tabs: { value: Value; label: string }[];
  onChange: (value: Value) => void;
  /** What else stands in the line. */
  children?: ReactNode;
}

/** The parts of a page, in a line with its name. */
export function PageTabs<Value extends string>({ label, value, tabs, onChange, children }: PageTabsProps<Value>) {
  const walk = (event: KeyboardEvent<HTMLElement>) => {
    const at = tabs.findIndex((t) => t.value === value);
    const last = tabs.length - 1;
    const next = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last }[
      event.key
    ];
    if (next === undefined) return;
    event.preventDefault();
    onChange(tabs[next]!.value);
    event.currentTarget.querySelectorAll<HTMLElement>('[role="tab"]')[next]?.focus();
  };
  return (
    <div className="toolbar page-head">
      <h2>{label}</h2>
      <div className="page-tabs" role="tablist" aria-label={label} onKeyDown={walk}>
        {tabs.map((tab) => (
          <button
            type="button"
            key={tab.value}
            role="tab"
            aria-selected={tab.value === value}
            tabIndex={tab.value === value ? 0 : -1}
            data-testid={`page-tab-${tab.value}`}
            onClick={() => onChange(tab.value)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      {children}
    </div>
  );
}
