/** The catalog: its tools, what is wrong with them, and how they came to be so. */
import { useQuery } from "@tanstack/react-query";
import { PageTabs } from "../components/PageTabs";
import { CatalogTable } from "../features/catalog/CatalogTable";
import { EditHistory } from "../features/catalog/EditHistory";
import { LintsView } from "../features/lint/LintsView";
import { count } from "../lib/format";
import { lintsQuery } from "../lib/queries";
import { useWindow } from "../lib/store";

export function CatalogPage() {
  const tab = useWindow((s) => s.catalogTab);
  const set = useWindow((s) => s.set);
  const { data: lints } = useQuery(lintsQuery({ codes: [], severities: [], tools: [], offset: 0, limit: 0 }));
  return (
    <div className="panel-column">
      <PageTabs
        label="Catalog"
        value={tab}
        onChange={(catalogTab) => set({ catalogTab })}
        tabs={[
          { value: "tools", label: "Tools" },
          { value: "lints", label: lints && lints.total > 0 ? `Lints ${count(lints.total)}` : "Lints" },
          { value: "history", label: "Edit history" },
        ]}
      />
      {tab === "tools" ? <CatalogTable /> : tab === "lints" ? <LintsView /> : <EditHistory />}
    </div>
  );
}
