import { unreachable } from "../assert.ts";
import type { Effect } from "../engine/effect.ts";
import { Failure } from "../errors.ts";
import type { Schema } from "../model/schema.ts";
import type { ByHandler } from "../observe/by_handler.ts";
import type { PartitionGauges } from "../observe/metrics.ts";
import { Meter } from "../observe/meter.ts";
import type { Tally } from "../observe/tally.ts";
import type { Watch } from "../observe/watch.ts";
import type { Clock, Invocations, Lease, Log, Mailbox, Store } from "../ports.ts";
import { Partition } from "./partition.ts";
import type { Moved } from "./resident.ts";
import { Requests } from "./requests.ts";
import { gaugesOf, tallyOf } from "./standings.ts";
import { Sweeper } from "./sweeper.ts";
import { Timers } from "./timers.ts";
import { Waiters } from "./waiters.ts";

export interface HostOptions {
  readonly partition: number;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly schema: () => Schema;
  /** Makes what runs attempts. A new one for each life of the partition. */
  readonly attempts: (send: Mailbox) => AttemptRunner;
  readonly turnEventsMax: number;
  /** Events waiting for a turn, above which new requests are refused with 503. */
  readonly mailboxEventsMax: number;
  readonly residentBytesMax: number;
  readonly timersMax: number;
  /** How often expired invocations are looked for. */
  readonly cleanupIntervalMs: number;
  /** Is told what invocations go through. */
  readonly watch?: Watch | undefined;
}

/** What `outbound/dispatch.ts` offers a partition. */
export interface AttemptRunner {
  start(effect: Effect & { type: "attempt" }): void;
  notify(effect: Effect & { type: "notify" }): void;
  abort(effect: Effect & { type: "abort" }): void;
  yield(effect: Effect & { type: "yield" }): void;
  /** Attempts in flight, and that wait for a slot. */
  readonly load?: { readonly running: number; readonly waiting: number };
  close(): void;
}

/** One life of a partition: from a lease to the failure that ends it. */
interface Life {
  readonly lease: Lease;
  readonly partition: Partition;
  readonly attempts: AttemptRunner;
  readonly timers: Timers;
  readonly sweeper: Sweeper;
  readonly tally: Tally;
}

/** Invocations read at once at boot. */
const BOOT_PAGE = 1_000;
const RESTART_MS = 200;
const RESTART_MAX_MS = 5_000;

/**
 * Keeps a partition alive. It claims the lease before the first load (law 4), derives every
 * effect again from the rows (law 3), and after a failure drops everything and begins anew.
 */
