import type { Handler, Service } from "../../data/catalog.ts";
import { link, linkWith } from "../../state/router.ts";
import { FailedReads } from "../../widgets/empty.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import { figureColumns, type Figures, figuresOf } from "./figures.tsx";
import { useOpen, usePace } from "./statements.ts";

type Row = Handler & Figures;

/** The handlers of a service with their live figures. */
export function Handlers({ service }: { readonly service: Service }) {
  const { name } = service;
  const [open, pace] = [useOpen(name), usePace(name)];
  const rows = service.handlers.map((one): Row => ({
    ...one,
    ...figuresOf(one.name, open.data ?? [], pace.data ?? []),
  }));
  return (
    <section aria-labelledby="handlers">
      <h2 id="handlers">Handlers</h2>
      <FailedReads reads={[open, pace]} />
      <Table
        caption="Handlers"
        columns={columnsFor(service)}
        rows={rows}
        idOf={(row) => row.name}
      />
    </section>
  );
}

function columnsFor(service: Service): readonly Column<Row>[] {
  return [
    {
      id: "name",
      title: "Handler",
      isHeader: true,
      cell: (row) => <Name service={service} handler={row} />,
    },
    { id: "ty", title: "Type", cell: ({ ty }) => ty?.toLowerCase() ?? "–" },
    ...figureColumns<Row>(({ name }) => ({ service: service.name, handler: name })),
    { id: "input", title: "Input", cell: (row) => <bdi>{row.input_description}</bdi> },
    { id: "output", title: "Output", cell: (row) => <bdi>{row.output_description}</bdi> },
    { id: "public", title: "Access", cell: (row) => row.public ? "public" : "private" },
    { id: "options", title: "Own options", cell: ownOptions },
  ];
}

function Name({ service, handler: { name } }: {
  readonly service: Service;
  readonly handler: Handler;
}) {
  return (
    <a
      href={linkWith(link("services", service.name), { call: name })}
      title={`Call ${name} in the playground`}
    >
      <Icon name="play" />
      <bdi class="name">{name}</bdi>
    </a>
  );
}

const OWN = {
  idempotency_retention: "results",
  journal_retention: "journals",
  inactivity_timeout: "inactivity",
  abort_timeout: "abort",
  concurrency: "at once",
} as const;

/** What a handler sets itself, beside its service. */
function ownOptions(handler: Handler): string {
  const { retry_policy: retry, rate, enable_lazy_state: isLazy } = handler;
  const own = Object.entries(OWN).flatMap(([name, title]) => {
    const value = handler[name as keyof typeof OWN];
    return value === undefined ? [] : [`${title} ${value}`];
  });
  if (retry?.max_attempts != null) own.push(`attempts ${retry.max_attempts}`);
  if (rate) own.push(`rate ${rate.count}/${rate.period}`);
  if (isLazy !== undefined) own.push(isLazy ? "lazy state" : "eager state");
  return own.join(", ") || "–";
}
