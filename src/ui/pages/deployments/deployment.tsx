import { useState } from "preact/hooks";
import {
  addressOf,
  type Deployment,
  headerText,
  type HeaderValue,
  protocolOf,
  type Service,
  transportOf,
  TYPES,
  useDeployments,
  useServices,
} from "../../data/catalog.ts";
import { EVERY_MS, useGet } from "../../data/hooks.ts";
import { abilities } from "../../data/server.ts";
import type { PageProps } from "../../routes.ts";
import { link } from "../../state/router.ts";
import { serviceColumn } from "../../widgets/columns.tsx";
import { Empty, FailedReads } from "../../widgets/empty.tsx";
import { Id } from "../../widgets/id.tsx";
import { LongText } from "../../widgets/json_tree.tsx";
import { Page } from "../../widgets/page.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import { Ago, Moment } from "../../widgets/time.tsx";
import { DeleteDialog, setPaused } from "./actions.tsx";
import { PinnedTable } from "./pinned.tsx";
import { RegisterDialog } from "./register.tsx";
import { DeploymentState, type Row, rowsOf } from "./state.tsx";
import { usePinned } from "./statements.ts";

/** Statuses of an id that no deployment has: it was deleted, or is none at all. */
const NO_SUCH = [404, 400];

/** One deployment: how it is reached, what it serves, and what is still open on it. */
export default function DeploymentPage({ params: { id = "" } }: PageProps) {
  const one = useGet<Deployment<Service>>(`deployments/${encodeURIComponent(id)}`, {
    everyMs: EVERY_MS.overview,
    about: "configuration",
  });
  const [list, catalog, pinned] = [useDeployments(), useServices(), usePinned()];
  const services = catalog.data?.services ?? [];
  const deployment = one.data;
  if (!deployment) {
    return (
      <Page title="Deployment">
        <FailedReads reads={[one]} />
        {NO_SUCH.includes(one.error?.status ?? 0) && (
          <Empty title={`There is no deployment ${id}`}>
            <a href={link("deployments")}>All deployments</a>
          </Empty>
        )}
      </Page>
    );
  }
  const [row] = rowsOf([deployment], services, pinned.data ?? []);
  return (
    <Page
      title={<bdi>{addressOf(deployment)}</bdi>}
      actions={
        <Actions row={row!} services={services} deployments={list.data?.deployments ?? []} />
      }
    >
      <FailedReads reads={[one, list, catalog, pinned]} />
      <Facts deployment={deployment} row={row!} />
      <h2>Services</h2>
      <Services deployment={deployment} latest={services} />
      <h2>Open invocations</h2>
      <PinnedTable id={id} />
    </Page>
  );
}

function Actions({ row, services, deployments }: {
  readonly row: Row;
  readonly services: readonly Service[];
  readonly deployments: readonly Deployment[];
}) {
  const [shown, show] = useState<"update" | "delete">();
  const close = () => show(undefined);
  return (
    <>
      {abilities().hasControls && (
        <button
          type="button"
          onClick={() => void setPaused(row, !row.paused)}
        >
          {row.paused ? "Resume" : "Pause"}
        </button>
      )}
      {row.arn === undefined && (
        <button type="button" onClick={() => show("update")}>Update…</button>
      )}
      <button type="button" class="danger" onClick={() => show("delete")}>Delete…</button>
      {shown === "update" && (
        <RegisterDialog known={row} onClose={close} {...{ services, deployments }} />
      )}
      {shown === "delete" && <DeleteDialog row={row} onClose={close} />}
    </>
  );
}

function Facts({ deployment, row }: {
  readonly deployment: Deployment<Service>;
  readonly row: Row;
}) {
  const { id, uri, arn, sdk_version: sdk, created_at: at } = deployment;
  const { additional_headers: headers = {}, metadata = {} } = deployment;
  return (
    <dl class="facts">
      <dt>State</dt>
      <dd>
        <DeploymentState row={row} />
      </dd>
      <dt>Id</dt>
      <dd>
        <Id id={id} isWhole />
      </dd>
      <dt>{arn === undefined ? "Address" : "ARN"}</dt>
      <dd>
        <bdi>{uri ?? arn}</bdi>
      </dd>
      <dt>Transport</dt>
      <dd>{transportOf(row)}</dd>
      <dt>Protocol versions</dt>
      <dd>{protocolOf(row)}</dd>
      <dt>SDK</dt>
      <dd>
        <bdi>{sdk ?? "unknown"}</bdi>
      </dd>
      <dt>Created</dt>
      <dd>
        <Ago at={at} /> · <Moment at={at} />
      </dd>
      <Record title="Headers" record={hidden(headers)} />
      <Record title="ID token" record={tokensOf(deployment)} />
      <Record title="Metadata" record={metadata} />
    </dl>
  );
}

/** Headers without their values, which this page never shows. */
function hidden(headers: Readonly<Record<string, HeaderValue>>): Record<string, string> {
  const shown = Object.entries(headers).map(([name, value]) => [name, headerText(value)] as const);
  return Object.fromEntries(shown);
}

/** Which ID token its requests carry, by its kind. */
function tokensOf({ auth = {} }: Pick<Deployment<Service>, "auth">): Record<string, string> {
  const shown = Object.entries(auth).map(([kind, { audience, header }]) =>
    [kind, `for ${audience}, in the header ${header}`] as const
  );
  return Object.fromEntries(shown);
}

function Record({ title, record }: {
  readonly title: string;
  readonly record: Readonly<Record<string, string>>;
}) {
  const entries = Object.entries(record);
  if (entries.length === 0) return null;
  return (
    <>
      <dt>{title}</dt>
      <dd>
        {entries.map(([name, value]) => (
          <div key={name}>
            <bdi>{name}</bdi>: <LongText text={value} />
          </div>
        ))}
      </dd>
    </>
  );
}

function Services({ deployment, latest }: {
  readonly deployment: Deployment<Service>;
  readonly latest: readonly Service[];
}) {
  const newest = new Map(latest.map((one) => [one.name, one]));
  const columns: readonly Column<Service>[] = [
    serviceColumn(),
    { id: "ty", title: "Type", cell: ({ ty }) => TYPES[ty] },
    { id: "handlers", title: "Handlers", isNumber: true, cell: ({ handlers }) => handlers.length },
    { id: "revision", title: "Revision", isNumber: true, cell: ({ revision }) => String(revision) },
    {
      id: "latest",
      title: "Newest revision",
      cell: ({ name }) => <Newest service={newest.get(name)} id={deployment.id} />,
    },
  ];
  const rows = deployment.services;
  return <Table caption="Services" columns={columns} rows={rows} idOf={({ name }) => name} />;
}

function Newest({ service, id }: { readonly service: Service | undefined; readonly id: string }) {
  if (!service) return <>–</>;
  if (service.deployment_id === id) return <>this one</>;
  return (
    <a href={link("deployments", service.deployment_id)}>revision {String(service.revision)}</a>
  );
}
