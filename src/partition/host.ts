import { unreachable } from "../assert.ts";
import type { Effect } from "../engine/effect.ts";
import type { Event } from "../engine/event.ts";
import { Failure, Untaken } from "../errors.ts";
import { printUnready, type Unready } from "../model/readiness.ts";
import type { Unreadable } from "../model/unreadable.ts";
import type { ByHandler } from "../observe/by_handler.ts";
import type { PartitionGauges } from "../observe/metrics.ts";
import { Meter } from "../observe/meter.ts";
import { Fenced, type Lease, type PartitionClient } from "../ports.ts";
import type { DamagedHolder } from "../scan.ts";
import { beginLife, endLife, type HostOptions, type Life } from "./life.ts";
import { openEarly, proceedFirst } from "./open_early.ts";
import { type DisagreementLog, logCorrected, logDamagedHolder } from "./flow/disagreements.ts";
import { recover } from "./flow/recover.ts";
import type { Scheduler } from "./flow/scheduler.ts";
import type { Partition } from "./partition.ts";
import { Requests } from "./requests.ts";
import { PartitionReadiness } from "./readiness.ts";
import { gaugesOf } from "./status_counts.ts";
import { Waiters } from "./waiters.ts";

const RESTART_MS = 200;
const RESTART_MAX_MS = 5_000;

/**
 * Keeps a partition alive. It claims the lease before the first load (law 4), derives every
 * effect again from the rows (law 3), and after a failure drops everything and begins anew.
 */
export class Host {
  readonly #options: HostOptions;
  readonly #waiters = new Waiters();
  /** The requests that this partition takes. Every method rejects with 503 while it has no life. */
  readonly partitionClient: PartitionClient = new Requests(this.#waiters, () => this.#admit());
  #life: Life | undefined;
  #isClosed = false;
  #restarts = 0;
  /** Why a life ended since `open` was called, before it was the current one. */
  #failedEarly: { readonly cause: unknown } | undefined;
  readonly #meter: Meter;
  readonly #readiness: PartitionReadiness;

  constructor(options: HostOptions) {
    this.#options = options;
    this.#readiness = new PartitionReadiness(options, options.range.partition);
    this.#meter = options.watch?.meter ?? new Meter();
  }

  /** Begins the first life. Rejects when the store cannot be claimed or read. */
  async open(): Promise<void> {
    const { store, range: { partition, partitions } } = this.#options;
    this.#failedEarly = undefined;
    const lease = await store.claim(partition);
    // No attempt may start before this list is complete: its invocation would be listed as one whose
    // attempt died with the last process, and a second attempt would run at the same time.
    const life = this.#begin(lease);
    const lost = await this.#recovered(life).catch((cause) => {
      endLife(life);
      throw cause;
    });
    if (this.#isClosed) return endLife(life);
    this.#life = life;
    for (const id of lost) life.partition.send({ type: "recovered", id });
    life.partition.open();
    try {
      await life.timers.open();
      if (partitions > 1) await life.outboxSender.open();
    } catch (cause) {
      // Another failure or `close` has ended this life already, and has handled the rest.
      if (this.#life !== life) return;
      this.#end(life);
      this.#waiters.fail(this.#unavailable());
      throw cause;
    }
    this.#readiness.over();
    life.sweeper.start();
    life.bucketSweeper.start();
  }

  /**
   * As `recover`. A large value that comes meanwhile is made durable, and may end the partition if that
   * fails, which nothing would restart: then it rejects with the cause.
   */
  async #recovered({ partition, lease }: Life): Promise<string[]> {
    const { store, schema } = this.#options;
    await partition.inboxes.recover(store, lease);
    const { controls } = schema();
    const onDamaged = (holder: DamagedHolder) =>
      logDamagedHolder(holder, controls, this.#disagreements);
    const lost = await recover(partition, { store, lease, controls, onDamaged });
    if (this.#failedEarly) throw this.#failedEarly.cause;
    return lost;
  }

  /** Why it takes no requests, or cannot make them durable, at this moment. Undefined: it is ready. */
  unready(): Promise<Unready | undefined> {
    const { store } = this.#options;
    const life = this.#life;
    return this.#readiness.check(
      life && (async () => {
        try {
          await store.scan(life.lease, { kind: "holders", limit: 1 });
        } catch (cause) {
          // A failure of an earlier life says nothing about this one.
          if (this.#life === life) throw cause;
        }
      }),
    );
  }

  /** Requests that wait for an answer. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** Who waits for limits and pauses. Undefined: it has no life. */
  get scheduler(): Scheduler | undefined {
    return this.#life?.partition.scheduler;
  }

  /** The values of this moment, for metrics. Undefined: it has no life. */
  gauges(): PartitionGauges | undefined {
    return this.#life && gaugesOf(this.#life, this.#options.store);
  }

  /** How many invocations are in each status (`STATUSES`). Undefined: not counted in `timeoutMs`. */
  async statusCounts(timeoutMs: number): Promise<ByHandler | undefined> {
    const statusCounts = this.#life?.statusCounts;
    if (!statusCounts || !this.#options.store.scanStatuses) return undefined;
    const counts = await statusCounts.within(timeoutMs);
    return this.#life?.statusCounts === statusCounts ? counts : undefined;
  }

  /** Limits or pauses have changed: who may start now does. */
  controlsChanged(): void {
    this.#life?.partition.scheduler.controlsChanged();
  }

  /** Ends the current life and begins no other. Does not wait: durable rows need nothing more. */
  close(): void {
    this.#isClosed = true;
    if (this.#life) this.#end(this.#life);
    this.#waiters.fail(Failure.plain(503, "the server is shutting down"));
  }

  #admit(): Partition {
    const partition = this.#life?.partition;
    if (!partition || this.#options.isHeld?.() === false) throw new Untaken(this.#why());
    if (partition.waiting < this.#options.mailboxEventsMax) return partition;
    throw Failure.plain(503, "the server is overloaded, retry later");
  }

  /** Where rows that disagree with each other are logged and counted. */
  get #disagreements(): DisagreementLog {
    const { log, range: { partition } } = this.#options;
    return { log, meter: this.#meter, partition };
  }

  #begin(lease: Lease): Life {
    const life: Life = beginLife(lease, this.#options, {
      meter: this.#meter,
      release: (effects) => this.#release(life, effects),
      prepare: (effects) => openEarly(life.attempts, effects),
      onFailure: (cause) => this.#failed(life, cause),
      onRefused: (event, cause) => this.#refused(event, cause),
      onCorrected: (corrected) => logCorrected(corrected, this.#disagreements),
    });
    return life;
  }

  /** Refuses an event that needs a row which cannot be decoded. All others go on. */
  #refused(event: Event, cause: Unreadable): void {
    const { log, range: { partition } } = this.#options;
    const { message, code, table, group } = cause;
    log("error", message, { code, partition, table, key: group, event: event.type });
    this.#waiters.refused(event, cause);
  }

  #release(life: Life, effects: readonly Effect[]): void {
    proceedFirst(life.attempts, effects);
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
        case "armTimer":
          life.timers.add(effect);
          break;
        case "forward":
          life.outboxSender.add(effect);
          break;
        default:
          unreachable(effect);
      }
    }
    this.#restarts = 0;
  }

