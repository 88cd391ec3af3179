/** The columns that the catalog's table can show. */
import { TriangleAlert } from "lucide-react";
import { ClassificationBadge, OutcomeBadge } from "../../components/Badges";
import type { PagedColumn } from "../../components/PagedTable";
import { Seen } from "../../components/Seen";
import { ToolName } from "../../components/ToolName";
import type { CatalogItem, CatalogSort } from "../../ipc/client";
import { count, duration, moment, percent, UNKNOWN } from "../../lib/format";
import { Classify } from "./Classify";

export type CatalogColumn = PagedColumn<CatalogItem> & { sort?: CatalogSort };

const number = (
  id: string,
  header: string,
  name: string,
  value: (item: CatalogItem) => string,
  width: string,
  sort?: CatalogSort,
): CatalogColumn => ({ id, header, name, cell: value, width, numeric: true, sort });

const text = (
  id: string,
  header: string,
  value: (item: CatalogItem) => string,
  width: string,
  sort?: CatalogSort,
): CatalogColumn => ({ id, header, cell: value, title: value, width, sort });

/** A part of the context window; a small one is still more than nothing. */
export function shareOf(share: number | null): string {
  if (share === null) return UNKNOWN;
  if (share === 0) return "0 %";
  return share < 0.0001 ? "<0.01 %" : `${(share * 100).toFixed(2)} %`;
}

export const COLUMNS: CatalogColumn[] = [
  {
    id: "name",
    header: "Tool",
    cell: ({ row }) => <ToolName name={row.name} plain dimmed={!row.visible} />,
    title: ({ row, description }) => `${row.title ?? row.name}\n${description}`,
    width: "minmax(150px, 1.4fr)",
    sort: "name",
  },
  {
    id: "class",
    header: "Class",
    name: "Classification",
    cell: ({ row, suggestion }) =>
      row.classification === "unclassified" ? (
        <Classify tool={row.name} suggestion={suggestion} />
      ) : (
        <ClassificationBadge of={row.classification} />
      ),
    width: "172px",
    sort: "classification",
  },
  {
    id: "lints",
    header: <TriangleAlert size={13} aria-label="Lints" />,
    name: "Lints",
    cell: ({ lints }) =>
      lints.length > 0 && (
        <span className="badge" data-severity={lints[0]!.severity}>
          {lints.length}
        </span>
      ),
    title: ({ lints }) => lints.map((l) => l.code).join("\n"),
    width: "36px",
    sort: "lints",
  },
  number("tokens", "Tokens", "Tokens of the definition", ({ row }) => count(row.tokens), "62px", "tokens"),
  number("tokens-name", "Name", "Tokens of the name", ({ cost }) => count(cost.name), "56px"),
  number("tokens-description", "Descr.", "Tokens of the description", ({ cost }) => count(cost.description), "58px"),
  number("tokens-schema", "Schema", "Tokens of the schema", ({ cost }) => count(cost.schema), "66px"),
  number("share", "Window", "Part of the context window", ({ share }) => shareOf(share), "66px", "tokens"),
  {
    id: "visible",
    header: "Visible",
    name: "Visible to the model",
    cell: ({ row }) => <Seen how={seen(row)} gate={row.gate} />,
    title: ({ row }) => row.reason,
    width: "96px",
    sort: "gate",
  },
  {
    id: "outcome",
    header: "Outcome",
    name: "Outcome for the open query",
    cell: ({ row }) => <OutcomeBadge of={row.outcome} />,
    width: "104px",
  },
  text("reason", "Why", ({ row }) => row.reason, "minmax(170px, 2fr)"),
  text("loading", "Loading", ({ row }) => row.loading, "90px", "loading"),
  text("group", "Group", ({ row }) => row.group || "none", "100px", "group"),
  text("namespace", "Namespace", ({ row }) => row.namespace || "none", "110px", "namespace"),
  text("category", "Category", ({ row }) => row.category, "84px", "category"),
  text("side_effects", "Effects", ({ row }) => row.side_effects, "78px", "side_effects"),
  text("tags", "Tags", ({ row }) => row.tags.join(", "), "minmax(90px, 1fr)"),
  text("capabilities", "Capabilities", ({ capabilities }) => capabilities.join(", "), "minmax(110px, 1fr)"),
  text("description", "Description", ({ description }) => description, "minmax(200px, 2fr)"),
  number("calls", "Calls", "Calls so far", ({ stats }) => (stats ? count(stats.calls) : "0"), "56px", "calls"),
  number(
    "failures",
    "Failed",
    "Part of the calls that failed",
    ({ stats }) => (stats ? percent(stats.failure_rate) : UNKNOWN),
    "72px",
    "failure_rate",
  ),
  number(
    "duration",
    "p50",
    "Median duration",
    ({ stats }) => (stats ? duration(stats.p50_ms) : UNKNOWN),
    "76px",
    "duration",
  ),
  text(
    "changed",
    "Changed",
    ({ changed_revision, changed_ms }) => `r${changed_revision} · ${moment(changed_ms)}`,
    "160px",
    "changed",
  ),
];

const seen = ({ visible, outcome }: CatalogItem["row"]) =>
  visible ? "visible" : outcome === "deferred" ? "deferred" : "hidden";

export const columnWord = ({ id, name, header }: CatalogColumn): string =>
  name ?? (typeof header === "string" ? header : id);
