import { type Invocation, waitingOf } from "../../data/invocations.ts";
import { link } from "../../state/router.ts";
import { durationText } from "../../widgets/duration.ts";
import { Id } from "../../widgets/id.tsx";
import { Reason } from "../../widgets/reason.tsx";
import { StatusBadge, statusOf } from "../../widgets/status.tsx";
import type { Column } from "../../widgets/table.tsx";
import { Age } from "../../widgets/time.tsx";
import type { Order } from "./statements.ts";

/** What a cell of a list shows of a failure; the page of the invocation has all of it. */
const LINE_MAX = 160;

/** The first line of a text, cut. */
function lineOf(text: string): string {
  const [line = ""] = text.split("\n");
  return line.length > LINE_MAX ? `${line.slice(0, LINE_MAX)}…` : line;
}

/** Why it waits, or how it failed: what matters most of a row, in one line. */
function reasonOf(row: Invocation): string {
  if (row.completion_failure !== undefined) return lineOf(row.completion_failure);
  if (row.status === "backing-off" && row.last_failure !== undefined) {
    const { last_failure_related_command_type: type, last_failure_related_command_name: name } =
      row;
    const where = type === undefined ? "" : `${type.toLowerCase()} ${name ?? ""}: `;
    return where + lineOf(row.last_failure);
  }
  return lineOf(waitingOf(row) ?? "");
}

function took({ running_at: from, completed_at: to }: Invocation): string {
  if (from === undefined || to === undefined) return "";
  return durationText(Math.max(0, Date.parse(to) - Date.parse(from)));
}

/** How many attempts failed, where that says something. */
function attempts({ retry_count: count = 0, status }: Invocation): string | undefined {
  return status !== "completed" && Number(count) > 1 ? String(count) : undefined;
}

const STATUS: Column<Invocation> = {
  id: "status",
  rem: 9,
  title: "Status",
  cell: (row) => <StatusBadge status={statusOf(row)} more={attempts(row)} />,
};
const ID: Column<Invocation> = {
  id: "id",
  rem: 12,
  title: "Id",
  isHeader: true,
  cell: ({ id }) => <Id id={id} to={link("invocations", id)} isBare />,
};
const TARGET: Column<Invocation> = {
  id: "target",
  rem: 15,
  title: "Target",
  cell: ({ target_service_name: service, target_handler_name: handler }) => (
    <bdi class="line">{`${service}/${handler}`}</bdi>
  ),
};
const KEY: Column<Invocation> = {
  id: "key",
  rem: 9,
  title: "Key",
  cell: (row) => <bdi class="line">{row.target_service_key ?? ""}</bdi>,
};
const AGE: Column<Invocation> = {
  id: "age",
  rem: 6,
  title: "Age",
  isNumber: true,
  cell: (row) => <Age at={row.created_at} />,
};
const TOOK: Column<Invocation> = { id: "took", rem: 6, title: "Took", isNumber: true, cell: took };
const REASON: Column<Invocation> = {
  id: "reason",
  rem: 24,
  title: "Last error, or what it waits for",
  cell: (row) => (
    <span class="line" title={reasonOf(row)}>
      <Reason text={reasonOf(row)} />
    </span>
  ),
};

const COLUMNS = [STATUS, TARGET, KEY, ID, AGE, TOOK, REASON];

/** Columns that can be hidden, by their ids: all but the one that heads a row. */
export const COLUMN_TITLES = COLUMNS.filter(({ isHeader }) => !isHeader)
  .map(({ id, title }) => [id, title] as const);

/** The columns of the list. `hidden`: ids of those that are not shown. */
export function columnsOf(
  order: Order,
  hidden: readonly string[] = [],
): readonly Column<Invocation>[] {
  const sort = order === "newest" ? "ascending" : "descending";
  return COLUMNS.filter(({ id }) => !hidden.includes(id))
    .map((column) => column === AGE ? { ...AGE, sort } : column);
}
