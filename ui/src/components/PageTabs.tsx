import type { ReactNode } from "react";
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
  const walk = (by: number) => {
    const at = tabs.findIndex((t) => t.value === value);
    onChange(tabs[(at + by + tabs.length) % tabs.length]!.value);
  };
  return (
    <div className="toolbar page-head">
      <h2>{label}</h2>
      <div
        className="page-tabs"
        role="tablist"
        aria-label={label}
        onKeyDown={(e) => {
          if (e.key !== "ArrowRight" && e.key !== "ArrowLeft") return;
          e.preventDefault();
          walk(e.key === "ArrowRight" ? 1 : -1);
        }}
      >
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
