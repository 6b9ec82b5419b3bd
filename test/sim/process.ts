import type { Effect } from "../../src/engine/effect.ts";
import type { Event } from "../../src/engine/event.ts";
import type { Write } from "../../src/model/rows.ts";
import type { Schema } from "../../src/model/schema.ts";
import type { HostOptions } from "../../src/partition/host.ts";
import type { Clock, Invocations, Log, Mailbox } from "../../src/ports.ts";
import { Connection } from "./connection.ts";
import type { Disk } from "./disk.ts";
import type { Faults, Limits } from "./faults.ts";
import type { History } from "./history.ts";
import { Broken } from "./must.ts";
import { Services } from "./services.ts";
import type { World } from "./world.ts";

/** What is simulated: the real `Host`, or a sabotaged one. */
export interface System {
  readonly Host: new (options: HostOptions) => SimulatedHost;
}

export interface SimulatedHost {
  readonly requests: Invocations;
  /** Requests that wait for an answer. */
  readonly waiting: number;
  open(): Promise<void>;
  close(): void;
}

export interface ProcessOptions {
  readonly system: System;
  readonly world: World;
  readonly disk: Disk;
  readonly faults: () => Faults;
  readonly limits: Limits;
  readonly schema: Schema;
  readonly committed: (epoch: number, writes: readonly Write[]) => void;
  readonly told: (effect: Effect) => void;
  readonly history: History;
  readonly failed: (cause: unknown) => void;
  readonly died: (process: Process) => void;
}

/** Errors that a server may report: ours, and that somebody else took over. */
const EXPECTED = /^(Injected|Fenced):/;

/**
 * One server process. It dies by falling silent: nothing calls it any more and nothing it does is
 * seen. Any touch of the outside may be its last, so it can die between any two of its steps.
 */
export class Process {
  readonly name: number;
  readonly host: SimulatedHost;
  isAlive = true;
  /** Requests of clients that it has not answered, each with when it was put. */
  readonly pending = new Set<object>();
  readonly #options: ProcessOptions;
  readonly #connection: Connection;
  #services: Services | undefined;
  #bornAt = 0;

  constructor(name: number, options: ProcessOptions) {
    this.name = name;
    this.#options = options;
    const { world, disk, faults, limits, committed, system, failed } = options;
    const touch = () => this.touch(), isAlive = () => this.isAlive;
    this.#connection = new Connection({ world, disk, faults, touch, isAlive, committed, failed });
    this.host = new system.Host({
      partition: 0,
      store: this.#connection,
      clock: this.#clock(),
      log: this.#log,
      schema: () => options.schema,
      attempts: (send) => this.#services = this.#life(send),
      turnEventsMax: limits.turnEventsMax,
      mailboxEventsMax: limits.mailboxEventsMax,
      residentBytesMax: limits.residentBytesMax,
      timersMax: limits.timersMax,
      cleanupIntervalMs: 700,
    });
  }

  /** Whether somebody else has the lease. */
  get isStale(): boolean {
    return this.#connection.isStale;
  }

  /** Since when the partition lives, in simulated milliseconds. Infinity: it does not. */
  get bornAt(): number {
    return this.isAlive && this.#services?.isClosed === false ? this.#bornAt : Infinity;
  }

  /** Attempts in flight. */
  get open(): number {
    return this.#services?.open ?? 0;
  }

  /** Whether the process still lives; asking may be its last act. */
  touch(): boolean {
    const { world, faults } = this.#options;
    if (this.isAlive && world.chance.happens(faults().crash)) this.kill();
    return this.isAlive;
  }

  /** Tells it something, true or not. */
  inject(event: Event): void {
    this.#services?.post(event);
  }

  /** By the next commit, a running attempt has heard of an entry that the last one stored. */
  mustHaveTold(id: string, attempt: number, index: number): void {
    if (this.isAlive) this.#services?.mustHaveHeard(id, attempt, index);
  }

  /** By the next commit, a running attempt was told to come to rest. */
  mustHaveYielded(id: string, attempt: number): void {
    if (this.isAlive) this.#services?.mustHaveYielded(id, attempt);
  }

  /** By the next commit, the attempt of somebody who was killed is gone. */
  mustBeOver(id: string, attempt: number): void {
    if (this.isAlive) this.#services?.mustBeOver(id, attempt);
  }

  kill(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.#options.world.log(`death of process ${this.name}`);
    this.#options.died(this);
  }

  #clock(): Clock {
    const { world, faults } = this.#options;
    const after = (ms: number, call: () => void) => world.after(ms, () => this.touch() && call());
    return {
      now: () => world.wall,
      // Like a timeout: what the wall clock does meanwhile changes nothing.
      at: (due, call) => after(due - world.wall + world.chance.int(0, faults().timerLateMs), call),
      soon: (call) => void after(0, call),
    };
  }

  readonly #log: Log = (level, message, fields) => {
    const { world, failed } = this.#options;
    const cause = String(fields?.["cause"]);
    world.log(`process ${this.name} says ${level} ${message}: ${cause}`);
    if (!this.isAlive || EXPECTED.test(cause)) return;
    // Who lost its lease may load rows that do not go with those it has, and stumble over them. It
    // stops, as it must, and nothing of it is durable.
    if (this.#connection.isStale && cause.startsWith("Bug:")) return;
    failed(new Broken(`${message}: ${cause}`));
  };

  #life(send: Mailbox): Services {
    const { world, faults, limits, told, failed, history } = this.#options;
    const isAlive = () => this.isAlive;
    this.#bornAt = world.mono;
    if (this.#services?.isClosed === false) {
      failed(new Broken("A life began before the last ended"));
    }
    return new Services({
      world,
      faults,
      limits,
      told,
      history,
      failed,
      isAlive,
      touch: () => this.touch(),
      send: (event) => send(event),
      closed: () => this.#mustAnswer(),
    });
  }

  /** When a life of the partition ends, everybody who waits for it is told so at once. */
  #mustAnswer(): void {
    const { world, failed } = this.#options;
    const waiting = [...this.pending];
    world.after(0, () => {
      if (!this.isAlive || !waiting.some((one) => this.pending.has(one))) return;
      failed(new Broken(`Process ${this.name} forgot somebody who waits`));
    });
  }
}
