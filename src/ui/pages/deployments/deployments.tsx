import { useState } from "preact/hooks";
import {
  addressOf,
  protocolOf,
  transportOf,
  useDeployments,
  useServices,
} from "../../data/catalog.ts";
import { go, link, place, setQuery } from "../../state/router.ts";
import { Empty, FailedReads } from "../../widgets/empty.tsx";
import { Page } from "../../widgets/page.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import { Ago } from "../../widgets/time.tsx";
import { PruneDialog } from "./actions.tsx";
import { RegisterDialog } from "./register.tsx";
import { DeploymentState, isDrained, type Row, rowsOf } from "./state.tsx";
import { usePinned } from "./statements.ts";

/** Names of services that a row shows. */
const SERVICES_MAX = 4;

/** All deployments, what uses them, and the registration of another one. */
export default function Deployments() {
  const [isPruning, prune] = useState(false);
  const [list, catalog, pinned] = [useDeployments(), useServices(), usePinned()];
  const services = catalog.data?.services ?? [];
  const deployments = list.data?.deployments ?? [];
  const rows = rowsOf(deployments, services, pinned.data ?? []);
  const isKnown = list.data && catalog.data && pinned.data;
  const drained = isKnown ? rows.filter(isDrained) : [];
  const register = place.value.query.get("register");
  const close = () => setQuery({ register: undefined });
  return (
    <Page
      title="Deployments"
      actions={
        <Actions
          {...{ drained }}
          onPrune={() => prune(true)}
        />
      }
    >
      <FailedReads reads={[list, catalog, pinned]} />
      {list.data && (rows.length === 0 ? <Nothing /> : <List rows={rows} />)}
      {register !== null && list.data && catalog.data && (
        <RegisterDialog
          {...{ services, deployments }}
          uri={URL.canParse(register) ? register : ""}
          onClose={close}
        />
      )}
      {isPruning && <PruneDialog rows={drained} onClose={() => prune(false)} />}
    </Page>
  );
}

function Actions({ drained, onPrune }: {
  readonly drained: readonly Row[];
  readonly onPrune: () => void;
}) {
  return (
    <>
      {drained.length > 0 && (
        <button type="button" onClick={onPrune}>Delete {drained.length} drained…</button>
      )}
      <button type="button" class="primary" onClick={() => setQuery({ register: "yes" })}>
        Register…
      </button>
    </>
  );
}

function Nothing() {
  return (
    <Empty title="No deployment is registered. Start an endpoint, and register its address.">
      <button type="button" onClick={() => setQuery({ register: "http://localhost:9080" })}>
        Register http://localhost:9080
      </button>
    </Empty>
  );
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: "address",
    title: "Address",
    isHeader: true,
    cell: (row) => <a href={link("deployments", row.id)} title={row.id}>{addressOf(row)}</a>,
  },
  { id: "state", title: "State", cell: (row) => <DeploymentState row={row} /> },
  { id: "pinned", title: "Pinned", isNumber: true, cell: ({ pinned }) => String(pinned) },
  { id: "running", title: "Running", isNumber: true, cell: ({ running }) => String(running) },
  { id: "services", title: "Services", cell: (row) => <Services row={row} /> },
  { id: "transport", title: "Transport", cell: transportOf },
  { id: "protocol", title: "Protocol", cell: protocolOf },
  { id: "sdk", title: "SDK", cell: ({ sdk_version: sdk }) => <bdi>{sdk ?? "–"}</bdi> },
  { id: "created", title: "Created", cell: ({ created_at: at }) => <Ago at={at} /> },
];

/** The services with their revisions, the first few of them. */
function Services({ row: { services } }: { readonly row: Row }) {
  const rest = services.length - SERVICES_MAX;
  return (
    <>
      {services.slice(0, SERVICES_MAX).map(({ name, revision }, at) => (
        <span key={name}>
          {at > 0 && ", "}
          <bdi class="name">{name}</bdi> <small>rev {String(revision)}</small>
        </span>
      ))}
      {rest > 0 && <small>, and {rest} more</small>}
    </>
  );
}

function List({ rows }: { readonly rows: readonly Row[] }) {
  return (
    <Table
      caption="Deployments"
      columns={COLUMNS}
      rows={rows}
      idOf={({ id }) => id}
      onOpen={({ id }) => go(link("deployments", id))}
    />
  );
}
