import type { Service } from "../../data/catalog.ts";
import { EVERY_MS, useQuery } from "../../data/hooks.ts";
import { keyedLinkOf } from "../../data/objects.ts";
import { go } from "../../state/router.ts";
import { invocationColumn, progressColumns } from "../../widgets/columns.tsx";
import { Failed } from "../../widgets/empty.tsx";
import { SteadyTable, useSteady } from "../../widgets/steady.tsx";
import type { Column } from "../../widgets/table.tsx";
import {
  filterText,
  keyedColumns,
  KeyedFilter,
  KeyedListPage,
  Nothing,
} from "../keyed/list_page.tsx";
import { SEARCHED_MAX } from "../keyed/statements.ts";
import { FIELDS, type RunRow, RUNS_MAX, runsOf } from "./list.ts";

/** All runs of workflows, the newest first. */
export default function Workflows() {
  return (
    <KeyedListPage title="Workflows" ty="Workflow" kind="workflow">
      {(workflows) => <Runs workflows={workflows} />}
    </KeyedListPage>
  );
}

const UNUSED = "No workflow has run. Call the handler of one: it is shown then.";

function Runs({ workflows }: { readonly workflows: readonly Service[] }) {
  const statement = runsOf(filterText(), workflows);
  const runs = useQuery<RunRow>(statement, { everyMs: EVERY_MS.list });
  const steady = useSteady(
    runs.at === undefined ? undefined : statement.text,
    runs.data ?? [],
    ({ id }) => id,
  );
  const searched = SEARCHED_MAX.toLocaleString("en");
  return (
    <>
      <KeyedFilter
        label="Filter workflows"
        fields={FIELDS}
        names={workflows.map(({ name }) => name)}
      />
      {runs.error && <Failed error={runs.error} onRetry={runs.refresh} />}
      {runs.data && (runs.data.length === 0
        ? (
          <Nothing
            {...{ kind: "run", unused: UNUSED, fields: FIELDS }}
            foundBy={(rest) => runsOf(rest, workflows)}
          />
        )
        : (
          <SteadyTable
            caption="Runs"
            columns={COLUMNS}
            steady={steady}
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

const linkOf = ({ service, key, scope }: RunRow) =>
  keyedLinkOf("workflows", service, { key, scope });

const COLUMNS: readonly Column<RunRow>[] = [
  ...keyedColumns({ service: "Workflow", key: "Id" }, linkOf),
  ...progressColumns<RunRow>(),
  invocationColumn(),
];
