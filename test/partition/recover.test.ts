import { expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import { TOKEN } from "../../src/engine/flow/bucket.ts";
import { NO_CONTROLS } from "../../src/model/limits.ts";
import { Schema } from "../../src/model/schema.ts";
import { logCorrected, logDamagedHolder } from "../../src/partition/flow/disagreements.ts";
import { recover } from "../../src/partition/flow/recover.ts";
import { Meter } from "../../src/observe/meter.ts";
import type { Log } from "../../src/ports.ts";
import type { DamagedHolder } from "../../src/scan.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { controlsOf } from "../support/controls.ts";
import { invocationRow } from "../support/rows.ts";
import { deployment, schema, targetOf } from "../support/schema.ts";
import { Desk } from "./_desk.ts";

const GIVEN = { rules: { blue: { rate: { count: 1, periodMs: 10_000 } } } };

/** Boots with one invocation that waits for a token of a bucket that has so many. */
async function boot(tokens: number): Promise<Desk> {
  const desk = new Desk(GIVEN), waiting = { path: "blue:greeter/hi" };
  const store = new MemoryStore(), lease = await store.claim(0);
  const status = {
    kind: "queued",
    queue: desk.nameOf(waiting),
    seq: 7,
    since: desk.now,
    by: "rate",
  } as const;
  const row = invocationRow({ id: "i1", target: targetOf(waiting.path), status });
  const bucket = { counter: "scope:blue", tokens, at: desk.now, fullAt: desk.now + 10_000 };
  await store.commit(lease, [
    { table: "invocation", row, drop: false },
    { table: "bucket", row: bucket, drop: false },
  ]);
  const { controls } = new Schema([deployment], schema.defaults, controlsOf(GIVEN));
  const onDamaged = () => expect.unreachable("No row is damaged");
  expect(await recover(desk, { store, lease, controls, onDamaged })).toEqual([]);
  desk.scheduler.open();
  return desk;
}

test("a boot knows which token buckets are empty, and grants nothing in vain", async () => {
  const desk = await boot(0);
  expect(desk.grants).toEqual([]);
  expect(desk.scheduler.nextSeq).toBe(8);
});

test("a boot grants what its token buckets allow", async () => {
  expect((await boot(TOKEN)).grants).toMatchObject([{ id: "i1", seq: 7 }]);
});

test("a boot counts what rows say, and reports each that an index has under another status", async () => {
  const client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  const store = new SqlStore(client), lease = await store.claim(0), desk = new Desk({});
  const target = targetOf("blue:greeter/hi");
  const ids = ["i1", "i2", "i3", "i4"];
  const writes = ids.map((id) => ({
    table: "invocation" as const,
    row: invocationRow({ id, target, status: { kind: "invoked" } }),
    drop: false,
  }));
  await store.commit(lease, writes);
  await store.flush(lease);
  const said = (status: string) => `replace(body, '"invoked"', '"${status}"')`;
  for (
    const sql of [
      `update invocation set body = ${said("paused")} where id = 'i2'`,
      "update invocation set body = replace(body, 'greeter', cast(x'96' as text)) where id = 'i3'",
      "update invocation set body = (select body from invocation where id = 'i1') where id = 'i4'",
    ]
  ) await client.batch("write", [{ sql, args: [] }]);
  const damaged: DamagedHolder[] = [];
  const onDamaged = (one: DamagedHolder) => void damaged.push(one);
  expect(await recover(desk, { store, lease, controls: NO_CONTROLS, onDamaged })).toEqual(["i1"]);
  expect(desk.scheduler.counts().get("scope:blue")?.used).toBe(1);
  expect(damaged).toEqual([
    {
      id: "i2",
      damage: 'its column "status" is "invoked", and its content says "paused"',
      counted: { target, limitKey: undefined },
    },
    { id: "i3", damage: "its row cannot be decoded" },
    { id: "i4", damage: "its row has the content of another one" },
  ]);
  for (const group of ["i2", "i3", "i4"]) {
    await expect(store.load(lease, [{ table: "invocation", group }]))
      .rejects.toMatchObject({ name: "Unreadable", group });
  }
  await client.close();
});

test("what is not counted is logged with its counters and the rules that limit them", () => {
  const meter = new Meter();
  const lines: unknown[] = [];
  const log: Log = (...line) => void lines.push(line);
  const counted = { target: targetOf("blue:greeter/hi"), limitKey: "a/b" };
  const { rules } = controlsOf({ rules: { "*": { concurrency: 1 }, "blue/*/b": {} } });
  const damaged = { id: "inv_1", damage: "it is damaged", counted };
  logDamagedHolder(damaged, { ...NO_CONTROLS, rules }, { log, meter, partition: 3 });
  expect(lines).toEqual([[
    "error",
    'Invocation "inv_1" is counted nowhere: it is damaged; "perdure verify" lists all damaged rows',
    {
      code: "RT0028",
      partition: 3,
      counters: "handler:greeter/hi service:greeter scope:blue/a/b scope:blue/a scope:blue",
      rules: "blue/*/b *",
    },
  ]]);
  expect(meter.disagreements).toEqual({ invocation: 1, bank: 0 });
});

test("a bank that was corrected is logged and counted", () => {
  const meter = new Meter(), lines: unknown[] = [];
  const log: Log = (...line) => void lines.push(line);
  logCorrected({ counter: "service:a", given: 3, slots: 1 }, { log, meter, partition: 2 });
  expect(lines).toEqual([[
    "error",
    'The slots of "service:a" were corrected: the bank had given 3 to partition 2, which has 1',
    { code: "RT0028", partition: 2, counters: "service:a" },
  ]]);
  expect(meter.disagreements).toEqual({ invocation: 0, bank: 1 });
});
