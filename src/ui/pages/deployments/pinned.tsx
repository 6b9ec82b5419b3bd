import { filterLink } from "../../data/filter_link.ts";
import { Empty, Failed } from "../../widgets/empty.tsx";
import { StatusBadge, statusOf } from "../../widgets/status.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import { Age } from "../../widgets/time.tsx";
import { type PinnedHandler, usePinnedTo } from "./statements.ts";

/** What has not ended and goes on with a deployment, by handler and status. */
export function PinnedTable({ id }: { readonly id: string }) {
  const { data, error, refresh } = usePinnedTo(id);
  if (error) return <Failed error={error} onRetry={refresh} />;
  if (!data) return null;
  if (data.length === 0) return <Empty title="No open invocation is pinned to it." />;
  return (
    <Table
      caption="Open invocations"
      columns={columnsFor(id)}
      rows={data}
      idOf={({ service, handler, status }) => `${service}/${handler} ${status}`}
    />
  );
}

function columnsFor(id: string): readonly Column<PinnedHandler>[] {
  return [
    {
      id: "handler",
      title: "Handler",
      isHeader: true,
      cell: ({ service, handler }) => <bdi class="name">{service}/{handler}</bdi>,
    },
    { id: "status", title: "Status", cell: (row) => <StatusBadge status={statusOf(row)} /> },
    {
      id: "count",
      title: "Invocations",
      isNumber: true,
      cell: (row) => <Count {...{ row, id }} />,
    },
    { id: "oldest", title: "Oldest", cell: ({ oldest }) => <Age at={oldest} /> },
  ];
}

function Count({ row, id }: { readonly row: PinnedHandler; readonly id: string }) {
  const { service, handler, n } = row;
  const to = filterLink({ deployment: id, service, handler, status: statusOf(row) });
  return <a href={to}>{String(n)}</a>;
}
