/** How tools are found: the search lab, what the prompt says of it, and the embedding model. */
import { useQuery } from "@tanstack/react-query";
import { PageTabs } from "../../components/PageTabs";
import { percent } from "../../lib/format";
import { modelQuery } from "../../lib/queries";
import { useWindow } from "../../lib/store";
import { DirectoryPanel } from "./DirectoryPanel";
import { ModelPanel } from "./ModelPanel";
import { SearchLab } from "./SearchLab";

export function DiscoveryPage() {
  const tab = useWindow((s) => s.discoveryTab);
  const set = useWindow((s) => s.set);
  const { data: model } = useQuery(modelQuery);
  const reading = model?.indexing && model.total > 0 ? ` ${percent(model.indexed / model.total)}` : "";
  return (
    <div className="panel-column">
      <PageTabs
        label="Discovery"
        value={tab}
        onChange={(discoveryTab) => set({ discoveryTab })}
        tabs={[
          { value: "lab", label: "Search lab" },
          { value: "directory", label: "Directory and hints" },
          { value: "model", label: `Embedding model${reading}` },
        ]}
      />
      {tab === "lab" ? <SearchLab /> : tab === "directory" ? <DirectoryPanel /> : <ModelPanel />}
    </div>
  );
}
