import { link } from "../state/router.ts";
import { durationText } from "./duration.ts";
import { Id } from "./id.tsx";
import { StatusBadge, type StatusColumns, statusOf } from "./status.tsx";
import type { Column } from "./table.tsx";
import { Ago } from "./time.tsx";

/** The name of a service, which heads its row and leads to its page. */
export function serviceColumn<Row extends { readonly name: string }>(): Column<Row> {
  return {
    id: "name",
    title: "Service",
    isHeader: true,
    cell: ({ name }) => (
      <a href={link("services", name)}>
        <bdi class="name">{name}</bdi>
      </a>
    ),
  };
}

/** What every list of invocations has of each. */
export interface InvocationColumns extends StatusColumns {
  readonly id: string;
  readonly created_at: string;
  readonly completed_at?: string;
}

/** An id that leads to the page of the invocation. */
export function invocationColumn<Row extends { readonly id: string }>(): Column<Row> {
  return {
    id: "id",
    title: "Invocation",
    cell: ({ id }) => <Id id={id} to={link("invocations", id)} />,
  };
}

/** Where an invocation stands, when it was accepted, and how long it took. */
export function progressColumns<Row extends InvocationColumns>(): readonly Column<Row>[] {
  return [
    { id: "status", title: "Status", cell: (row) => <StatusBadge status={statusOf(row)} /> },
    { id: "created", title: "Accepted", cell: ({ created_at: at }) => <Ago at={at} /> },
    {
      id: "took",
      title: "Took",
      isNumber: true,
      cell: ({ created_at: from, completed_at: to }) =>
        to === undefined ? "–" : durationText(Date.parse(to) - Date.parse(from)),
    },
  ];
}
