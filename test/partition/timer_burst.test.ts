import { expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import type { Write } from "../../src/model/rows.ts";
import { until } from "../support/child.ts";
import { invocationRow } from "../support/rows.ts";
import { hostWith, idleAttempts } from "./_host.ts";

const MANY = 20_000;
const COMMIT_ROWS = 5_000;
/** Starts before a request is answered that came when all were due: some turns. */
const FEW = 3_000;

/** A delayed send that is due. */
function due(number: number): Write[] {
  const id = `inv_1${String(number).padStart(6, "0")}`;
  const row = invocationRow({ id, status: { kind: "scheduled", at: 1 }, journal: 0, commands: 0 });
  const timer = { id, due: 1, kind: "start", index: 0 } as const;
  return [
    { table: "invocation", row, drop: false },
    { table: "timer", row: timer, drop: false },
  ];
}

test("a request does not wait for 20,000 timers that are due, and all of them fire", async () => {
  const client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  const store = new SqlStore(client), lease = await store.claim(0);
  for (let number = 0; number < MANY; number += COMMIT_ROWS) {
    const rows = Array.from({ length: COMMIT_ROWS }, (_, i) => due(number + i));
    await store.commit(lease, rows.flat());
  }
  await store.flush(lease);
  const started: string[] = [];
  const host = hostWith({ store, timersMax: 100_000, attempts: idleAttempts(started) });
  await host.open();
  // By then the first of them have fired.
  await until("the first starts", () => started.length > 0, 60_000);
  const before = started.length;
  await host.partitionClient.operate("inv_1none", { kind: "cancel" });
  expect(started.length - before).toBeLessThan(FEW);
  await until("all starts", () => new Set(started).size === MANY, 60_000);
  host.close();
  await store.close();
  await client.close();
}, 120_000);
