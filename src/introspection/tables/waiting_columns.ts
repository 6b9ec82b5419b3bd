import { PRIORITY_DEFAULT } from "../../model/queue.ts";
import { QUEUE_PLACE } from "./queue_place.ts";
import { body, NOW, type TableColumn } from "./table.ts";

// `t` is a stored invocation: see `invocation_tables.ts`.

/** The causes of waiting, as `WaitedMs` of the model has them. */
export type WaitCause = "lock" | "concurrency" | "rate" | "paused";

/** Milliseconds that the invocation `t` has waited for one cause, its present wait included, as SQL. */
export function waitedMs(cause: WaitCause): string {
  const present = cause === "lock"
    ? `when t.status = 'inboxed' then max(0, ${NOW} - ${body("inboxedAt")})`
    : `when t.status = 'queued' and ${body("status.by")} = '${cause}'
      then max(0, ${NOW} - ${body("status.since")})`;
  return `(coalesce(${body(`waitedMs.${cause}`)}, 0) + case ${present} else 0 end)`;
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
];
