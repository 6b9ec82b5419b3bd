import { expect, test } from "vitest";
import { ReadBarrier } from "../../src/storage/log/read_barrier.ts";

/** A barrier, how often it reported that it opened, and a read that ends when the test says so. */
function barrier() {
  const opened: boolean[] = [];
  const made: ReadBarrier = new ReadBarrier(() => opened.push(made.isOpen));
  const read = () => {
    let resolve = (_: string) => {}, reject = (_: Error) => {};
    const promise = new Promise<string>((...settle) => [resolve, reject] = settle);
    return { done: made.read(() => promise), resolve, reject };
  };
  return { barrier: made, opened, read };
}

test("the barrier is open while no fold was handed over, whatever reads are running", () => {
  const { barrier: made, read } = barrier();
  void read().done;
  expect(made.isOpen).toBe(true);
});

test("a raised barrier opens once, with the last read that began before", async () => {
  const { barrier: made, opened, read } = barrier();
  const [first, second] = [read(), read()];
  made.raise();
  first.resolve("a");
  expect(await first.done).toBe("a");
  expect([made.isOpen, opened]).toEqual([false, []]);
  second.resolve("b");
  await second.done;
  expect([made.isOpen, opened]).toEqual([true, [true]]);
});

test("a read that began after the barrier was raised does not keep it closed", async () => {
  const { barrier: made, opened, read } = barrier();
  made.raise();
  const later = read();
  expect(made.isOpen).toBe(true);
  made.raise();
  expect(made.isOpen).toBe(false);
  later.resolve("c");
  await later.done;
  expect(opened).toEqual([true]);
});

test("a read that fails opens the barrier, too, and rejects with its cause", async () => {
  const { barrier: made, opened, read } = barrier();
  const failing = read();
  made.raise();
  failing.reject(new Error("no such table"));
  await expect(failing.done).rejects.toThrow("no such table");
  expect([made.isOpen, opened]).toEqual([true, [true]]);
});
