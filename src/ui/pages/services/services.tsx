import { addressOf, type Deployment, type Service, TYPES } from "../../data/catalog.ts";
import { useDeployments, useServices } from "../../data/catalog.ts";
import { go, link } from "../../state/router.ts";
import { serviceColumn } from "../../widgets/columns.tsx";
import { Empty, FailedReads } from "../../widgets/empty.tsx";
import { Page } from "../../widgets/page.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import { figureColumns, type Figures, figuresOf } from "./figures.tsx";
import { useOpen, usePace } from "./statements.ts";

type Row = Service & Figures;

/** All services with their live figures. */
export default function Services() {
  const [catalog, deployments] = [useServices(), useDeployments()];
  const [open, pace] = [useOpen(), usePace()];
  const services = catalog.data?.services;
  const rows = services?.toSorted((a, b) => a.name < b.name ? -1 : 1)
    .map((one) => ({ ...one, ...figuresOf(one.name, open.data ?? [], pace.data ?? []) }));
  return (
    <Page title="Services">
      <FailedReads reads={[catalog, deployments, open, pace]} />
      {rows?.length === 0 && (
        <Empty title="No deployment is registered.">
          <a href={`${link("deployments")}?register=yes`}>Register one</a>
        </Empty>
      )}
      {rows && rows.length > 0 && (
        <Table
          caption="Services"
          columns={columnsFor(deployments.data?.deployments ?? [])}
          rows={rows}
          idOf={({ name }) => name}
          onOpen={({ name }) => go(link("services", name))}
        />
      )}
    </Page>
  );
}

function columnsFor(deployments: readonly Deployment[]): readonly Column<Row>[] {
  const byId = new Map(deployments.map((one) => [one.id, one]));
  return [
    serviceColumn(),
    { id: "ty", title: "Type", cell: ({ ty }) => TYPES[ty] },
    ...figureColumns<Row>(({ name }) => ({ service: name })),
    { id: "public", title: "Access", cell: (row) => accessOf(row) },
    { id: "revision", title: "Revision", isNumber: true, cell: (row) => String(row.revision) },
    {
      id: "deployment",
      title: "Deployment",
      cell: ({ deployment_id: id }) => (
        <a href={link("deployments", id)}>
          <bdi>{addressOf(byId.get(id) ?? { id })}</bdi>
        </a>
      ),
    },
  ];
}

function accessOf(service: Service): string {
  const access = service.public ? "public" : "private";
  return service.paused ? `${access}, paused` : access;
}
