/** One query, every way of searching side by side: what each finds, how high, and where it matched. */
import * as Popover from "@radix-ui/react-popover";
import { useQuery } from "@tanstack/react-query";
import { Braces } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { Empty } from "../../components/Empty";
import { ListField } from "../../components/ListField";
import { ProblemNote } from "../../components/ProblemNote";
import { Problem, type LabMethod, type SearchLab as Lab } from "../../ipc/client";
import { json } from "../../lib/format";
import { useContextRequest, usePlanning } from "../../lib/planning";
import { searchLabQuery } from "../../lib/queries";
import { LabColumn } from "./LabColumn";
import { METHODS, MOST, searchQuery, toolSearchCall, toolSearchResult, useLab } from "./lab";
import "./discovery.css";

export function SearchLab() {
  const { set, ...lab } = useLab();
  const { request } = useContextRequest();
  const planned = usePlanning((s) => s.view?.planning.request.query ?? "");
  const [hovered, setHovered] = useState<string | null>(null);
  const asked = searchQuery(useDeferredValue(lab));
  const { data, error } = useQuery({
    ...searchLabQuery({ ...request, query: "" }, asked, lab.hidden),
    enabled: asked.query !== "",
  });
  return (
    <>
      <div className="lab-ask">
        <input
          autoFocus
          type="search"
          className="lab-query"
          data-testid="lab-query"
          aria-label="Search for tools"
          placeholder="What is to be done, a name, or a pattern"
          value={lab.query}
          onChange={(e) => set({ query: e.target.value })}
        />
        <label className="choice always">
          <span>Best</span>
          <select
            aria-label="How many of each"
            value={lab.limit}
            onChange={(e) => set({ limit: Number(e.target.value) })}
          >
            {[5, 8, 12, MOST].map((n) => (
              <option key={n}>{n}</option>
            ))}
          </select>
        </label>
        <input
          aria-label="Namespace"
          placeholder="any namespace"
          className="lab-narrow"
          value={lab.namespace}
          onChange={(e) => set({ namespace: e.target.value })}
        />
        <div className="lab-narrow lab-tags">
          <ListField label="Tags" value={lab.tags} placeholder="any tags" onChange={(tags) => set({ tags })} />
        </div>
        <label className="check">
          <input
            type="checkbox"
            data-testid="lab-hidden"
            checked={lab.hidden}
            onChange={(e) => set({ hidden: e.target.checked })}
          />
          also hidden tools
        </label>
        {data && asked.query !== "" && <AsCall lab={data} asked={asked} />}
      </div>
      {error && <ProblemNote problem={Problem.from(error)} />}
      {lab.query.trim() === "" ? (
        <Empty title="Try how tools are found">
          <p>
            Type a query as a model would. The four columns show what an exact name, a regular expression, the index of
            words and an embedding model find, with rank, score and the words that matched. Point at a tool to see where
            the other columns put it.
          </p>
          {planned !== "" && (
            <button type="button" className="button" onClick={() => set({ query: planned })}>
              Use the planned query
            </button>
          )}
        </Empty>
      ) : (
        data && (
          <div className="lab-columns" onMouseLeave={() => setHovered(null)} data-testid="lab-columns">
            {METHODS.map((method) => (
              <LabColumn key={method} method={method} lab={data} hovered={hovered} onHover={setHovered} />
            ))}
          </div>
        )
      )}
    </>
  );
}

type Callable = Exclude<LabMethod, "semantic">;
const CALLABLE: readonly Callable[] = ["lexical", "regex", "exact"];

/** The same search as a model makes it, and what it gets. */
function AsCall({ lab, asked }: { lab: Lab; asked: ReturnType<typeof searchQuery> }) {
  const [method, setMethod] = useState<Callable>("lexical");
  const text = `${json(toolSearchCall(asked, method))}\n\n${json(toolSearchResult(lab, method))}`;
  return (
    <Popover.Root>
      <Popover.Trigger className="button small" data-testid="lab-as-call">
        <Braces size={13} aria-hidden /> As tool_search call
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className="popover as-call" align="end" sideOffset={4}>
          <div className="as-call-head">
            <div className="segmented" role="radiogroup" aria-label="Way of searching">
              {CALLABLE.map((m) => (
                <button type="button" key={m} role="radio" aria-checked={m === method} onClick={() => setMethod(m)}>
                  {m}
                </button>
              ))}
            </div>
            <span className="grow" />
            <button type="button" className="button small" onClick={() => void navigator.clipboard.writeText(text)}>
              Copy
            </button>
          </div>
          <h3>The model writes</h3>
          <pre className="json-block">{json(toolSearchCall(asked, method))}</pre>
          <h3>and gets; hidden tools are not in it</h3>
          <pre className="json-block">{json(toolSearchResult(lab, method))}</pre>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
