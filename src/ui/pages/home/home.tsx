import { EVERY_MS, useGet, useQuery } from "../../data/hooks.ts";
import type { Int } from "../../data/json.ts";
import { sql } from "../../data/sql.ts";
import { server } from "../../data/server.ts";
import { Copy } from "../../widgets/id.tsx";
import { Empty, Failed } from "../../widgets/empty.tsx";
import { Page } from "../../widgets/page.tsx";
import { type Status, StatusBadge, type StatusColumns, statusOf } from "../../widgets/status.tsx";
import { type Column, Table } from "../../widgets/table.tsx";

interface Service {
  readonly name: string;
  readonly ty: "Service" | "VirtualObject" | "Workflow";
  readonly revision: Int;
  readonly deployment_id: string;
  readonly handlers: readonly { readonly name: string }[];
}

type Count = StatusColumns & { readonly service: string; readonly n: Int };

const COUNTS = sql`
SELECT target_service_name AS service, status, completion_result, completion_failure, count(*) AS n
FROM sys_invocation WHERE status <> 'completed'
GROUP BY target_service_name, status, completion_result, completion_failure`;

/** The services, and what is open of each. */
export default function Home() {
  const services = useGet<{ services: Service[] }>("services", { everyMs: EVERY_MS.overview });
  const counts = useQuery<Count>(COUNTS, { everyMs: EVERY_MS.overview });
  const error = services.error ?? counts.error;
  return (
    <Page title="Home">
      {error && <Failed error={error} onRetry={services.refresh} />}
      {services.data?.services.length === 0
        ? <FirstRun />
        : services.data && <Services all={services.data.services} counts={counts.data ?? []} />}
    </Page>
  );
}

/** How many of a service are where, as badges. */
function Open({ counts }: { readonly counts: readonly Count[] }) {
  const byStatus = new Map<Status, number>();
  for (const count of counts) {
    const status = statusOf(count);
    byStatus.set(status, (byStatus.get(status) ?? 0) + Number(count.n));
  }
  if (byStatus.size === 0) return <>none</>;
  return (
    <span class="badges">
      {[...byStatus].map(([status, n]) => (
        <StatusBadge key={status} status={status} more={String(n)} />
      ))}
    </span>
  );
}

function Services({ all, counts }: {
  readonly all: readonly Service[];
  readonly counts: readonly Count[];
}) {
  const columns: readonly Column<Service>[] = [
    { id: "name", title: "Service", isHeader: true, cell: ({ name }) => <bdi>{name}</bdi> },
    { id: "ty", title: "Type", cell: ({ ty }) => ty },
    {
      id: "open",
      title: "Open",
      cell: ({ name }) => <Open counts={counts.filter(({ service }) => service === name)} />,
    },
    { id: "handlers", title: "Handlers", isNumber: true, cell: ({ handlers }) => handlers.length },
    { id: "revision", title: "Revision", isNumber: true, cell: ({ revision }) => String(revision) },
  ];
  const rows = all.toSorted((a, b) => a.name.localeCompare(b.name));
  return <Table caption="Services" columns={columns} rows={rows} idOf={({ name }) => name} />;
}

/** Nothing is registered: the command that changes it. */
function FirstRun() {
  const admin = new URL("../deployments", document.baseURI).href;
  const command = `curl ${admin} --json '{"uri": "http://localhost:9080"}'`;
  return (
    <Empty title="No deployment is registered. Start an endpoint, and register it:">
      <p>
        <code>{command}</code> <Copy text={command} label="the command" />
      </p>
      <p>Version {server.value?.version ?? "unknown"}</p>
    </Empty>
  );
}