  #failed(life: Life, cause: unknown): void {
    if (!this.#life) this.#failedEarly = { cause };
    if (this.#life !== life) return;
    const { log, range: { partition } } = this.#options;
    log("error", "The partition stopped and starts again", { partition, cause: String(cause) });
    this.#meter.restarts++;
    this.#readiness.failed(cause);
    this.#end(life);
    this.#waiters.fail(this.#unavailable());
    this.#restart(cause);
  }

  #end(life: Life): void {
    if (this.#life === life) this.#life = undefined;
    endLife(life);
  }

  #restart(cause: unknown): void {
    if (this.#isClosed || this.#isOver(cause)) return;
    const { clock, log, range: { partition } } = this.#options;
    const delay = Math.min(RESTART_MAX_MS, RESTART_MS * 2 ** this.#restarts++);
    clock.at(clock.now() + delay, () => {
      if (this.#isClosed) return;
      this.open().catch((cause) => {
        log("error", "The partition cannot start", { partition, cause: String(cause) });
        this.#readiness.failed(cause);
        this.#restart(cause);
      });
    });
  }

  /** Whether another process has claimed the partition, and keeps it. */
  #isOver(cause: unknown): boolean {
    const { onFenced } = this.#options;
    if (!onFenced || !(cause instanceof Fenced)) return false;
    this.#isClosed = true;
    onFenced();
    return true;
  }

  #unavailable(): Failure {
    return Failure.plain(503, this.#why());
  }

  #why(): string {
    const { known } = this.#readiness;
    const why = known ? ` (${printUnready(known)})` : "";
    return `the partition is not available right now${why}; ` +
      "repeating is safe only with an idempotency key";
  }
}
