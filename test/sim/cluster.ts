import type { Event } from "../../src/engine/event.ts";
import type { Effect } from "../../src/engine/effect.ts";
import type { Rows, Write } from "../../src/model/rows.ts";
import { ALL_AIMS, Client, type Plan, plan } from "./clients.ts";
import { Disks } from "./disks.ts";
import { Controllers } from "./controllers.ts";
import { CALM, type Faults, type Limits } from "./faults.ts";
import { Fleet } from "./fleet.ts";
import { History } from "./history.ts";
import { LimitChecks } from "./limit_checks.ts";
import { check } from "./invariants.ts";
import { must } from "./must.ts";
import { Network } from "./network.ts";
import { notificationChecks } from "./notified.ts";
import { Operator } from "./operators.ts";
import { Owners, type Owning, SETTLE_MS } from "./owners.ts";
import type { Asking } from "./asking.ts";
import type { OwnersCommit, PartitionOwner, PartitionOwnerOptions } from "./partition_owner.ts";
import type { System } from "./system.ts";
import { Resolver } from "./resolver.ts";
import { Threads } from "./threads.ts";
import { Topics } from "./topics.ts";
import type { World } from "./world.ts";

/** How long after its moment a timer may still be there, when nothing else goes on. */
const LATE_MS = 150;

/**
 * How long one may wait whom nothing holds back, when nothing else goes on. Another partition may have the
 * slot in reserve, and wait for its start itself, for a period of a second.
 */
const START_MS = 3_000;

export interface ClusterOptions {
  readonly world: World;
  readonly system: System;
  readonly faults: Faults;
  readonly limits: Limits;
}

/** Server processes that come and go over disks that outlive them, with their clients. */
export class Cluster {
  readonly disks: Disks;
  readonly history: History;
  readonly clients: Client[] = [];
  readonly owners: Owning;
  topics: Topics | undefined;
  /** The first promise that was broken. */
  failure: unknown;
  #faults: Faults;
  #calmAt = Infinity;
  readonly #options: ClusterOptions;
  readonly #controllers: Controllers;
  readonly #checked: LimitChecks;
  /** Those that wait though they may start, and since when; and when to see about them again. */
  #startable = new Map<string, number>();
  #startsAt = 0;
  readonly #network: Network;
  /** What is to be seen before an owner commits again. */
  readonly #checks = new Map<PartitionOwner, (() => void)[]>();

