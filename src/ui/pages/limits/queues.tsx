import { change } from "../../data/act.ts";
import { EVERY_MS, useQuery } from "../../data/hooks.ts";
import { link, place } from "../../state/router.ts";
import { FailedReads } from "../../widgets/empty.tsx";
import { Id } from "../../widgets/id.tsx";
import { SteadyTable, useSteady } from "../../widgets/steady.tsx";
import type { Column } from "../../widgets/table.tsx";
import { blockedText } from "./blocked.ts";
import {
  type BlockedRow,
  blockedStatement,
  type QueueRow,
  queuesStatement,
  ROWS_MAX,
} from "./statements.ts";

const OFTEN = { everyMs: EVERY_MS.list };

interface Row extends QueueRow {
  readonly blocked: BlockedRow | undefined;
}

/**
 * Virtual queues with something in them, and what the first one of each waits for. The address may
 * name one: `limits?queue=vq_…`.
 */
export function Queues() {
  const id = place.value.query.get("queue");
  const queues = useQuery<QueueRow>(queuesStatement(id), OFTEN);
  const blocked = useQuery<BlockedRow>(blockedStatement(id), OFTEN);
  const rows = queues.data?.map((row): Row => ({
    ...row,
    blocked: blocked.data?.find(({ id }) => id === row.id),
  }));
  const key = queues.at === undefined ? undefined : `queues ${id}`;
  const steady = useSteady(key, rows ?? [], ({ id }) => id);
  return (
    <section aria-labelledby="queues">
      <h2 id="queues">Queues</h2>
      <FailedReads reads={[queues, blocked]} />
      {id !== null && (
        <p>
          Only <code>{id}</code>. <a href="limits">All queues</a>
        </p>
      )}
      {rows?.length === 0 && (
        <p class="quiet">
          {id === null ? "No invocation is open." : "There is no such queue now."}
        </p>
      )}
      {rows && rows.length > 0 && (
        <SteadyTable
          caption="Queues"
          columns={COLUMNS}
          steady={steady}
          idOf={({ id }) => id}
        />
      )}
      {rows?.length === ROWS_MAX && <p class="quiet">These are the {ROWS_MAX} longest.</p>}
    </section>
  );
}

const nameOf = ({ lock_name: lock, service_name: service }: QueueRow) => lock ?? service;

const COLUMNS: readonly Column<Row>[] = [
  {
    id: "name",
    title: "Service or object",
    isHeader: true,
    cell: (row) => <bdi title={row.id}>{nameOf(row)}</bdi>,
  },
  { id: "scope", title: "Scope", cell: ({ scope }) => <bdi>{scope ?? "–"}</bdi> },
  { id: "limit-key", title: "Limit key", cell: ({ limit_key: key }) => <bdi>{key ?? "–"}</bdi> },
  { id: "waiting", title: "Waiting", isNumber: true, cell: (row) => String(row.num_inbox) },
  { id: "running", title: "Running", isNumber: true, cell: (row) => String(row.num_running) },
  { id: "suspended", title: "Suspended", isNumber: true, cell: (row) => String(row.num_suspended) },
  { id: "blocked", title: "Waits for", cell: ({ blocked }) => <bdi>{blockedText(blocked)}</bdi> },
  {
    id: "head",
    title: "Next",
    cell: ({ blocked }) =>
      blocked?.head_entry_id === undefined
        ? ""
        : <Id id={blocked.head_entry_id} to={link("invocations", blocked.head_entry_id)} />,
  },
  { id: "action", title: "Action", cell: (row) => <PauseQueue row={row} /> },
];

function PauseQueue({ row }: { readonly row: Row }) {
  const verb = row.queue_is_paused ? "resume" : "pause";
  const label = row.queue_is_paused ? "Resume" : "Pause";
  const run = () =>
    void change(
      `vqueues/${encodeURIComponent(row.id)}/${verb}`,
      { method: "POST", body: {} },
      `${label}: the queue of ${nameOf(row)}`,
    );
  return (
    <button type="button" aria-label={`${label} the queue of ${nameOf(row)}`} onClick={run}>
      {label}
    </button>
  );
}
