import { toSafe } from "../storage/codec/safe_text.ts";
import type { RunningAttempt } from "../query_port.ts";
import type { Bound, QueryDatabase } from "./database.ts";
import { type GivenRows, givenTerm, MAKE_NO_ELSEWHERE, NO_ELSEWHERE } from "./given_rows.ts";

const LIVE = {
  name: "live",
  columns: ["id", "started_at", "deployment", "server", "waited_ms"],
} as const;
const MAKE = `create table main.live (id text primary key, started_at, deployment, server,
  waited_ms)`;
const INSERT = `insert or replace into main.live (${LIVE.columns.join(", ")})
  values (?1, ?2, ?3, ?4, ?5)`;

/**
 * What only this process knows: which attempts run. A table, so that views can look at it. There is no
 * other database that limits are used in.
 */
export async function fillLive(
  database: QueryDatabase,
  running: readonly RunningAttempt[],
): Promise<void> {
  await database.run(MAKE);
  await database.run(MAKE_NO_ELSEWHERE);
  await database.runAll(INSERT, running.map(liveRow));
}

/** The same where no table can be made: begins a statement, which takes `liveList` as its first value. */
export const WITH_LIVE = `with ${givenTerm(LIVE, "?1")}, ${NO_ELSEWHERE} `;

/** See `WITH_LIVE`. */
export function liveList(running: readonly RunningAttempt[]): string {
  // Safe already, so not to be spelled again.
  return JSON.stringify(running.map(liveRow));
}

/** The same for statements that are given other rows, too. */
export function givenLive(running: readonly RunningAttempt[]): GivenRows {
  return { ...LIVE, rows: liveList(running) };
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
