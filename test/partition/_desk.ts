import type { Event } from "../../src/engine/event.ts";
import type { Counted } from "../../src/engine/flow/counters.ts";
import { queueNameOf } from "../../src/engine/flow/queue.ts";
import { type Queued, Slots } from "../../src/engine/flow/slots.ts";
import { TOKEN } from "../../src/engine/flow/bucket.ts";
import { Schema } from "../../src/model/schema.ts";
import { Scheduler } from "../../src/partition/flow/scheduler.ts";
import type { SchedulerOptions } from "../../src/partition/flow/scheduler_options.ts";
import { compareQueued } from "../../src/storage/codec/order.ts";
import { controlsOf, type GivenControls } from "../support/controls.ts";
import { deployment, schema, targetOf } from "../support/schema.ts";

export type Grant = Event & { readonly type: "granted" };

/** Who waits: a path as `targetOf` takes it, and what else decides where. */
export interface Waiting {
  readonly path: string;
  readonly limitKey?: string;
  readonly priority?: number;
  readonly hasRun?: boolean;
}

/** A scheduler whose turns a test plays by hand, with a clock and a store of its own. */
export class Desk {
  now = 1_000_000;
  /** Proposals whose turn has not run, in order. */
  readonly grants: Grant[] = [];
  scheduler: Scheduler;
  readonly #options: Partial<SchedulerOptions>;
  readonly #stored = new Map<string, Queued & Waiting>();
  readonly #alarms: { due: number; call: () => void }[] = [];
  /** Calls of `load` that were not answered yet. */
  readonly reads: (() => void)[] = [];
  #schema: Schema;

  constructor(controls: GivenControls, options: Partial<SchedulerOptions> = {}) {
    this.#schema = new Schema([deployment], schema.defaults, controlsOf(controls));
    this.#options = options;
    this.scheduler = this.#begin();
  }

  #begin(): Scheduler {
    return new Scheduler({
      clock: {
        now: () => this.now,
        at: (due, call) => {
          const alarm = { due, call };
          this.#alarms.push(alarm);
          return () => void this.#alarms.splice(this.#alarms.indexOf(alarm) >>> 0, 1);
        },
        soon: (call) => call(),
      },
      schema: () => this.#schema,
      send: (event) => {
        if (event.type === "granted") this.grants.push(event);
      },
      load: (queue, after) =>
        new Promise((resolve) => {
          const page = this.#page(queue, after);
          this.reads.push(() => resolve(page));
        }),
      onFailure: (cause) => {
        throw cause;
      },
      ...this.#options,
    });
  }

  /** Somebody has to wait, at the next place. */
  wait(id: string, waiting: Waiting): Queued {
    const seq = this.scheduler.nextSeq;
    return this.waitAt({ id, seq }, waiting);
  }

  /** Somebody has to wait, at a place that it has had before or that is the next one. */
  waitAt({ id, seq }: Pick<Queued, "id" | "seq">, waiting: Waiting): Queued {
    const queued = { id, seq, queue: this.nameOf(waiting) };
    this.#stored.set(id, { ...queued, ...waiting });
    const slots = new Slots(this.scheduler, Math.max(this.scheduler.nextSeq, seq + 1));
    slots.wait(queued, "");
    this.scheduler.apply(slots);
    return queued;
  }

  nameOf({ path, limitKey, priority, hasRun = false }: Waiting): string {
    const target = targetOf(path);
    const row = { target, limitKey, priority, runningAt: hasRun ? 1 : undefined };
    return queueNameOf(row as never, this.#schema);
  }

  /** Somebody takes its slots without a wait. */
  hold(counted: Counted): void {
    this.#change(counted, 1);
  }

  release(counted: Counted): void {
    this.#change(counted, -1);
  }

  #change(counted: Counted, by: 1 | -1): void {
    const slots = new Slots(this.scheduler, this.scheduler.nextSeq);
    slots.change(counted, by);
    this.scheduler.apply(slots);
  }

  /** The turn of the first proposal runs. `void`: it finds the invocation gone. Returns its id. */
  turn({ isVoid = false } = {}): string | undefined {
    const grant = this.grants.shift();
    if (!grant) return undefined;
    const slots = new Slots(this.scheduler, this.scheduler.nextSeq);
    slots.settle(grant, grant.reserved);
    const waiting = this.#stored.get(grant.id);
    this.#stored.delete(grant.id);
    if (waiting && !isVoid) slots.change(countedOf(waiting), 1);
    this.scheduler.apply(slots);
    return grant.id;
  }

  /** Has every proposal start and end at once, until there are no more. Returns the ids in order. */
  run(mostly = Infinity): string[] {
    const ids: string[] = [];
    for (let left = mostly; left > 0 && this.grants.length > 0; left--) {
      const waiting = this.#stored.get(this.grants[0]!.id);
      ids.push(this.turn()!);
      if (waiting) this.release(countedOf(waiting));
    }
    return ids;
  }

  /** Answers all reads of the store. */
  async read(): Promise<void> {
    for (const answer of this.reads.splice(0)) answer();
    await Promise.resolve();
    await Promise.resolve();
  }

  /** A turn has found or left this in the bucket of a counter, in tokens. */
  bucket(counter: string, tokens: number | undefined): void {
    const slots = new Slots(this.scheduler, this.scheduler.nextSeq);
    const row = { counter, tokens: (tokens ?? 0) * TOKEN, at: this.now, fullAt: 0 };
    slots.buckets.set(counter, tokens === undefined ? undefined : row);
    this.scheduler.apply(slots);
  }

  /** Time passes, and alarms ring. */
  pass(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const next = this.#alarms.sort((a, b) => a.due - b.due)[0];
      if (!next || next.due > until) break;
      this.#alarms.shift();
      this.now = Math.max(this.now, next.due);
      next.call();
    }
    this.now = until;
  }

  /** Alarms that are set. */
  get alarms(): number {
    return this.#alarms.length;
  }

  set(controls: GivenControls): void {
    this.#schema = new Schema([deployment], schema.defaults, controlsOf(controls));
    this.scheduler.controlsChanged();
  }

  /** A new life, which knows only what is stored. */
  restart(holders: readonly Counted[] = []): void {
    this.scheduler.stop();
    this.grants.length = 0;
    this.scheduler = this.#begin();
    for (const one of holders) this.scheduler.hold(one as never);
    for (const one of [...this.#stored.values()].sort(compareQueued)) this.scheduler.restore(one);
    this.scheduler.open();
  }

  #page(queue: string, after: number): Queued[] {
    const { queueWindow: limit = 256 } = this.#options;
    return [...this.#stored.values()].filter((one) => one.queue === queue && one.seq > after)
      .sort((a, b) => a.seq - b.seq).slice(0, limit);
  }
}

/** What is counted of somebody who waited. */
export function countedOf({ path, limitKey }: Waiting): Counted {
  return { target: targetOf(path), limitKey };
}
