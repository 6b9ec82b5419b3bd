import fc from "fast-check";
import { expect, test } from "vitest";
import type { Limits } from "../../../src/model/limits.ts";
import { beyond } from "./_beyond.ts";
import { BEGIN, COUNTER, greeter, HANDLER, Places, sum } from "./_shared.ts";

/** A start may be used later than it was given, but each one was given. */
function mustComeFrom(
  starts: readonly number[],
  { count, periodMs, burst = count }: NonNullable<Limits["rate"]>,
): void {
  for (const [i, at] of starts.entries()) {
    expect(i + 1).toBeLessThanOrEqual(burst + (at - BEGIN) * count / periodMs + 1e-6);
  }
}

const limits = fc.record(
  {
    concurrency: fc.integer({ min: 1, max: 4 }),
    rate: fc.record({
      count: fc.integer({ min: 1, max: 5 }),
      periodMs: fc.constant(100),
      burst: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { requiredKeys: [] },
);

test("whatever comes late or dies, no limit is exceeded, and all that waits starts", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 4 }),
      fc.record({ service: limits, handler: fc.option(limits, { nil: undefined }) }),
      fc.array(fc.nat(), { minLength: 100, maxLength: 300 }),
      (partitions, { service, handler }, choices) => {
        const places = new Places(partitions, greeter(service, handler));
        const most = Math.min(service.concurrency ?? Infinity, handler?.concurrency ?? Infinity);
        for (const choice of choices) {
          happen(places, choice);
          expect(places.ids("invoked").length).toBeLessThanOrEqual(most);
          expect(sum(places.shares(COUNTER))).toBeLessThanOrEqual(service.concurrency ?? Infinity);
        }
        finish(places, most);
        for (const { rate } of [service, handler ?? {}]) {
          if (rate) mustComeFrom(places.starts, rate);
        }
      },
    ),
    { numRuns: 100 },
  );
});

test("limits that change while slots move, and clocks that are set back, hold and lose no slot", () => {
  const limited = fc.oneof({ weight: 3, arbitrary: limits }, fc.constant<Limits>({}));
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 4 }),
      fc.array(fc.record({ service: limited, handler: limited }), { minLength: 2, maxLength: 6 }),
      fc.boolean(),
      fc.array(fc.nat(), { minLength: 100, maxLength: 300 }),
      (partitions, given, isByHandler, choices) => {
        const all = given.map(({ service, handler }) =>
          greeter(service, isByHandler ? handler : undefined)
        );
        const most = (at: number) => given[at]!.service.concurrency ?? Infinity;
        const places = new Places(partitions, all[0]!);
        let at = 0;
        for (const choice of choices) {
          const before = places.ids("invoked").length;
          if (choice % 17 === 0) {
            places.limit(all[at = choice % all.length]!);
          } else if (choice % 19 === 0) places.now -= 3_000;
          else happen(places, choice);
          const { length } = places.ids("invoked");
          // What runs when a limit is lowered goes on, and nothing starts beyond it.
          if (length > before) expect(length).toBeLessThanOrEqual(most(at));
          expect(places.missing()).toEqual({});
          for (const counter of [COUNTER, HANDLER]) expect(beyond(places, counter)).toBe(0);
        }
        finish(places);
        expect(places.missing()).toEqual({});
        if (most(at) < Infinity) expect(sum(places.shares(COUNTER))).toBeLessThanOrEqual(most(at));
        expect(places.corrected).toEqual([]);
      },
    ),
    // To shrink a failure takes minutes: each run plays all of it.
    { numRuns: 100, endOnFailure: true },
  );
});

/** One of the things that may happen. */
function happen(places: Places, choice: number): void {
  const { length } = places.places;
  const partition = choice % length, other = Math.floor(choice / length) % length;
  const running = places.ids("invoked"), waiting = places.ids("queued");
  switch (Math.floor(choice / length / length) % 12) {
    case 0:
    case 1:
    case 2:
      return void places.call(partition);
    case 3:
      return void places.boot(partition);
    case 4:
      return void places.pass();
    case 5:
      if (running.length > 0) places.end(running[choice % running.length]!);
      return;
    case 6:
      if (waiting.length > 0) places.kill(waiting[choice % waiting.length]!);
      return;
    case 7:
      return void places.bring(partition, other, { isHeard: choice % 2 === 0 });
    default:
      return void places.turn(partition, 1 + choice % 3);
  }
}

/** All goes well from now on, so everything ends. */
function finish(places: Places, most = Infinity): void {
  for (let i = 0; i < 5_000; i++) {
    places.settle();
    const running = places.ids("invoked");
    expect(running.length).toBeLessThanOrEqual(most);
    if (running.length === 0 && places.ids("queued").length === 0) return;
    for (const id of running) places.end(id);
    if (running.length === 0) expect(places.pass()).toBe(true);
  }
  expect(places.ids("queued")).toEqual([]);
}
