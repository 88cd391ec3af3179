import { useToolSave } from "./save";

/** An unclassified tool counts as destructive until somebody says what it is: one click does. */
export function Classify({ tool }: { tool: string }) {
  const { edit, problem } = useToolSave(tool);
  return (
    <span
      className="classify"
      title={problem ? `${problem.message}. ${problem.hint}` : "Unclassified counts as destructive"}
    >
      <span className="badge" data-classification="unclassified">
        unclassified
      </span>
      {(["SAFE", "DESTRUCTIVE"] as const).map((classification) => (
        <button
          type="button"
          key={classification}
          className="button classify-button"
          data-testid={`classify-${classification}-${tool}`}
          aria-label={`Classify ${tool} ${classification}`}
          onClick={(e) => {
            e.stopPropagation();
            void edit({ classification });
          }}
        >
          {classification === "SAFE" ? "safe" : "destr."}
        </button>
      ))}
      {problem && <span className="field-error">failed</span>}
    </span>
  );
}
