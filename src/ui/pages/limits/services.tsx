import { useState } from "preact/hooks";
import { change } from "../../data/act.ts";
import { type Handler, type Service, useServices } from "../../data/catalog.ts";
import { api } from "../../data/client.ts";
import { link } from "../../state/router.ts";
import { Failed } from "../../widgets/empty.tsx";
import { FormDialog } from "../../widgets/form_dialog.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import { LimitFields, limitsBody, rateText, typedOf } from "./limit_fields.tsx";

/** A service, or one of its handlers, that can be limited. */
interface Row {
  readonly service: Service;
  /** Absent: the service itself. */
  readonly handler?: Handler;
}

const nameOf = ({ service, handler }: Row) =>
  handler ? `${service.name}/${handler.name}` : service.name;
const limitsOf = ({ service, handler }: Row) => handler ?? service;
const pathOf = ({ service, handler }: Row) => {
  const path = `services/${encodeURIComponent(service.name)}`;
  return handler ? `${path}/handlers/${encodeURIComponent(handler.name)}` : path;
};

/** All services, and those of their handlers that have limits. */
function rowsOf(services: readonly Service[]): readonly Row[] {
  const sorted = services.toSorted((a, b) => a.name.localeCompare(b.name));
  return sorted.flatMap((service) => [
    { service },
    ...service.handlers.filter(({ concurrency, rate }) => concurrency != null || rate)
      .map((handler) => ({ service, handler })),
  ]);
}

/** Limits and pauses of services and handlers, which need no scopes. */
export function ServiceLimits() {
  const services = useServices();
  const [editing, edit] = useState<Row>();
  return (
    <section aria-labelledby="service-limits">
      <h2 id="service-limits">Services and handlers</h2>
      {services.error && <Failed error={services.error} onRetry={services.refresh} />}
      {services.data && (
        <Table
          caption="Limits of services and handlers"
          columns={columnsOf(edit)}
          rows={rowsOf(services.data.services)}
          idOf={nameOf}
        />
      )}
      {editing && <LimitDialog row={editing} onClose={() => edit(undefined)} />}
    </section>
  );
}

function columnsOf(edit: (row: Row) => void): readonly Column<Row>[] {
  return [
    {
      id: "name",
      title: "Name",
      isHeader: true,
      cell: (row) => (
        <a href={link("services", row.service.name)}>
          <bdi>{nameOf(row)}</bdi>
        </a>
      ),
    },
    {
      id: "at-once",
      title: "At once",
      isNumber: true,
      cell: (row) => limitsOf(row).concurrency ?? "any",
    },
    {
      id: "rate",
      title: "Starts",
      cell: (row) => {
        const { rate } = limitsOf(row);
        return rate ? rateText(rate) : "any";
      },
    },
    {
      id: "paused",
      title: "Effect",
      cell: ({ service, handler }) => handler ? "" : service.paused ? "paused" : "starts",
    },
    { id: "actions", title: "Actions", cell: (row) => <Actions row={row} edit={edit} /> },
  ];
}

function Actions({ row, edit }: { readonly row: Row; readonly edit: (row: Row) => void }) {
  const { paused = false, name } = row.service;
  const label = paused ? "Resume" : "Pause";
  const body = { paused: !paused };
  return (
    <>
      <button type="button" aria-label={`Limit ${nameOf(row)}`} onClick={() => edit(row)}>
        Limit…
      </button>{" "}
      {!row.handler && (
        <button
          type="button"
          aria-label={`${label} ${name}`}
          onClick={() => void change(pathOf(row), { method: "PATCH", body }, `${label}: ${name}`)}
        >
          {label}
        </button>
      )}
    </>
  );
}

/** Limits of a service, or of any of its handlers. */
function LimitDialog({ row, onClose }: { readonly row: Row; readonly onClose: () => void }) {
  const [shown, show] = useState(row);
  const [limits, limit] = useState(typedOf(limitsOf(row)));
  const { service } = row;
  const choose = (name: string) => {
    const handler = service.handlers.find((one) => one.name === name);
    const next = handler ? { service, handler } : { service };
    show(next);
    limit(typedOf(limitsOf(next)));
  };
  return (
    <FormDialog
      title={`Limit ${service.name}`}
      action="Save"
      onSend={() => api(pathOf(shown), { method: "PATCH", body: limitsBody(limits) })}
      onClose={onClose}
    >
      <label>
        Of
        <select
          value={shown.handler?.name ?? ""}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
        >
          <option value="">the whole service</option>
          {service.handlers.map(({ name }) => (
            <option key={name} value={name}>{`the handler ${name}`}</option>
          ))}
        </select>
      </label>
      <LimitFields limits={limits} onChange={limit} />
    </FormDialog>
  );
}
