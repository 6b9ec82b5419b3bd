import fc from "fast-check";
import { expect, test } from "vitest";
import { type Entry, WaitQueue } from "../../src/partition/flow/wait_queue.ts";

const NAME = "08:blue::greeter::";
const entry = (seq: number): Entry => ({ id: `i${seq}`, seq });

const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ add: fc.integer({ min: 1, max: 8 }) }) },
    { weight: 5, arbitrary: fc.record({ shift: fc.integer({ min: 1, max: 8 }) }) },
    { weight: 2, arbitrary: fc.record({ back: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ elsewhere: fc.nat() }) },
    { weight: 3, arbitrary: fc.constant({ begin: true }) },
    { weight: 3, arbitrary: fc.constant({ end: true }) },
  ),
  { maxLength: 80, size: "max" },
);

type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never;

/** A queue and the store behind it. A page is read as the store was when the read began. */
class Bench {
  readonly queue: WaitQueue;
  /** Places of those that wait, and of those that were taken and may come back. */
  readonly waiting = new Set<number>();
  readonly taken: number[] = [];
  /** Places that were given to other queues. */
  readonly foreign: number[] = [];
  readonly #window: number;
  #page: Entry[] | undefined;
  #next = 0;

  constructor(window: number) {
    this.#window = window;
    this.queue = new WaitQueue(NAME, window);
  }

  step(step: Step): void {
    if ("add" in step) {
      for (let n = step.add; n > 0; n--) {
        if (n % 3 === 0) this.foreign.push(this.#next++);
        this.#add(this.#next++);
      }
    } else if ("shift" in step) { for (let n = step.shift; n > 0; n--) this.#shift(); }
    else if ("back" in step) this.#back(this.taken, step.back);
    else if ("elsewhere" in step) this.#back(this.foreign, step.elsewhere);
    else if ("begin" in step) this.#begin();
    else this.#end();
  }

  /** Takes all that is left, as a scheduler does. */
  drain(): void {
    for (let n = 0; n < 10_000 && !this.queue.isOver; n++) {
      this.#end();
      this.#begin();
      this.#end();
      this.#shift();
    }
  }

  #back(from: number[], which: number): void {
    const [seq] = from.splice(which % Math.max(1, from.length), 1);
    if (seq !== undefined) this.#add(seq);
  }

  #add(seq: number): void {
    this.waiting.add(seq);
    this.queue.add(entry(seq));
  }

  #shift(): void {
    const found = this.queue.shift();
    if (!found) return;
    expect(this.waiting.delete(found.seq)).toBe(true);
    // Nobody in memory stands before it, and nobody in the store either.
    const before = [...this.waiting].filter((seq) => seq < found.seq);
    expect(this.#page || this.queue.isLow ? [] : before).toEqual([]);
    this.taken.push(found.seq);
  }

  #begin(): void {
    if (this.#page || !this.queue.isLow) return;
    const after = this.queue.beginRead();
    const all = [...this.waiting].filter((seq) => seq > after).sort((a, b) => a - b);
    this.#page = all.slice(0, this.#window).map(entry);
  }

  #end(): void {
    if (!this.#page) return;
    // Nobody leaves the store who is not in memory: a page has no void entries here.
    const page = this.#page;
    this.#page = undefined;
    this.queue.endRead(page);
  }
}

test("everybody who waits is taken once, in order, whatever the window is", () => {
  fc.assert(fc.property(steps, fc.integer({ min: 1, max: 9 }), (steps, window) => {
    const bench = new Bench(window);
    for (const step of steps) bench.step(step);
    bench.drain();
    expect([...bench.waiting]).toEqual([]);
    expect(bench.queue.isOver).toBe(true);
  }));
});

test("no more than a window is kept in memory, but for those that come back", () => {
  const queue = new WaitQueue(NAME, 10);
  for (let seq = 0; seq < 1_000; seq++) queue.add(entry(seq));
  expect(queue.length).toBe(10);
  for (let seq = 0; seq < 7; seq++) expect(queue.shift()).toEqual(entry(seq));
  expect(queue.isLow).toBe(false);
  expect(queue.shift()).toEqual(entry(7));
  expect(queue.isLow).toBe(true);
  expect(queue.beginRead()).toBe(9);
  expect(queue.isLow).toBe(false);
  queue.add(entry(7));
  expect(queue.shift()).toEqual(entry(7));
});

test("one that comes from another queue while a page is read keeps its place", () => {
  const queue = new WaitQueue(NAME, 2);
  for (const seq of [0, 1, 2, 4]) queue.add(entry(seq));
  queue.shift();
  queue.shift();
  queue.beginRead();
  queue.add(entry(3));
  queue.endRead([entry(2), entry(4)]);
  expect([queue.shift(), queue.shift(), queue.shift()]).toEqual([2, 3, 4].map(entry));
});

test("a name says which counters the head of a queue needs", () => {
  expect(new WaitQueue("09:blue:a/b:greeter:hi:dp_1").counters).toEqual([
    "handler:greeter/hi",
    "service:greeter",
    "scope:blue/a/b",
    "scope:blue/a",
    "scope:blue",
  ]);
  expect(new WaitQueue("08:::greeter::").counters).toEqual(["service:greeter"]);
  expect([new WaitQueue("08:::greeter::").isFirst, new WaitQueue("09:::greeter::").isFirst])
    .toEqual([true, false]);
});