  constructor(options: ClusterOptions) {
    this.#options = options;
    const { world, faults, limits } = options;
    this.disks = new Disks(limits.partitions);
    this.history = new History(world, limits.partitions);
    this.#faults = faults;
    this.#controllers = new Controllers(world, limits);
    const { disks, history } = this, controllers = this.#controllers;
    this.#checked = new LimitChecks({ controllers, disks, history, faults, limits });
    this.#network = new Network({
      world,
      faults: () => this.#faults,
      history: this.history,
      route: (partition) => this.owners.route(partition),
      failed: (cause) => this.failed(cause),
    });
    const around = {
      world,
      limits,
      faults: () => this.#faults,
      ownerOf: (partition: number) => this.#ownerOf(partition),
      failed: (cause: unknown) => this.failed(cause),
    };
    const { MembershipAgent, ThreadPeers } = options.system;
    controllers.changed = () => this.owners.controlsChanged();
    const threads = Math.min(limits.threads, limits.partitions);
    const shared = { history, controllers, ThreadPeers };
    if (threads > 1) this.owners = new Threads({ ...around, ...shared, threads });
    else if (limits.isFleet) this.owners = new Fleet({ ...around, MembershipAgent });
    else this.owners = new Owners(around);
  }

  /** Sets `count` clients on the server, each at a moment between two, in milliseconds. */
  invite({ count, from, to }: { count: number; from: number; to: number }): void {
    const { world, limits } = this.#options;
    const plans: Plan[] = [], known = this.clients.length;
    for (let n = 0; n < count; n++) {
      plans.push(plan(world, { number: known + n, aims: ALL_AIMS, limits }));
    }
    for (const one of plans) {
      const client = new Client(one, this.#asking(this.clients.length));
      this.history.names.set(one.name, one.id);
      this.clients.push(client);
      world.after(world.chance.int(from, to), () => void client.live());
    }
  }

  /** Lets some people meddle with what goes on, until faults are over. */
  meddle(untilMs: number): void {
    const { world } = this.#options;
    for (let n = world.chance.pick([0, 1, 1, 2, 3]); n > 0; n--) {
      void new Operator(`op${n}`, this.#asking()).live(untilMs);
    }
    this.#controllers.meddle(untilMs);
  }

  /** Gives it topics, which are written within `ms`. */
  feed(ms: number): void {
    const { limits, system: { Router } } = this.#options;
    const ownerOf = (at: number) => this.owners.route(at);
    this.topics = new Topics({ ...this.#asking(), limits, Router, ownerOf, disks: this.disks });
    this.topics.feed(ms);
  }

  /** Each asks over a connection of its own. Without it: operators, whose interface one thread has. */
  #asking(connection = 0): Asking {
    return {
      world: this.#options.world,
      history: this.history,
      faults: () => this.#faults,
      route: (id) => this.owners.route(this.history.deliveries.whereIs(id)),
      failed: (cause) => this.failed(cause),
      connection,
    };
  }

  /** Ends all faults. */
  calm(): void {
    const { world } = this.#options;
    world.log("calm");
    this.#faults = CALM;
    this.#calmAt = world.mono;
    this.owners.calm();
    this.#controllers.calm();
    void new Resolver(this.#asking()).live(() => this.failure !== undefined);
  }

  /** Slots and queues that a server still has, and banks that are wrong, when all is done. */
  get leftOver(): string | undefined {
    const { uncorrected } = this.#checked;
    if (uncorrected !== undefined) return `the bank of "${uncorrected}" is not corrected`;
    for (const partition of this.disks.each.keys()) {
      const owner = this.owners.last(partition);
      const counts = owner?.slots?.counts ?? [], waiting = owner?.host.scheduler?.waiting ?? 0;
      const names = [...counts].map(([name]) => name);
      if (names.length + waiting > 0) {
        return `${waiting} queues wait, slots are taken of "${names}"`;
      }
    }
    return undefined;
  }

  /** Whether there is nothing left to do, nor to wait for. */
  isDone(): boolean {
    this.#guard(() => this.#punctual());
    this.#guard(() => this.#mustStart());
    if (this.failure !== undefined) return true;
    if (!this.clients.every(({ isDone }) => isDone) || this.topics?.isConsumed === false) {
      return false;
    }
    return this.history.unfinished.size === 0 && this.attempts === 0 &&
      this.disks.all("timer").length === 0 && this.history.deliveries.isQuiet;
  }

  /** Attempts in flight. */
  get attempts(): number {
    return this.owners.all.reduce((sum, { open }) => sum + open, 0);
  }

  /** Requests that a server still considers as waiting. */
  get waiting(): number {
    return this.owners.all.reduce((sum, { host }) => sum + host.waiting, 0);
  }

  failed(cause: unknown): void {
    if (this.failure !== undefined) return;
    this.#options.world.log(`broken: ${String(cause)}`);
    this.failure = cause;
  }

  /** When all is quiet, timers fire when they are due: not at the next nap, or restart. */
  #punctual(): void {
    const { world, faults } = this.#options;
    if (faults.clockStepMs > 0 || world.mono <= this.#calmAt + SETTLE_MS) return;
    // In the last moment of settling, owners of the past are closed. An alarm may have been set before
    // it was calm. Its turn may have no effect, and then its commit waits for a timer, too.
    const lateMs = LATE_MS + 2 * faults.timerLateMs;
    this.disks.each.forEach((disk, partition) => {
      const timers = disk.all("timer"), owner = this.owners.last(partition);
      if (timers.length === 0 || world.mono < (owner?.bornAt ?? Infinity) + SETTLE_MS) return;
      const now = owner?.process.now ?? 0;
      for (const { id, due } of timers) {
        must(now < due + lateMs, () => `A timer of "${id}" is ${now - due} ms late`);
      }
    });
  }

  /** When all is quiet, nobody waits whom nothing holds back. */
  #mustStart(): void {
    const { world } = this.#options;
    if (world.mono <= this.#calmAt + SETTLE_MS || world.mono < this.#startsAt) return;
    this.#startsAt = world.mono + START_MS / 20;
    const before = this.#startable;
    this.#startable = new Map();
    const isFar = this.disks.all("outbox").length > 0;
    // A bucket gets its tokens by the clock of its own process.
    const buckets = this.disks.each.flatMap((disk, home) => {
      const now = this.owners.last(home)?.process.now ?? 0;
      return disk.all("bucket").map((row) => ({ row, home, now }));
    });
    const { slots } = this.#checked;
    slots.forEach((check, partition) => {
      const owner = this.owners.last(partition);
      if (world.mono < (owner?.bornAt ?? Infinity) + SETTLE_MS) return;
      for (const id of check.startable({ buckets, all: slots, isFar })) {
        const since = before.get(id) ?? world.mono;
        this.#startable.set(id, since);
        must(world.mono - since < START_MS, () => `"${id}" waits, and nothing holds it back`);
      }
    });
  }

  #ownerOf(partition: number): PartitionOwnerOptions {
    const { world, system, limits } = this.#options;
    return {
      world,
      system,
      limits,
      place: { partition, partitions: limits.partitions },
      disk: this.disks.of(partition),
      controllers: this.#controllers,
      faults: () => this.#faults,
      carry: (owner, to, batch) => this.#network.carry(owner, to, batch),
      committed: (owner, commit) => this.#committed(owner, commit),
      history: this.history,
      emitted: (effect: Effect) => this.#guard(() => this.history.emitted(effect)),
      failed: (cause) => this.failed(cause),
    };
  }

  #committed(owner: PartitionOwner, { epoch, writes, handOver }: OwnersCommit): void {
    const { world } = this.#options, { partition } = owner.place;
    world.log(`commit ${partition}/${epoch} of ${writes.length}`);
    // Only asks whether the lease still holds, before anything else is done.
    if (writes.length === 0) return;
    this.#guard(() => {
      this.history.commit(writes, { epoch, partition });
      check(this.disks, this.history);
      this.topics?.commit(writes, partition);
      if (handOver) this.#checked.commit(partition, { ...handOver, writes });
      const checks = this.#checks.get(owner) ?? [];
      // Effects go out in batches.
      if (owner.hasCaughtUp()) { for (const check of checks.splice(0)) check(); }
      if (epoch === this.disks.of(partition).epoch) {
        checks.push(...notificationChecks(owner, writes, this));
      }
      this.#checks.set(owner, checks);
    });
    this.#alarm(owner, writes);
  }

  /** Somebody says that a timer is due or a retention over, too early or once more. */
  #alarm(owner: PartitionOwner, writes: readonly Write[]): void {
    const { world } = this.#options, { chance } = world;
    const say = (ms: number, event: Event) => world.after(ms, () => owner.inject(event));
    for (const { table, row } of writes) {
      if (!chance.happens(this.#faults.falseAlarm)) continue;
      if (table === "timer") {
        const timer = row as Rows["timer"];
        const due = timer.due - owner.process.now;
        say(due + chance.int(-100, 200), { ...timer, type: "timerFired" });
      } else if (table === "invocation") {
        say(chance.int(0, 300), { type: "expired", id: (row as Rows["invocation"]).id });
      }
    }
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (cause) {
      this.failed(cause);
    }
  }
}
