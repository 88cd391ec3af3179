import type { ReactNode } from "react";

/** A place with nothing in it says what belongs there and how it gets there. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
