import { PRIORITY_DEFAULT } from "../../model/queue.ts";
import { QUEUE_PLACE } from "./queue_place.ts";
import { isRunning } from "./shown_status.ts";
import { body, NOW, type TableColumn } from "./table.ts";

// `t` is a stored invocation: see `invocation_tables.ts`.

/** The causes of waiting, as `WaitedMs` of the model has them. */
export const WAIT_CAUSES = ["lock", "concurrency", "rate", "paused", "invoker"] as const;
export type WaitCause = typeof WAIT_CAUSES[number];

/** When an attempt that waits for a slot began to: its first one at `runningAt`, later ones not after. */
const READY_AT = `iif(${body("attempt")} = 1, ${body("runningAt")}, t.modified_at)`;

/** Milliseconds that the attempt of `t` has waited for a slot, or did before it began. Null: there is none. */
export const SLOT_WAIT_MS = `case when t.status = 'invoked' then iif(${isRunning},
  coalesce((select l.waited_ms from live as l where l.id = t.id), 0), max(0, ${NOW} - ${READY_AT})) end`;

/** Milliseconds that the invocation `t` has waited for one cause, its present wait included, as SQL. */
export function waitedMs(cause: WaitCause): string {
  const past = `coalesce(${body(`waitedMs.${cause}`)}, 0)`;
  // The engine adds the wait of an attempt with the first event of it.
  if (cause === "invoker") {
    return `(${past} + iif(${body("heard")} = 0, ifnull(${SLOT_WAIT_MS}, 0), 0))`;
  }
  const present = cause === "lock"
    ? `when t.status = 'inboxed' then max(0, ${NOW} - ${body("inboxedAt")})`
    : `when t.status = 'queued' and ${body("status.by")} = '${cause}'
      then max(0, ${NOW} - ${body("status.since")})`;
  return `(${past} + case ${present} else 0 end)`;
}

const waited = (name: string, cause: WaitCause): TableColumn => ({
  name,
  type: "dur",
  sql: waitedMs(cause),
});

/**
 * What the reference does not have: columns about waiting, behind all of its columns
 * (docs/spec/queries.md#waiting).
 */
export const waitingColumns: readonly TableColumn[] = [
  { name: "priority", type: "u32", sql: `coalesce(${body("priority")}, ${PRIORITY_DEFAULT})` },
  { name: "queue_position", type: "u64", sql: QUEUE_PLACE },
  waited("waited_for_lock", "lock"),
  waited("waited_for_concurrency", "concurrency"),
  waited("waited_for_rate", "rate"),
  waited("waited_for_pause", "paused"),
  waited("waited_for_invoker", "invoker"),
];
