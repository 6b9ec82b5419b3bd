import { expect, test } from "vitest";
import { encodeBatch } from "../../src/kafka/batch_codec.ts";
import type { RecordBatch } from "../../src/model/kafka.ts";
import { batchOf, record, served } from "./_sidecar.ts";
import { VALUE_BYTES_MAX } from "./_kafka_admin.ts";

test("records become requests, in order, and are counted", async () => {
  const { records, id, world } = await served();
  const { status, json } = await records(encodeBatch(batchOf(id, [3, 4, 7], { next: 9 })));
  expect([status, json]).toEqual([200, { next: 9 }]);
  const [batch] = world.batches;
  expect(batch).toMatchObject({
    source: { subscription: id, group: id, topic: "topic", partition: 0 },
    next: 9,
  });
  expect(batch?.records.map(({ offset }) => offset)).toEqual([3, 4, 7]);
  expect([...world.counts]).toEqual([
    [{ subscription: id, topic: "topic", partition: 0 }, {
      taken: 3,
      replays: 0,
      poison: 0,
      full: 0,
    }],
  ]);
});

test("a batch that is not taken whole says how far it was", async () => {
  const { records, id, world } = await served();
  world.take = () => Promise.resolve({ next: 4, isFull: true, replays: 1 });
  const { status, json } = await records(encodeBatch(batchOf(id, [3, 4, 7])));
  expect([status, json]).toEqual([200, { next: 4, isFull: true }]);
  expect([...world.counts][0]?.[1]).toEqual({ taken: 1, replays: 1, poison: 0, full: 1 });
});

test("a record whose object is damaged is poison, and says so", async () => {
  const { records, id, world } = await served();
  world.take = () => Promise.resolve({ next: 4, damage: "[RT0028] the lock" });
  const { json } = await records(encodeBatch(batchOf(id, [3, 4, 7])));
  expect(json).toEqual({ next: 4, poison: { message: "[RT0028] the lock" } });
  expect([...world.counts][0]?.[1]).toMatchObject({ taken: 1, poison: 1 });
});

test("a record that cannot become an invocation ends the batch", async () => {
  const { records, id, world } = await served();
  const value = new Uint8Array(VALUE_BYTES_MAX + 1);
  const all = [record(1), record(2, { value }), record(3)];
  const { json } = await records(encodeBatch(batchOf(id, [], { next: 4, records: all })));
  expect(json).toEqual({
    next: 2,
    poison: { message: expect.stringContaining("1001 bytes: the limit is 1000") },
  });
  const taken = world.batches.filter(({ records }) => records.length > 0);
  expect(taken.map(({ next }) => next)).toEqual([2]);
});

test("a batch without records is a note, which is passed on", async () => {
  const { records, id, world } = await served();
  const { json } = await records(encodeBatch(batchOf(id, [], { next: 12 })));
  expect([json, world.batches]).toMatchObject([{ next: 12 }, [{ next: 12, records: [] }]]);
});

test("records of a subscription, or of a group, that is not there are refused with 404", async () => {
  const { records, id, send, path } = await served();
  const nobody = `sub_1${"0".repeat(22)}`;
  expect((await records(encodeBatch(batchOf(nobody, [1])))).status).toBe(404);
  const { status, json } = await records(encodeBatch(batchOf(id, [1], { group: "old" })));
  expect([status, json.message]).toEqual([404, expect.stringContaining("read the plan again")]);
  await send("DELETE", `${path}?group=delete`);
  expect((await records(encodeBatch(batchOf(id, [1])))).status).toBe(404);
});

test.each<readonly [Record<string, unknown>, string]>([
  [{ partition: -1 }, "partition"],
  [{ partition: "0" }, "partition"],
  [{ next: 1.5 }, "next"],
  [{ next: 3 }, "records.0.offset"],
  [{ group: 1 }, "group"],
  [{ topic: "t".repeat(1001) }, "topic"],
  [{ subscription: null }, "subscription"],
  [{ records: [record(3), record(3)] }, "records.1.offset"],
  [{ records: [record(-1)] }, "records.0.offset"],
  [{ records: [record(2 ** 53)] }, "records.0.offset"],
  [{ records: [record(3, { timestamp: 0.5 })] }, "records.0.timestamp"],
  [{ records: [record(3, { scope: 1 as never })] }, "records.0.scope"],
  [{ records: [record(3, { headers: [["a"]] as never })] }, "records.0.headers"],
  [{ records: [record(3, { headers: { a: 1 } as never })] }, "records.0.headers"],
  [{ next: 5000, records: Array.from({ length: 4001 }, (_, n) => record(n)) }, "records"],
])("a batch with %j is refused with 400", async (more, field) => {
  const { records, id, world } = await served();
  const batch = { ...batchOf(id, [3]), ...more } as RecordBatch;
  const { status, json } = await records(encodeBatch(batch));
  expect([status, json.message]).toEqual([400, expect.stringContaining(`'${field}'`)]);
  expect(world.batches).toEqual([]);
});

test("a body that is no batch, or too large, is refused", async () => {
  const { records, kafka } = await served();
  expect((await records(new Uint8Array(3))).status).toBe(400);
  expect((await records(new Uint8Array(kafka.ingestion.bytesMax + 1))).status).toBe(413);
});

test("any change of the bytes of a batch is a refusal or another batch, never a 500", async () => {
  const { records, id } = await served();
  const bytes = encodeBatch(batchOf(id, [3, 4, 7]));
  for (let at = 0; at < bytes.length; at++) {
    for (const other of [0, 0x22, 0x5d, 0x7d, 0xff]) {
      const changed = bytes.slice();
      changed[at] = other;
      expect([200, 400, 404]).toContain((await records(changed)).status);
    }
    expect([400, 404]).toContain((await records(bytes.slice(0, at))).status);
  }
});
