import { EVERY_MS, useQuery } from "../../data/hooks.ts";
import { type Invocation, invocationColumns, waitingOf } from "../../data/invocations.ts";
import type { Int } from "../../data/json.ts";
import { sql } from "../../data/sql.ts";
import { link } from "../../state/router.ts";
import { Id } from "../../widgets/id.tsx";
import { LongText } from "../../widgets/json_tree.tsx";
import { Reason } from "../../widgets/reason.tsx";
import { StatusBadge, statusOf } from "../../widgets/status.tsx";
import { Ago } from "../../widgets/time.tsx";
import { lastEntriesOf } from "./statements.ts";

interface Entry {
  readonly index: Int;
  readonly entry_type: string;
  readonly name?: string;
  readonly appended_at?: string;
}

/** A glance at an invocation, beside the list. */
export function Peek({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const statement = sql`SELECT ${invocationColumns()} FROM sys_invocation WHERE id = ${id}`;
  const { data } = useQuery<Invocation>(statement, { everyMs: EVERY_MS.list });
  const { data: entries } = useQuery<Entry>(lastEntriesOf(id), { everyMs: EVERY_MS.list });
  const row = data?.find((one) => one.id === id);
  return (
    <aside class="peek" aria-label="Selected invocation">
      <div class="actions">
        <Id id={id} to={link("invocations", id)} />
        <button type="button" onClick={onClose}>Close</button>
      </div>
      {row && <Facts row={row} />}
      <h2>Last entries</h2>
      <ol class="peek-entries">
        {entries?.map(({ index, entry_type, name, appended_at: at }) => (
          <li key={index}>
            <span class="index">{index}</span>{" "}
            <code>{entry_type.replace("Command: ", "").replace("Notification: ", "→ ")}</code>{" "}
            <bdi>{name ?? ""}</bdi>{" "}
            <small>
              <Ago at={at} />
            </small>
          </li>
        ))}
      </ol>
      {entries?.length === 0 && <p class="quiet">Its journal is empty, or no longer kept.</p>}
    </aside>
  );
}

function Facts({ row }: { readonly row: Invocation }) {
  const failure = row.completion_failure ?? row.last_failure;
  const waiting = waitingOf(row);
  return (
    <>
      <p>
        <StatusBadge status={statusOf(row)} /> <bdi>{row.target}</bdi>
      </p>
      {waiting !== undefined && (
        <p>
          <Reason text={waiting} />
        </p>
      )}
      {failure !== undefined && (
        <p class="failure">
          <LongText text={failure} />
        </p>
      )}
      <dl class="facts">
        <dt>Accepted</dt>
        <dd>
          <Ago at={row.created_at} />
        </dd>
        <dt>Changed</dt>
        <dd>
          <Ago at={row.modified_at} />
        </dd>
      </dl>
    </>
  );
}
