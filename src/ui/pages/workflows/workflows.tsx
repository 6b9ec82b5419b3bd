import { type Service, useServices } from "../../data/catalog.ts";
import { EVERY_MS, useQuery } from "../../data/hooks.ts";
import { keyedLinkOf } from "../../data/objects.ts";
import { go, link, place, setQuery } from "../../state/router.ts";
import { durationText } from "../../widgets/duration.ts";
import { Empty, Failed } from "../../widgets/empty.tsx";
import { FilterLine } from "../../widgets/filter_line.tsx";
import { Id } from "../../widgets/id.tsx";
import { Page } from "../../widgets/page.tsx";
import { StatusBadge, statusOf } from "../../widgets/status.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import { Ago } from "../../widgets/time.tsx";
import { SEARCHED_MAX } from "../keyed/statements.ts";
import { FIELDS, type RunRow, RUNS_MAX, runsOf } from "./list.ts";

/** All runs of workflows, the newest first. */
export default function Workflows() {
  const services = useServices();
  const workflows = services.data?.services.filter(({ ty }) => ty === "Workflow");
  return (
    <Page title="Workflows">
      {services.error && <Failed error={services.error} onRetry={services.refresh} />}
      {workflows && (workflows.length === 0
        ? (
          <Empty title="No workflow is registered.">
            <a href={link("deployments")}>Register a deployment that has one</a>
          </Empty>
        )
        : <Runs workflows={workflows} />)}
    </Page>
  );
}

function Runs({ workflows }: { readonly workflows: readonly Service[] }) {
  const text = place.value.query.get("filter") ?? "";
  const runs = useQuery<RunRow>(runsOf(text, workflows), { everyMs: EVERY_MS.list });
  const names = workflows.map(({ name }) => name);
  const fields = FIELDS.map((field) =>
    field.name === "service" ? { ...field, values: names } : field
  );
  const searched = SEARCHED_MAX.toLocaleString("en");
  return (
    <>
      <FilterLine
        label="Filter workflows"
        fields={fields}
        text={text}
        onChange={(filter) => setQuery({ filter })}
      />
      {runs.error && <Failed error={runs.error} onRetry={runs.refresh} />}
      {runs.data && (runs.data.length === 0 ? <Nothing isFiltered={text !== ""} /> : (
        <Table
          caption="Runs"
          columns={COLUMNS}
          rows={runs.data}
          idOf={({ id }) => id}
          onOpen={(row) => go(linkOf(row))}
        />
      ))}
      <p class="quiet">
        Up to {RUNS_MAX} runs, of the newest {searched} invocations of all services.
      </p>
    </>
  );
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  if (!isFiltered) {
    return <Empty title="No workflow has run. Call the handler of one: it is shown then." />;
  }
  return (
    <Empty title="No run matches the filter.">
      <button type="button" onClick={() => setQuery({ filter: undefined })}>
        Remove the filter
      </button>
    </Empty>
  );
}

const linkOf = ({ service, key, scope }: RunRow) =>
  keyedLinkOf("workflows", service, { key, scope });

const COLUMNS: readonly Column<RunRow>[] = [
  { id: "service", title: "Workflow", cell: ({ service }) => <bdi>{service}</bdi> },
  {
    id: "key",
    title: "Id",
    isHeader: true,
    cell: (row) => (
      <a href={linkOf(row)} class="key">
        <bdi>{row.key === "" ? "(empty id)" : row.key}</bdi>
      </a>
    ),
  },
  { id: "scope", title: "Scope", cell: ({ scope }) => <bdi>{scope ?? ""}</bdi> },
  { id: "status", title: "Status", cell: (row) => <StatusBadge status={statusOf(row)} /> },
  { id: "created", title: "Accepted", cell: ({ created_at: at }) => <Ago at={at} /> },
  {
    id: "took",
    title: "Took",
    isNumber: true,
    cell: ({ created_at: from, completed_at: to }) =>
      to === undefined ? "–" : durationText(Date.parse(to) - Date.parse(from)),
  },
  {
    id: "id",
    title: "Invocation",
    cell: ({ id }) => <Id id={id} to={link("invocations", id)} />,
  },
];
