import { useQuery } from "@tanstack/react-query";
import { Empty } from "../../components/Empty";
import { openSample } from "../../lib/context";
import { counted } from "../../lib/format";
import { infoQuery } from "../../lib/queries";

/** Before the first query: what this place is for, and queries to start from. */
export function Welcome() {
  const { data: info } = useQuery(infoQuery);
  return (
    <div className="welcome">
      <Empty title="Plan a query to see its stages">
        <p>
          Toolplan decides which of {info ? counted(info.workspace.tools, "tool") : "the tools"} answer a query, which
          calls the guard lets through, and in which order they run. Write a query on the left, or start here:
        </p>
      </Empty>
      <ul className="cards">
        {info?.samples.map((sample, i) => (
          <li key={sample.title}>
            <button type="button" data-testid={`start-${i}`} onClick={() => openSample(sample)}>
              <strong>{sample.title}</strong>
              <span>{sample.shows}</span>
              <q>{sample.request.query}</q>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
