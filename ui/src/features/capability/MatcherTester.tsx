/** Which capabilities the words of a query call for: the patterns that match, where, and the tools. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Empty } from "../../components/Empty";
import { ProblemNote } from "../../components/ProblemNote";
import { ToolName } from "../../components/ToolName";
import { client, Problem, type CapabilitySuggestion } from "../../ipc/client";
import { change } from "../../lib/edits";
import { segments } from "../../lib/highlight";
import { useContextRequest } from "../../lib/planning";
import { infoQuery } from "../../lib/queries";
import { useWindow } from "../../lib/store";
import { useRested } from "../../lib/useRested";

const TYPING_MS = 250;

export function MatcherTester() {
  const { request } = useContextRequest();
  const draft = useWindow((s) => s.draft.query);
  const { data: info } = useQuery(infoQuery);
  const [query, setQuery] = useState(request.query || draft);
  const rested = useRested(query.trim(), TYPING_MS);
  const on = info?.settings.capabilities.suggest ?? false;
  // The suggestions are part of a planning; this one is not shown anywhere else.
  const { data, error } = useQuery({
    queryKey: ["planning-view", null, "suggestions", { ...request, query: rested }],
    queryFn: () => client.plan({ ...request, query: rested, decomposition: null, planner: "offline" }, null),
    enabled: on && rested !== "",
    gcTime: 10_000,
  });
  const suggestions = data?.planning.suggestions ?? [];
  return (
    <div className="matchers">
      <label className="field">
        <span>Query</span>
        <input
          data-testid="matcher-query"
          value={query}
          placeholder="Fetch https://example.com and tell me what it says"
          onChange={(e) => setQuery(e.target.value)}
        />
      </label>
      {info && !on && (
        <p>
          Suggestions by patterns are off.{" "}
          <button
            type="button"
            className="link"
            onClick={() =>
              void change(() =>
                client.saveSettings({
                  ...info.settings,
                  capabilities: { ...info.settings.capabilities, suggest: true },
                }),
              )
            }
          >
            Turn them on
          </button>
        </p>
      )}
      {error && <ProblemNote problem={Problem.from(error)} />}
      {on && rested !== "" && data && (
        <>
          <p className="matched-query" data-testid="matched-query">
            <Marked query={rested} suggestions={suggestions} />
          </p>
          {suggestions.length === 0 ? (
            <Empty title="No pattern matches">
              <p>
                Matchers come with the enabled extensions and the settings. They match whole words, in any letter case,
                and in Chinese, Japanese and Korean text.
              </p>
            </Empty>
          ) : (
            <ul className="suggestions">
              {suggestions.map((s) => (
                <Suggested key={s.capability} suggestion={s} />
              ))}
            </ul>
          )}
        </>
      )}
    </div>
  );
}

function Marked({ query, suggestions }: { query: string; suggestions: CapabilitySuggestion[] }) {
  const marks = suggestions.flatMap((s) => s.matches.map(({ span }) => ({ ...span, key: s.capability })));
  return segments(query, marks).map(({ text, keys }, i) =>
    keys.length > 0 ? (
      <mark key={i} title={keys.join(", ")}>
        {text}
      </mark>
    ) : (
      <span key={i}>{text}</span>
    ),
  );
}

function Suggested({ suggestion: { capability, tools, matches, along_with } }: { suggestion: CapabilitySuggestion }) {
  return (
    <li>
      <code>{capability}</code>
      <span className="muted small">
        {along_with !== null
          ? `goes along with ${along_with}`
          : matches.map((m) => `“${m.text}” by the pattern ${m.pattern}`).join(", ")}
      </span>
      <span className="names">
        {tools.length === 0 ? (
          <span className="muted">no visible tool has it</span>
        ) : (
          tools.map((tool) => <ToolName key={tool} name={tool} />)
        )}
      </span>
    </li>
  );
}
