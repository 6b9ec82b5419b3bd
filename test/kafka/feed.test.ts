import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Feed, type Stop } from "../../adapters/kafka/feed.ts";

const POISON: Stop = { kind: "poison", message: "no key" };
const INBOX: Stop = { kind: "inbox", message: "full" };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** How long the partition stands, in milliseconds, each time that it goes on and finds the same. */
function waits(feed: Feed, stop: Stop, times: number): number[] {
  return Array.from({ length: times }, () => {
    const began = Date.now();
    feed.stop(stop, () => {});
    while (feed.isStopped) vi.advanceTimersByTime(50);
    return Date.now() - began;
  });
}

test("a partition that stands at a bad record tries it again after waits that grow to 10 s", () => {
  const feed = new Feed("t", 0);
  expect(waits(feed, POISON, 9)).toEqual(
    [200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000],
  );
  expect(feed.report().stoppedBy).toEqual(POISON);
  // Behind the record the waits begin anew.
  feed.advance(8);
  expect(feed.report().stoppedBy).toBeUndefined();
  expect(waits(feed, POISON, 2)).toEqual([200, 400]);
});

test("a full inbox is asked for again within a second, whatever stopped the partition before", () => {
  const feed = new Feed("t", 0);
  waits(feed, POISON, 5);
  expect(waits(feed, INBOX, 5)).toEqual([100, 200, 400, 800, 1_000]);
});

test("a partition that is told to go on does so at once, and once", () => {
  const feed = new Feed("t", 0);
  let times = 0;
  feed.stop(POISON, () => times++);
  feed.goOn();
  vi.advanceTimersByTime(20_000);
  expect(times).toBe(1);
  feed.stop(POISON, () => times++);
  feed.close();
  vi.advanceTimersByTime(20_000);
  expect(times).toBe(1);
});
