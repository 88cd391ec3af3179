import type { LucideIcon } from "lucide-react";

interface IconButtonProps {
  label: string;
  /** As shown: `Shift+Enter`. */
  keys?: string;
  icon: LucideIcon;
  size?: number;
  disabled?: boolean;
  testId?: string;
  onClick: () => void;
}

/** A button that is only a picture; its name and its keys are told by the title. */
export function IconButton({ label, keys, icon: Icon, size = 14, disabled, testId, onClick }: IconButtonProps) {
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={keys === undefined ? label : `${label} (${keys})`}
      data-testid={testId}
      disabled={disabled}
      onClick={onClick}
    >
      <Icon size={size} />
    </button>
  );
}
