import { FileUp } from "lucide-react";

interface FileButtonProps {
  accept: string;
  testId: string;
  onText: (text: string, name: string) => void;
}

/** Chooses a file and hands its text on. The browser's own control is there for keyboard and reader, and not drawn. */
export function FileButton({ accept, testId, onText }: FileButtonProps) {
  return (
    <label className="button file-button">
      <FileUp size={13} aria-hidden /> Choose a file…
      <input
        type="file"
        className="visually-hidden"
        accept={accept}
        data-testid={testId}
        onChange={(e) => {
          const file = e.target.files?.[0];
          // The same file may be chosen again after it was corrected.
          e.target.value = "";
          if (file) void file.text().then((text) => onText(text, file.name));
        }}
      />
    </label>
  );
}
