import type { CatalogItem } from "../../ipc/client";
import { useToolSave } from "./save";

interface ClassifyProps {
  tool: string;
  /** What it seems to be; nothing happens until somebody accepts it. */
  suggestion: CatalogItem["suggestion"];
}

/** An unclassified tool counts as destructive until somebody says what it is: one click does. */
export function Classify({ tool, suggestion }: ClassifyProps) {
  const { edit, problem } = useToolSave(tool);
  const why = suggestion && `Suggested: ${suggestion.reason}${suggestion.evidence && ` (“${suggestion.evidence}”)`}`;
  return (
    <span
      className="classify"
      title={problem ? `${problem.message}. ${problem.hint}` : "Unclassified counts as destructive"}
    >
      <span className="badge" data-classification="unclassified">
        {suggestion ? "?" : "unclassified"}
      </span>
      {(["SAFE", "DESTRUCTIVE"] as const).map((classification) => (
        <button
          type="button"
          key={classification}
          className="classify-button"
          data-classification={classification}
          data-suggested={suggestion?.classification === classification || undefined}
          data-testid={`classify-${classification}-${tool}`}
          aria-label={`Classify ${tool} ${classification}`}
          title={suggestion?.classification === classification ? why! : `Classify as ${classification}`}
          onClick={(e) => {
            e.stopPropagation();
            void edit({ classification });
          }}
        >
          {suggestion?.classification === classification
            ? `${classification}?`
            : classification === "SAFE"
              ? "safe"
              : "destr."}
        </button>
      ))}
      {problem && <span className="field-error">failed</span>}
    </span>
  );
}
