import { toSafe } from "../storage/codec/safe_text.ts";
import type { RunningAttempt } from "../query_port.ts";
import type { Bound, QueryDatabase } from "./database.ts";

const COLUMNS = "id, started_at, deployment, server, waited_ms";
const MAKE = `create table main.live (id text primary key, started_at, deployment, server,
  waited_ms)`;
const INSERT = `insert or replace into main.live (${COLUMNS}) values (?1, ?2, ?3, ?4, ?5)`;

/** What only this process knows: which attempts run. A table, so that views can look at it. */
export async function fillLive(
  database: QueryDatabase,
  running: readonly RunningAttempt[],
): Promise<void> {
  await database.run(MAKE);
  await database.runAll(INSERT, running.map(liveRow));
}

/** The same where no table can be made: begins a statement, which takes `liveList` as its first value. */
export const WITH_LIVE = `with live(${COLUMNS}) as materialized
  (select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 from json_each(?1)) `;

/** See `WITH_LIVE`. */
export function liveList(running: readonly RunningAttempt[]): string {
  // Safe already, so not to be spelled again.
  return JSON.stringify(running.map(liveRow));
}

function liveRow({ id, startedAt, deployment, server, waitedMs }: RunningAttempt): Bound[] {
  return [
    toSafe(id),
    startedAt,
    toSafe(deployment),
    server === undefined ? null : toSafe(server),
    waitedMs ?? null,
  ];
}
