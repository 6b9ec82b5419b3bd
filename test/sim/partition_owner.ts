import type { Effect } from "../../src/engine/effect.ts";
import type { Event } from "../../src/engine/event.ts";
import type { PartitionRange } from "../../src/model/ring.ts";
import type { Write } from "../../src/model/rows.ts";
import type { Log, Mailbox, OutboxBatch, PartitionClient } from "../../src/ports.ts";
import { Connection, type HandOver, type Held, type SlotsView } from "./connection.ts";
import type { Controllers } from "./controllers.ts";
import type { Disk } from "./disk.ts";
import type { Faults, Limits } from "./faults.ts";
import type { History } from "./history.ts";
import { Broken } from "./must.ts";
import type { Process } from "./process.ts";
import { Services } from "./services.ts";
import type { SimulatedHost, System } from "./system.ts";
import type { World } from "./world.ts";

/** A commit that has reached the disk. */
export interface OwnersCommit {
  readonly epoch: number;
  readonly writes: readonly Write[];
  /** Absent: it has no writes. */
  readonly handOver: HandOver | undefined;
}

export interface PartitionOwnerOptions {
  readonly system: System;
  readonly world: World;
  readonly place: PartitionRange;
  readonly disk: Disk;
  readonly faults: () => Faults;
  readonly limits: Limits;
  readonly controllers: Pick<Controllers, "at" | "schema" | "version">;
  readonly carry: (from: PartitionOwner, to: number, batch: OutboxBatch) => Promise<number>;
  readonly committed: (owner: PartitionOwner, commit: OwnersCommit) => void;
  readonly emitted: (effect: Effect) => void;
  readonly history: History;
  readonly failed: (cause: unknown) => void;
  /** In a fleet. */
  readonly held?: Held;
  /** Where a request of a connection comes in. Absent: at the partition itself. */
  readonly entrance?: (connection: number) => Entrance;
}

/** A thread that takes requests for partitions, also for those of other threads. */
export interface Entrance {
  readonly process: Process;
  readonly client: PartitionClient;
  /** Requests that it has not answered. */
  readonly pending: Set<object>;
}

/** How long a response of the store takes, at most. */
const HEARD_MS = 150;

/** Errors that a server may report: injected ones, and that another process has taken over. */
const EXPECTED = /^(Injected|Fenced):/;
/** Of another thread, which does not take a batch now. Where a network is between, it is injected. */
const NOT_TAKEN = /^(Untaken|Failure): the (server is overloaded|partition is not available)/;
/** Only damage is corrected. */
const CORRECTED = /^The slots of "[^"]*" were corrected/;

/** A process that owns a partition, or believes that it does. */
export class PartitionOwner {
  readonly process: Process;
  readonly place: PartitionRange;
  readonly host: SimulatedHost;
  /** Requests that it has not answered. */
  readonly pending = new Set<object>();
  isClosed = false;
  readonly #options: PartitionOwnerOptions;
  readonly #connection: Connection;
  #services: Services | undefined;
  #bornAt = 0;
  /** The change of the controls, and what it counted, when its life began or it last committed. */
  #seen = 0;
  #view: SlotsView | undefined;
  /** Was told since the last commit that its lease may be over: it may wait for the store's word. */
  #hasDoubted = false;
  /** It was stopped after the store had said that its lease holds, and before it had heard it. */
  #isExcused = false;

