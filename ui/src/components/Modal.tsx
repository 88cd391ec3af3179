import * as Dialog from "@radix-ui/react-dialog";
import type { ReactNode } from "react";

interface ModalProps {
  title: string;
  testId: string;
  wide?: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** A window over the window, for what needs an answer before it happens. */
export function Modal({ title, testId, wide, onClose, children }: ModalProps) {
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="dialog-backdrop" />
        <Dialog.Content
          className="dialog modal"
          data-wide={wide || undefined}
          aria-describedby={undefined}
          data-testid={testId}
        >
          <Dialog.Title>{title}</Dialog.Title>
          {children}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
