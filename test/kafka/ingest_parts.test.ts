import { expect, test, vi } from "vitest";
import type { RequestBatch } from "../../src/kafka/ingest.ts";
import type { PartTaken } from "../../src/ports.ts";
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

test("a large batch is taken in parts, the bytes or records of which are bounded", async () => {
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
  const huge = [record(1), record(2, { value: new Uint8Array(2_000_000) }), record(3)];
  const alone = await ingest("greeter/hi", huge, { deps });
  expect(alone.taken.map(({ records }) => records.length)).toEqual([1, 1, 1]);
  const many = Array.from({ length: 2_100 }, (_, offset) => record(offset));
  const short = await ingest("greeter/hi", many);
  expect(short.taken.map(({ records }) => records.length)).toEqual([1_000, 1_000, 100]);
});

/** Nine parts of one record each, whose answers come when the test says so. */
function played() {
  const value = new Uint8Array(1_100_000);
  const records = Array.from({ length: 9 }, (_, offset) => record(offset, { value }));
  const asked: number[] = [];
  const answers = new Map<number, (answer: PartTaken | Promise<never>) => void>();
  const take = ({ next }: RequestBatch) => {
    asked.push(next);
    return new Promise<PartTaken>((resolve) => answers.set(next, resolve));
  };
  const result = ingest("greeter/hi", records, { deps: { take, valueBytesMax: 2e6 } })
    .then((one) => one.result);
  const whole = async (...nexts: number[]) => {
    for (const next of nexts) {
      await vi.waitFor(() => expect(asked).toContain(next));
      answers.get(next)!({ next });
    }
  };
  return { asked, answers, result, whole };
}

test("four parts are under way at a time, and the answer waits for all", async () => {
  const { asked, answers, result, whole } = played();
  await vi.waitFor(() => expect(asked).toEqual([1, 2, 3, 4]));
  answers.get(2)!({ next: 2 });
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toEqual([1, 2, 3, 4]);
  answers.get(1)!({ next: 1 });
  await vi.waitFor(() => expect(asked).toEqual([1, 2, 3, 4, 5, 6]));
  await whole(3, 4, 5, 6, 7, 8, 9);
  expect(await result).toEqual({ next: 9 });
});

test("behind a part that is not taken whole none is sent, and what was sent does not count", async () => {
  const { asked, answers, result } = played();
  await vi.waitFor(() => expect(asked).toEqual([1, 2, 3, 4]));
  answers.get(1)!({ next: 1 });
  await vi.waitFor(() => expect(asked).toEqual([1, 2, 3, 4, 5]));
  answers.get(2)!({ next: 1, isFull: true });
  for (const next of [3, 4, 5]) answers.get(next)!({ next });
  expect(await result).toEqual({ next: 1, isFull: true });
  expect(asked).toEqual([1, 2, 3, 4, 5]);
});

test("a part that fails fails the batch, once those under way have ended", async () => {
  const { asked, answers, result } = played();
  let isOver = false;
  const ended = result.catch((cause) => (isOver = true, cause));
  await vi.waitFor(() => expect(asked).toEqual([1, 2, 3, 4]));
  answers.get(1)!(Promise.reject(new Error("lost")));
  for (const next of [2, 3]) answers.get(next)!({ next });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isOver).toBe(false);
  answers.get(4)!({ next: 4 });
  expect(await ended).toMatchObject({ message: "lost" });
});

test("a part that a partition refuses, since the one before is missing, comes again", async () => {
  const { asked, answers, result, whole } = played();
  await whole(1, 2);
  await vi.waitFor(() => expect(asked).toContain(6));
  answers.get(3)!({ next: 0 });
  for (const next of [4, 5, 6]) answers.get(next)!({ next });
  expect(await result).toEqual({ next: 2 });
});

test("a full inbox is told, and a poison behind it is not", async () => {
  const take = () => Promise.resolve({ next: 4, isFull: true });
  const bad = record(6, { value: new Uint8Array(101) });
  const { result } = await ingest("greeter/hi", [record(3), record(4), record(5), bad], {
    deps: { take },
  });
  expect(result).toEqual({ next: 4, isFull: true });
});