  constructor(process: Process, options: PartitionOwnerOptions) {
    this.process = process;
    this.place = options.place;
    this.#options = options;
    const { world, disk, faults, limits, system, failed, held } = options;
    this.#connection = new Connection({
      world,
      disk,
      faults,
      process,
      handedOver: () => this.#handedOver(),
      committed: (epoch, writes, handOver) => options.committed(this, { epoch, writes, handOver }),
      failed,
      held,
      pageRowsMax: limits.pageRowsMax,
      Fenced: system.Fenced,
    });
    process.onFreeze.push(() => this.#isExcused ||= this.#connection.isConfirming);
    this.host = new system.Host({
      range: this.place,
      sendBatch: (to, batch) => options.carry(this, to, batch),
      store: this.#connection,
      clock: process.clock(),
      log: this.#log,
      schema: () => options.controllers.schema,
      attempts: (send) => this.#services = this.#life(send),
      turnEventsMax: limits.turnEventsMax,
      releaseEffectsMax: limits.releaseEffectsMax,
      mailboxEventsMax: limits.mailboxEventsMax,
      residentBytesMax: limits.residentBytesMax,
      timersMax: limits.timersMax,
      queueWindow: limits.queueWindow,
      grantsMax: limits.grantsMax,
      subscriptionInboxMax: limits.inboxMax,
      priorityAgingMs: limits.priorityAgingMs,
      cleanupIntervalMs: 700,
      ...(held ? { isHeld: () => this.#isHeld(held), onFenced: held.onFenced } : {}),
    });
  }

  /** Whether it has done all that it could since the last commit. Asked once a commit. */
  hasCaughtUp(): boolean {
    const isDoubtful = this.#hasDoubted;
    this.#hasDoubted = false;
    return !isDoubtful && this.process.isAtRest;
  }

  #isHeld(held: Held): boolean {
    const isHeld = held.isHeld();
    this.#hasDoubted ||= !isHeld;
    return isHeld;
  }

  /** Whether another process has the lease. */
  get isStale(): boolean {
    return this.#connection.isStale;
  }

  /**
   * Whether it may not know that somebody else has the lease. In a fleet it must, but for as long as
   * it takes the store to say so.
   */
  get mayBeStale(): boolean {
    const { world, disk, held } = this.#options;
    if (!this.isStale) return false;
    // Its own process may have claimed it twice, and does nothing with one of them.
    const isOwn = disk.claimedBy === this.process.name;
    return !held || isOwn || this.#isExcused || world.mono <= disk.claimedAt + HEARD_MS;
  }

  get isAlive(): boolean {
    return this.process.isAlive;
  }

  /** Since when the partition lives, in simulated milliseconds. Infinity: it does not. */
  get bornAt(): number {
    return this.isAlive && this.#services?.isClosed === false ? this.#bornAt : Infinity;
  }

  /** Attempts in flight. */
  get open(): number {
    return this.#services?.open ?? 0;
  }

  /** Sends a request. Rejects as the partition client does; never settles if its process dies. */
  ask<T>(put: (client: PartitionClient) => Promise<T>, connection = 0): Promise<T> {
    const { process, client, pending } = this.#options.entrance?.(connection) ?? this.here;
    return new Promise((resolve, reject) => {
      process.run(() => {
        const token = {};
        pending.add(token);
        put(client).finally(() => pending.delete(token)).then((answer) => {
          // An owner of the past may say that it has no letters to hand out: the next one is asked again.
          if (!Array.isArray(answer) || answer.length > 0) this.#mustHold("answers");
          resolve(answer);
        }, reject);
      });
    });
  }

  /** The partition itself. */
  get here(): Entrance {
    return { process: this.process, client: this.host.partitionClient, pending: this.pending };
  }

  /** Tells it something, true or not. */
  inject(event: Event): void {
    this.#services?.post(event);
  }

  /** By the next commit, a running attempt has heard of an entry that the last one stored. */
  mustHaveNotified(id: string, attempt: number, index: number): void {
    if (this.isAlive) this.#services?.mustHaveHeard(id, attempt, index);
  }

  /** By the next commit, a running attempt was told to suspend. */
  mustHaveYielded(id: string, attempt: number): void {
    if (this.isAlive) this.#services?.mustHaveYielded(id, attempt);
  }

  /** By the next commit, the attempt of a killed invocation is gone. */
  mustBeOver(id: string, attempt: number): void {
    if (this.isAlive) this.#services?.mustBeOver(id, attempt);
  }

  /** Hears that limits or pauses have changed. */
  controlsChanged(): void {
    this.process.run(() => this.host.controlsChanged());
  }

  /** What it counts. Undefined: it has no life. */
  get slots(): SlotsView | undefined {
    const { scheduler } = this.host;
    if (!scheduler) return undefined;
    const counts = [...scheduler.counts()].filter(([name]) => name !== "grants")
      .map(([name, { used, reserved }]) => [name, { used, reserved }] as const)
      .filter(([, { used, reserved }]) => used !== 0 || reserved !== 0);
    return { counts: new Map(counts), grants: new Set(scheduler.grants) };
  }

  #handedOver(): HandOver {
    const until = this.#options.controllers.version, view = this.slots;
    const { now } = this.process;
    const handOver = { since: this.#seen, until, view, before: this.#view, now };
    this.#seen = until;
    this.#view = view;
    return handOver;
  }

  /** Resolves when nothing of it is written any more. */
  drained(): Promise<void> {
    return this.#connection.drained();
  }

  /** Leaves the partition in order. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.host.close();
  }

  readonly #log: Log = (level, message, fields) => {
    const { world, failed, place: { partition } } = this.#options;
    const cause = String(fields?.["cause"]);
    world.log(`process ${this.process.name} of ${partition} says ${level} ${message}: ${cause}`);
    if (!this.isAlive || EXPECTED.test(cause)) return;
    if (message === "Messages for another partition wait" && NOT_TAKEN.test(cause)) return;
    if (this.#options.disk.wasDamaged && CORRECTED.test(message)) return;
    // Who lost its lease may load rows that do not go with those it has, and stumble over them. It
    // stops, as it must, and nothing of it is durable.
    if (this.#connection.isStale && cause.startsWith("Bug:")) return;
    failed(new Broken(`${message}: ${cause}`));
  };

  #life(send: Mailbox): Services {
    const { world, faults, limits, emitted, failed, history } = this.#options;
    this.#isExcused = false;
    this.#bornAt = world.mono;
    this.#seen = this.#options.controllers.version;
    this.#view = undefined;
    if (this.#services?.isClosed === false) {
      failed(new Broken("A life began before the last ended"));
    }
    return new Services({
      world,
      faults,
      limits,
      controllers: this.#options.controllers,
      emitted: (effect) => {
        emitted(effect);
        if (effect.type === "attempt") this.#mustHold(`begins "${effect.invocation.id}"`);
      },
      history,
      failed,
      touch: () => this.process.touch(),
      send: (event) => this.process.run(() => send(event)),
      isAlive: () => this.isAlive,
      closed: () => this.#mustAnswer(),
    });
  }

  /** Nobody does anything with a partition that it knows, or should know, to be another's. */
  #mustHold(what: string): void {
    if (!this.isStale || this.mayBeStale) return;
    const { name } = this.process, { partition } = this.place;
    this.#options.failed(new Broken(`Process ${name} ${what}, and ${partition} is another's`));
  }

  /** When a life of the partition ends, every waiter gets an error at once. */
  #mustAnswer(): void {
    const { world, failed } = this.#options;
    const waiting = [...this.pending];
    world.after(0, () => {
      if (!this.isAlive || !waiting.some((one) => this.pending.has(one))) return;
      failed(new Broken(`Process ${this.process.name} forgot somebody who waits`));
    });
  }
}
