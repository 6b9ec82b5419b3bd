import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { everyAligned, pauseAligned, untilNext } from "../../adapters/kafka/aligned.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("intervals that begin at different times end at the same one, and each as often", () => {
  vi.setSystemTime(1_000_300);
  const calls: [string, number][] = [];
  const note = (name: string) => () => void calls.push([name, Date.now()]);
  const ends = [everyAligned(1_000, note("a"))];
  vi.advanceTimersByTime(150);
  ends.push(everyAligned(1_000, note("b")));
  vi.advanceTimersByTime(2_000);
  expect(calls).toEqual([["a", 1_001_000], ["b", 1_001_000], ["a", 1_002_000], ["b", 1_002_000]]);
  for (const end of ends) end();
  vi.advanceTimersByTime(5_000);
  expect([calls.length, vi.getTimerCount()]).toEqual([4, 0]);
});

test("a timer that comes early, or begins late, waits for the next moment", () => {
  expect([0, 1, 700, 800, 801, 999].map((now) => untilNext(1_000, now)))
    .toEqual([1_000, 999, 300, 200, 1_199, 1_001]);
});

test("a pause ends at such a moment, or with its signal", async () => {
  vi.setSystemTime(1_000_300);
  const stop = new AbortController();
  const ended: string[] = [];
  const pauses = [
    pauseAligned(1_000, new AbortController().signal).then(() => ended.push("whole")),
    pauseAligned(1_000, stop.signal).then(() => ended.push("stopped")),
  ];
  stop.abort();
  await vi.advanceTimersByTimeAsync(699);
  expect(ended).toEqual(["stopped"]);
  await vi.advanceTimersByTimeAsync(1);
  await Promise.all(pauses);
  expect(ended).toEqual(["stopped", "whole"]);
});
