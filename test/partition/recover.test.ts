import { expect, test } from "vitest";
import { TOKEN } from "../../src/engine/flow/bucket.ts";
import { Schema } from "../../src/model/schema.ts";
import { recover } from "../../src/partition/flow/recover.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
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
  expect(await recover(desk, { store, lease, controls })).toEqual([]);
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