export class Host {
  readonly #options: HostOptions;
  readonly #waiters = new Waiters();
  /** What the outside may ask of this partition. Every method rejects with 503 while it has no life. */
  readonly requests: Invocations = new Requests(this.#waiters, () => this.#admit());
  #life: Life | undefined;
  #isClosed = false;
  #setbacks = 0;
  readonly #meter: Meter;

  constructor(options: HostOptions) {
    this.#options = options;
    this.#meter = options.watch?.meter ?? new Meter();
  }

  /** Begins the first life. Rejects when the store cannot be claimed or read. */
  async open(): Promise<void> {
    const { store, partition } = this.#options;
    const lease = await store.claim(partition);
    // Nothing may start before this list is complete: what did would be taken for something whose
    // attempt died with the last process, and would run twice at once.
    const lost = await this.#lost(lease);
    if (this.#isClosed) return;
    const life = this.#begin(lease);
    this.#life = life;
    for (const id of lost) life.partition.send({ type: "recovered", id });
    try {
      await life.timers.open();
    } catch (cause) {
      // Failed otherwise meanwhile, or closed: whoever did it has seen to what comes next.
      if (this.#life !== life) return;
      this.#end(life);
      this.#waiters.fail(unavailable());
      throw cause;
    }
    life.sweeper.start();
  }

  /** Requests that wait for an answer. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** What can be read at this moment, for metrics. Undefined: it has no life. */
  gauges(): PartitionGauges | undefined {
    return this.#life && gaugesOf(this.#life, this.#options.store);
  }

  /** How many invocations stand where (`STATUSES`). Undefined: not counted within `patienceMs`. */
  async standings(patienceMs: number): Promise<ByHandler | undefined> {
    const tally = this.#life?.tally;
    if (!tally || !this.#options.store.standings) return undefined;
    const counts = await tally.within(patienceMs);
    return this.#life?.tally === tally ? counts : undefined;
  }

  /** Ends the current life and begins no other. Resolves at once: what is durable is durable. */
  close(): void {
    this.#isClosed = true;
    if (this.#life) this.#end(this.#life);
    this.#waiters.fail(Failure.plain(503, "the server is shutting down"));
  }

  #admit(): Partition {
    const partition = this.#life?.partition;
    if (!partition) throw unavailable();
    if (partition.waiting < this.#options.mailboxEventsMax) return partition;
    throw Failure.plain(503, "the server is overloaded, retry later");
  }

  #begin(lease: Lease): Life {
    const { clock, store, schema, log, turnEventsMax, residentBytesMax, watch } = this.#options;
    const onFailure = (cause: unknown) => this.#failed(life, cause);
    const tally = tallyOf(() => life, this.#options);
    const partition = new Partition({
      lease,
      clock,
      store,
      schema,
      turnEventsMax,
      residentBytesMax,
      onFailure,
      release: (effects) => this.#release(life, effects),
      meter: this.#meter,
      moved: movedTo(tally, watch),
    });
    const send: Mailbox = (event, durable) => partition.send(event, durable);
    const life: Life = {
      lease,
      partition,
      tally,
      attempts: this.#options.attempts(send),
      timers: new Timers({
        clock,
        timersMax: this.#options.timersMax,
        load: (after, limit) =>
          store.scan(lease, { kind: "timers", limit, ...(after ? { after } : {}) }),
        fire: (timer) => partition.send({ ...timer, type: "timerFired" }),
        onFailure,
      }),
      sweeper: new Sweeper({
        clock,
        log,
        everyMs: this.#options.cleanupIntervalMs,
        expired: (until, limit) => store.scan(lease, { kind: "expired", until, limit }),
        send,
      }),
    };
    return life;
  }

  /** Invocations whose attempt died with whoever ran it. */
  async #lost(lease: Lease): Promise<string[]> {
    const lost: string[] = [];
    for (;;) {
      const after = lost.at(-1);
      const page = await this.#options.store.scan(lease, {
        kind: "invoked",
        limit: BOOT_PAGE,
        ...(after === undefined ? {} : { after }),
      });
      for (const { id } of page) lost.push(id);
      if (page.length < BOOT_PAGE) return lost;
    }
  }

  #release(life: Life, effects: readonly Effect[]): void {
    for (const effect of effects) {
      switch (effect.type) {
        case "attempt":
          life.attempts.start(effect);
          break;
        case "notify":
          life.attempts.notify(effect);
          break;
        case "abort":
          life.attempts.abort(effect);
          break;
        case "yield":
          life.attempts.yield(effect);
          break;
        case "completed":
          this.#waiters.completed(effect);
          break;
        case "reply":
          this.#waiters.replied(effect);
          break;
        case "wake":
          life.timers.add(effect);
          break;
        default:
          unreachable(effect);
      }
    }
    this.#setbacks = 0;
  }

  #failed(life: Life, cause: unknown): void {
    if (this.#life !== life) return;
    const { log, partition } = this.#options;
    log("error", "The partition stopped and starts again", { partition, cause: String(cause) });
    this.#meter.setbacks++;
    this.#end(life);
    this.#waiters.fail(unavailable());
    this.#restart();
  }

  #end(life: Life): void {
    if (this.#life === life) this.#life = undefined;
    life.partition.stop();
    life.timers.stop();
    life.sweeper.stop();
    life.tally.stop();
    life.attempts.close();
  }

  #restart(): void {
    if (this.#isClosed) return;
    const { clock, log, partition } = this.#options;
    const delay = Math.min(RESTART_MAX_MS, RESTART_MS * 2 ** this.#setbacks++);
    clock.at(clock.now() + delay, () => {
      if (this.#isClosed) return;
      this.open().catch((cause) => {
        log("error", "The partition cannot start", { partition, cause: String(cause) });
        this.#restart();
      });
    });
  }
}

function movedTo(tally: Tally, watch: Watch | undefined): Moved {
  return (before, row, isGone) => {
    tally.moved(before, row, isGone);
    watch?.moved(before, row);
  };
}

function unavailable(): Failure {
  return Failure.plain(
    503,
    "the partition is not available right now; repeating is safe only with an idempotency key",
  );
}
