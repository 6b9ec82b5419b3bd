import { toSafe } from "../storage/safe_text.ts";
import type { RunningAttempt } from "../ports.ts";
import type { QueryDatabase } from "./database.ts";

const MAKE = `create table main.live (id text primary key, started_at, deployment, server)`;
const INSERT = `insert or replace into main.live (id, started_at, deployment, server)
  values (?1, ?2, ?3, ?4)`;

/** What only this process knows: which attempts run. A table, so that views can look at it. */
export async function fillLive(
  database: QueryDatabase,
  running: readonly RunningAttempt[],
): Promise<void> {
  await database.run(MAKE);
  const rows = running.map(({ id, startedAt, deployment, server }) => [
    toSafe(id),
    startedAt,
    toSafe(deployment),
    server === undefined ? null : toSafe(server),
  ]);
  await database.runAll(INSERT, rows);
}
