import fc from "fast-check";
import { expect, test } from "vitest";
import type { InvocationRow } from "../../src/model/invocation.ts";
import { StatusCounts, STATUSES } from "../../src/observe/status_counts.ts";
import type { Clock, InvocationStatus, StatusPage } from "../../src/ports.ts";

const IDS = Array.from({ length: 9 }, (_, i) => `inv_${i}`);
const HANDLERS = ["a", "b"];

/** What happens next: a change, or the store gets on with what it was asked for. */
const step = fc.oneof(
  fc.record({
    id: fc.constantFrom(...IDS),
    place: fc.integer({ min: -1, max: STATUSES.length - 1 }),
  }),
  fc.constantFrom("hand over", "read", "answer", "wait", "begin", "fail" as const),
);

function rowOf(id: string, place: number): InvocationRow {
  const handler = HANDLERS[IDS.indexOf(id) % 2];
  const kind = STATUSES[place]?.[0];
  return { id, target: { service: "s", handler }, status: { kind } } as InvocationRow;
}

/** A store that takes its time over everything. */
class Slow {
  readonly rows = new Map<string, InvocationRow>();
  /** Rows of turns whose commit the store has not got yet. */
  #seen = new Map<string, InvocationRow>();
  #asked: (() => void) | undefined;
  #answer: (() => void) | undefined;
  #fail: ((cause: Error) => void) | undefined;
  #timers: (() => void)[] = [];
  readonly clock: Clock = {
    now: () => 0,
    at: (_, call) => (this.#timers.push(call), () => {}),
    soon: (call) => call(),
  };
  readonly counter = new StatusCounts({
    clock: this.clock,
    pageRowsMax: 2,
    failed: () => {},
    statusCounts: (page, issued) =>
      new Promise((resolve, reject) => {
        this.#asked = () => {
          this.#seen = new Map(this.rows);
          issued();
          const found = this.#page(page);
          this.#answer = () => resolve(found);
          this.#fail = reject;
        };
      }),
  });

  #page({ after = "", limit }: StatusPage): InvocationStatus[] {
    return [...this.#seen.values()].filter(({ id }) => id > after)
      .sort((a, b) => a.id < b.id ? -1 : 1).slice(0, limit)
      .map(({ id, target, status }) => ({ id, ...target, status: status.kind }));
  }

  change(id: string, place: number): void {
    const before = this.rows.get(id);
    if (!before && place < 0) return;
    const isGone = place < 0;
    const row = isGone ? before as InvocationRow : rowOf(id, place);
    if (isGone) this.rows.delete(id);
    else this.rows.set(id, row);
    this.counter.invocationChanged(before ?? null, row, isGone);
  }

  /** Lets what waits under this name go on, if anything does. */
  go(what: string): void {
    const [call, fail] = [this.#answer, this.#fail];
    if (what === "hand over") this.#asked = void this.#asked?.();
    else if (what === "answer" || what === "fail") {
      this.#answer = this.#fail = undefined;
      if (what === "answer") call?.();
      else fail?.(new Error("The disk is gone"));
    } else if (what === "wait") { for (const timer of this.#timers.splice(0)) timer(); }
    else if (what === "begin") void this.counter.begin();
  }

  expectExact(): void {
    for (const handler of HANDLERS) {
      const counted = [...this.counter.counts.of("s", handler)];
      const real = STATUSES.map(([kind]) =>
        [...this.rows.values()].filter(({ target, status }) =>
          target.handler === handler && status.kind === kind
        ).length
      );
      expect(counted).toEqual(real);
    }
  }
}

async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}

test("counts are exact once they are complete, whatever changes meanwhile", () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80, size: "max" }), async (steps) => {
      const slow = new Slow();
      for (const step of steps) {
        if (typeof step === "string") slow.go(step);
        else slow.change(step.id, step.place);
        await settle();
        if (slow.counter.isWhole) slow.expectExact();
      }
      for (let i = 0; i < 100 && !slow.counter.isWhole; i++) {
        for (const what of ["begin", "hand over", "answer", "wait"]) slow.go(what);
        await settle();
      }
      expect(slow.counter.isWhole).toBe(true);
      slow.expectExact();
    }),
    { numRuns: 1000 },
  ), 30_000);

test("nothing is counted before the first request", () => {
  const slow = new Slow();
  slow.change("inv_1", 2);
  expect([...slow.counter.counts]).toEqual([]);
});
