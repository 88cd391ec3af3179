import { useEffect, useRef } from "react";

interface SearchBoxProps {
  label: string;
  placeholder: string;
  value: string;
  onChange: (text: string) => void;
  testId: string;
}

/** Whether keys go into a text now, where a letter is a letter. */
export const isTyping = (event: KeyboardEvent): boolean =>
  event.target instanceof HTMLElement && event.target.closest("input, textarea, select, .cm-editor") !== null;

/** The field that narrows a view by words. "/" goes to it from anywhere. */
export function SearchBox({ label, placeholder, value, onChange, testId }: SearchBoxProps) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      event.preventDefault();
      box.current?.focus();
    };
    window.addEventListener("keydown", focus);
    return () => window.removeEventListener("keydown", focus);
  }, []);
  return (
    <input
      ref={box}
      type="search"
      className="filter-box"
      data-testid={testId}
      aria-label={label}
      placeholder={`${placeholder}  ( / )`}
      value={value}
      onChange={(e) => onChange(e.target.value)}
    />
  );
}
