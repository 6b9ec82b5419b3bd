import { expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import { queueNameOf } from "../../src/engine/flow/queue.ts";
import type { InvocationRow } from "../../src/model/invocation.ts";
import type { Write } from "../../src/model/rows.ts";
import { Schema } from "../../src/model/schema.ts";
import { WINDOW } from "../../src/partition/flow/wait_queue.ts";
import type { AttemptRunner } from "../../src/partition/life.ts";
import type { Mailbox } from "../../src/ports.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { parse } from "../engine/_script.ts";
import { until } from "../support/child.ts";
import { controlsOf } from "../support/controls.ts";
import { invocationRow } from "../support/rows.ts";
import { deployment, schema as plain, targetOf } from "../support/schema.ts";
import { hostWith } from "./_host.ts";

const MANY = 100_000;
const COMMIT_ROWS = 5_000;
/** Starts that are observed: several windows of a queue. */
const STARTS = 4 * WINDOW;
const RESIDENT_BYTES = 200_000;
/** Rows are in memory above the limit until their commit is durable. */
const RESIDENT_BYTES_MOST = 5 * RESIDENT_BYTES;

const controls = controlsOf({ rules: { blue: { concurrency: 1 } } });
const schema = new Schema([deployment], plain.defaults, controls);

function waiting(limitKey: string, seq: number): Write {
  const id = `inv_1${limitKey}${String(seq).padStart(6, "0")}`;
  const row: InvocationRow = {
    ...invocationRow({ id, target: targetOf("blue:greeter/hi") }),
    ...{ limitKey, journal: 0, commands: 0, runningAt: undefined },
  };
  const queue = queueNameOf(row, schema);
  const status = { kind: "queued", queue, seq, since: 1, by: "concurrency" } as const;
  return { table: "invocation", row: { ...row, status }, drop: false };
}

/** Attempts that fail at once, for good. `started`: is given the ids of their invocations. */
function failing(started: (id: string) => void): (send: Mailbox) => AttemptRunner {
  return (send) => ({
    start: ({ invocation: { id }, attempt }) => {
      started(id);
      send(parse(["end", `${id}#${attempt}`, "failed!fail"]));
    },
    notify: () => {},
    abort: () => {},
    yield: () => {},
    close: () => {},
  });
}

test("a queue of 100,000 does not starve one of three, nor is it in memory", async () => {
  const client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  const store = new SqlStore(client), lease = await store.claim(0);
  for (let seq = 0; seq < MANY; seq += COMMIT_ROWS) {
    const rows = Array.from({ length: COMMIT_ROWS }, (_, i) => waiting("many", seq + i));
    await store.commit(lease, rows);
  }
  const few = [0, 1, 2].map((i) => waiting("few", MANY + i));
  await store.commit(lease, few);
  await store.flush(lease);
  const order: string[] = [];
  let entries = 0, bytes = 0;
  const host = hostWith({
    store,
    schema: () => schema,
    residentBytesMax: RESIDENT_BYTES,
    attempts: failing((id) => {
      order.push(id);
      entries = Math.max(entries, host.scheduler?.entries ?? 0);
      bytes = Math.max(bytes, host.gauges()?.residentBytes ?? 0);
      if (order.length === STARTS) host.close();
    }),
  });
  await host.open();
  await until(`${STARTS} to start`, () => order.length >= STARTS, 60_000);
  const places = few.map(({ row }) => order.indexOf((row as InvocationRow).id));
  // The two queues take turns.
  expect(places.every((place) => place >= 0 && place < 6)).toBe(true);
  expect(new Set(order).size).toBe(STARTS);
  expect(order.filter((id) => id.includes("many")).slice(0, 3)).toEqual(
    [0, 1, 2].map((seq) => (waiting("many", seq).row as InvocationRow).id),
  );
  expect(entries).toBeLessThanOrEqual(2 * (WINDOW + WINDOW / 4));
  expect(bytes).toBeLessThan(RESIDENT_BYTES_MOST);
  await store.close();
  await client.close();
}, 180_000);
