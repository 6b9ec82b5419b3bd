import { addressOf, type Deployment, type Service, useDeployments } from "../../data/catalog.ts";
import type { Int } from "../../data/json.ts";
import { link } from "../../state/router.ts";
import { FailedReads } from "../../widgets/empty.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import { useOpen } from "./statements.ts";
import { Ago } from "../../widgets/time.tsx";

interface Row extends Deployment {
  readonly revision: Int;
  /** Open invocations of this service that are pinned to it. */
  readonly pinned: number;
}

/** The revisions of a service, the newest first, with the deployments that have them. */
export function Revisions({ service }: { readonly service: Service }) {
  const all = useDeployments();
  const open = useOpen(service.name);
  const rows = (all.data?.deployments ?? []).flatMap((one): Row[] => {
    const mine = one.services.find(({ name }) => name === service.name);
    const pinned = (open.data ?? []).filter(({ pinned }) => pinned === one.id)
      .reduce((sum, { n }) => sum + Number(n), 0);
    return mine ? [{ ...one, revision: mine.revision, pinned }] : [];
  }).toSorted((a, b) => Number(b.revision) - Number(a.revision));
  return (
    <section aria-labelledby="revisions">
      <h2 id="revisions">Revisions</h2>
      <FailedReads reads={[all, open]} />
      <Table
        caption="Revisions"
        columns={columnsFor(service)}
        rows={rows}
        idOf={({ id }) => id}
      />
    </section>
  );
}

function columnsFor(service: Service): readonly Column<Row>[] {
  return [
    { id: "revision", title: "Revision", isNumber: true, cell: (row) => String(row.revision) },
    {
      id: "deployment",
      title: "Deployment",
      isHeader: true,
      cell: (row) => (
        <a href={link("deployments", row.id)}>
          <bdi>{addressOf(row)}</bdi>
        </a>
      ),
    },
    {
      id: "use",
      title: "Use",
      cell: ({ id }) => id === service.deployment_id ? "new invocations" : "what is pinned to it",
    },
    { id: "pinned", title: "Pinned", isNumber: true, cell: ({ pinned }) => pinned },
    { id: "created", title: "Created", cell: ({ created_at: at }) => <Ago at={at} /> },
  ];
}
