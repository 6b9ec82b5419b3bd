import { expect, test } from "vitest";
import type { RequestBatch } from "../../src/kafka/ingest.ts";
import { ingest, record } from "./_ingest.ts";

test("a record that is done with is no poison, whatever becomes of records now", async () => {
  const bad = { key: new Uint8Array([0xff]) };
  const all = [record(3), record(4, bad), record(5), record(6, bad), record(7)];
  const asked: number[] = [];
  const offsets: number[] = [];
  const take = ({ next, records }: RequestBatch) => {
    offsets.push(...records.map(({ offset }) => offset));
    if (records.length === 0) asked.push(next);
    return Promise.resolve({ next: records.length === 0 ? 6 : next });
  };
  const { result } = await ingest("counter/add", all, { deps: { take } });
  expect(result).toEqual({ next: 6, poison: { message: expect.stringContaining("UTF-8") } });
  expect([offsets, asked]).toEqual([[3, 5], [0]]);
  const without = await ingest("nope/hi", all.slice(0, 3), { deps: { take } });
  expect(without.result).toEqual({ next: 6 });
});

test("a large batch is taken in parts, one after the other, until one is not taken whole", async () => {
  const value = new Uint8Array(400_000);
  const large = [1, 2, 5, 6, 7, 8].map((offset) => record(offset, { value }));
  const deps = { valueBytesMax: 3_000_000 };
  const { result, taken } = await ingest("greeter/hi", large, { deps, more: { next: 20 } });
  expect(result).toEqual({ next: 20 });
  expect(taken.map(({ next, records }) => [records.map(({ offset }) => offset), next])).toEqual([
    [[1, 2], 5],
    [[5, 6], 7],
    [[7, 8], 20],
  ]);
  const asked: number[] = [];
  const take = ({ next }: RequestBatch) => {
    asked.push(next);
    return Promise.resolve(next === 7 ? { next: 6, isFull: true } : { next });
  };
  const full = await ingest("greeter/hi", large, { deps: { ...deps, take } });
  expect([full.result, asked]).toEqual([{ next: 6, isFull: true }, [5, 7]]);
  const huge = [record(1), record(2, { value: new Uint8Array(2_000_000) }), record(3)];
  const alone = await ingest("greeter/hi", huge, { deps });
  expect(alone.taken.map(({ records }) => records.length)).toEqual([1, 1, 1]);
});

test("a full inbox is told, and a poison behind it is not", async () => {
  const take = () => Promise.resolve({ next: 4, isFull: true });
  const bad = record(6, { value: new Uint8Array(101) });
  const { result } = await ingest("greeter/hi", [record(3), record(4), record(5), bad], {
    deps: { take },
  });
  expect(result).toEqual({ next: 4, isFull: true });
});
