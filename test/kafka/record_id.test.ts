import { expect, test } from "vitest";
import { recordIdsOf } from "../../src/kafka/record_id.ts";
import { newInvocationId, parseInvocationId } from "../../src/model/id.ts";
import { partitionOfId, partitionOfObject } from "../../src/model/ring.ts";

const SOURCE = { subscription: "sub_1a", group: "g", topic: "t", partition: 3 };
const SERVICE = { service: "greeter", handler: "hi", isWorkflowRun: false };
const OBJECT = { service: "counter", handler: "add", key: "bob", isWorkflowRun: false };

test("a record has the same id each time, and no other record has it", () => {
  const ids = new Set<string>();
  const sources = [
    SOURCE,
    { ...SOURCE, subscription: "sub_1b" },
    { ...SOURCE, group: "h" },
    { ...SOURCE, topic: "u" },
    { ...SOURCE, partition: 4 },
  ];
  const offsets = [0, 1, 255, 256, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1];
  for (const source of sources) {
    for (const offset of offsets) {
      const { id, fresh } = recordIdsOf(source)(offset, SERVICE);
      expect(recordIdsOf({ ...source })(offset, SERVICE)).toEqual({ id, fresh });
      expect(fresh).toBe(true);
      ids.add(id);
    }
  }
  expect(ids.size).toBe(sources.length * offsets.length);
});

test("ids begin otherwise where spans and seeds are taken from them", () => {
  const idOf = recordIdsOf(SOURCE);
  const seeds = Array.from(
    { length: 200 },
    (_, offset) => parseInvocationId(idOf(offset, OBJECT).id).subarray(8, 16).join(),
  );
  expect(new Set(seeds).size).toBe(200);
});

test("a record with a key is where every call of that key is, or of its scope", () => {
  const idOf = recordIdsOf(SOURCE);
  for (const partitions of [2, 7, 64]) {
    const of = (id: string) => partitionOfId(id, partitions);
    expect(of(idOf(5, OBJECT).id)).toBe(partitionOfObject({ key: "bob" }, partitions));
    expect(of(idOf(5, { ...OBJECT, scope: "blue" }).id))
      .toBe(partitionOfObject({ key: "blue" }, partitions));
  }
});

test("the run of a workflow has the id that it has for every caller", () => {
  const run = { service: "flow", handler: "run", key: "w", isWorkflowRun: true };
  expect(recordIdsOf(SOURCE)(5, run)).toEqual(newInvocationId(run, new Uint8Array(16).fill(9), 77));
  expect(recordIdsOf(SOURCE)(6, run).fresh).toBe(false);
});

test.each([2, 3, 8, 64])("records without a key are spread over %i partitions", (partitions) => {
  const idOf = recordIdsOf(SOURCE);
  const counts = new Array<number>(partitions).fill(0);
  const placeOf = (offset: number) => partitionOfId(idOf(offset, SERVICE).id, partitions);
  for (let offset = 0; offset < 4096; offset++) counts[placeOf(offset)]!++;
  const mean = 4096 / partitions;
  for (const count of counts) expect(Math.abs(count - mean)).toBeLessThan(mean / 8 + 32);
  // Few in a row are few commits.
  expect(new Set(Array.from({ length: 16 }, (_, i) => placeOf(32 + i))).size).toBe(1);
});
