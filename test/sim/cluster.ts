import type { Event } from "../../src/engine/event.ts";
import type { InvocationRow } from "../../src/model/invocation.ts";
import type { Rows, Write } from "../../src/model/rows.ts";
import type { Schema } from "../../src/model/schema.ts";
import { Client, type Plan, plan } from "./clients.ts";
import { Injected } from "./connection.ts";
import { Disk } from "./disk.ts";
import { CALM, type Faults, type Limits } from "./faults.ts";
import { History } from "./history.ts";
import { check } from "./invariants.ts";
import { Broken, must } from "./must.ts";
import { Process, type System } from "./process.ts";
import { Operator } from "./operators.ts";
import { AIMS } from "./program.ts";
import { simulatedSchema } from "./schema.ts";
import type { Asking } from "./asking.ts";
import { Warden } from "./warden.ts";
import type { World } from "./world.ts";

/** More places to go than `AIMS`, each once or twice. */
const ALL_AIMS = [
  ...AIMS,
  ...["flow/w1/run", "flow/w1/run", "flow/w2/run", "flow/w1/ask", "flow/w1/ask", "flow/w2/ask"],
  ...["brittle/pause", "icebox/i/put"],
];

/** After so long nothing that a dead process sent is on its way any more. */
const SETTLE_MS = 1_000;
/** How long after its moment a timer may still be there, when nothing else goes on. */
const LATE_MS = 150;

export interface ClusterOptions {
  readonly world: World;
  readonly system: System;
  readonly faults: Faults;
  readonly limits: Limits;
}

/** Server processes that come and go over a disk that outlives them, with their clients. */
export class Cluster {
  readonly disk = new Disk();
  readonly history: History;
  readonly clients: Client[] = [];
  /** The first promise that was broken. */
  failure: unknown;
  deaths = 0;
  #faults: Faults;
  #processes: Process[] = [];
  #names = 0;
  #calmAt = Infinity;
  readonly #options: ClusterOptions;
  readonly #schema: Schema;

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.history = new History(options.world);
    this.#faults = options.faults;
    this.#schema = simulatedSchema(options.limits.eagerStateBytesMax);
    this.#boot();
  }

  /** Sets `count` clients on the server, each at a moment between two, in milliseconds. */
  invite({ count, from, to }: { count: number; from: number; to: number }): void {
    const { world } = this.#options;
    const plans: Plan[] = [], known = this.clients.length;
    for (let n = 0; n < count; n++) plans.push(plan(world, known + n, ALL_AIMS));
    for (const one of plans) {
      const client = new Client(one, this.#asking());
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
  }

  #asking(): Asking {
    return {
      world: this.#options.world,
      history: this.history,
      faults: () => this.#faults,
      route: () => this.#route(),
      failed: (cause) => this.failed(cause),
    };
  }

  /** Lets a second owner in, and the wall clock jump, while there are faults. */
  haunt(untilMs: number): void {
    const { world } = this.#options, { chance } = world;
    if (this.#faults.secondOwner) {
      for (let n = chance.int(1, 3); n > 0; n--) {
        world.after(chance.int(0, untilMs), () => this.#faults.secondOwner && this.#boot());
      }
    }
    for (let at = 0; this.#faults.clockStepMs > 0 && at < untilMs; at += 500) {
      world.after(at + chance.int(0, 500), () => {
        const most = Math.round(this.#faults.clockStepMs);
        if (most > 0) world.step(chance.int(-most, most));
      });
    }
  }

  /** Ends all faults. Of several owners only the one that has the lease stays. */
  calm(): void {
    const { world } = this.#options;
    world.log("calm");
    const { secondOwner } = this.#faults;
    this.#faults = CALM;
    this.#calmAt = world.mono;
    for (const process of this.#processes) {
      if (!secondOwner || !process.isStale) continue;
      if (world.chance.happens(0.5)) process.kill();
      else this.#close(process);
    }
    if (this.#processes.length === 0) this.#bootIn(SETTLE_MS);
    // A claim of the dead may still have arrived, and who has nothing to write would never notice.
    world.after(SETTLE_MS, () => {
      for (const process of this.#processes) if (process.isStale) process.kill();
    });
    void new Warden(this.#asking()).live(() => this.failure !== undefined);
  }

  /** Whether there is nothing left to do, nor to wait for. */
  isDone(): boolean {
    this.#guard(() => this.#punctual());
    if (this.failure !== undefined) return true;
    if (!this.clients.every(({ isDone }) => isDone)) return false;
    return this.history.unfinished.size === 0 && this.attempts === 0 &&
      this.disk.all("timer").length === 0;
  }

  /** Attempts in flight. */
  get attempts(): number {
    return this.#processes.reduce((sum, { open }) => sum + open, 0);
  }

  /** Requests that a server still thinks somebody waits for. */
  get waiting(): number {
    return this.#processes.reduce((sum, { host }) => sum + host.waiting, 0);
  }

  failed(cause: unknown): void {
    if (this.failure !== undefined) return;
    this.#options.world.log(`broken: ${String(cause)}`);
    this.failure = cause;
  }

  /** When all is quiet, timers fire when they are due: not at the next nap, or restart. */
  #punctual(): void {
    const { world, faults } = this.#options;
    const born = this.#processes.at(-1)?.bornAt ?? Infinity;
    const since = Math.max(this.#calmAt, born);
    if (faults.clockStepMs > 0 || world.mono < since + SETTLE_MS) return;
    for (const { id, due } of this.disk.all("timer")) {
      must(world.wall < due + LATE_MS, () => `A timer of "${id}" is ${world.wall - due} ms late`);
    }
  }

  #route(): Process | undefined {
    const { chance } = this.#options.world;
    if (this.#processes.length === 0) return undefined;
    return chance.happens(0.3) ? chance.pick(this.#processes) : this.#processes.at(-1);
  }

  #boot(): void {
    const { world, system, limits } = this.#options;
    const news: (() => void)[] = [];
    const process: Process = new Process(this.#names++, {
      world,
      system,
      limits,
      disk: this.disk,
      schema: this.#schema,
      faults: () => this.#faults,
      committed: (epoch, writes) => {
        world.log(`commit ${epoch} of ${writes.length}`);
        this.#guard(() => {
          this.history.commit(writes, epoch);
          check(this.disk, this.history);
          for (const told of news.splice(0)) told();
          if (epoch === this.disk.epoch) news.push(...this.#news(process, writes));
        });
        this.#alarm(process, writes);
      },
      history: this.history,
      told: (effect) => this.#guard(() => this.history.told(effect)),
      failed: (cause) => this.failed(cause),
      died: (dead) => this.#buried(dead),
    });
    world.log(`boot of process ${process.name}`);
    this.#processes.push(process);
    process.host.open().catch((cause) => {
      if (!process.isAlive) return;
      if (!(cause instanceof Injected)) this.failed(new Broken("Cannot open", { cause }));
      // What a supervisor does with a server that cannot start.
      process.kill();
    });
  }

  /** What attempts in flight must have been told of a commit, by the time of the next. */
  #news(process: Process, writes: readonly Write[]): (() => void)[] {
    return writes.flatMap(({ table, row, drop }) => {
      // What a later turn of the same commit has changed is not what was to be told.
      if (table === "invocation") {
        return orders(process, this.history.story((row as Rows["invocation"]).id).row);
      }
      if (table !== "journal" || drop) return [];
      const { id, index, entry } = row as Rows["journal"];
      const { status, attempt } = this.history.story(id).row;
      if (entry.kind !== "notification" || status.kind !== "invoked") return [];
      // Of a life that this commit has ended and begun anew.
      if (this.disk.find("journal", id, index)?.entry !== entry) return [];
      return [() => process.mustHaveTold(id, attempt, index)];
    });
  }

  /** Somebody says that a timer is due or a retention over, too early or once more. */
  #alarm(process: Process, writes: readonly Write[]): void {
    const { world } = this.#options, { chance } = world;
    const say = (ms: number, event: Event) => world.after(ms, () => process.inject(event));
    for (const { table, row } of writes) {
      if (!chance.happens(this.#faults.falseAlarm)) continue;
      if (table === "timer") {
        const timer = row as Rows["timer"];
        say(timer.due - world.wall + chance.int(-100, 200), { ...timer, type: "timerFired" });
      } else if (table === "invocation") {
        say(chance.int(0, 300), { type: "expired", id: (row as Rows["invocation"]).id });
      }
    }
  }

  #buried(dead: Process): void {
    const { world } = this.#options;
    this.deaths++;
    this.#processes = this.#processes.filter((one) => one !== dead);
    if (this.#processes.length === 0) {
      this.#bootIn(this.#calmAt < Infinity ? SETTLE_MS : world.chance.int(1, 400));
    }
  }

  #bootIn(ms: number): void {
    this.#options.world.after(ms, () => {
      if (this.#processes.length === 0) this.#boot();
    });
  }

  #close(process: Process): void {
    this.#processes = this.#processes.filter((one) => one !== process);
    process.host.close();
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (cause) {
      this.failed(cause);
    }
  }
}

/** What the runner of an attempt must have been told to do. */
function orders(process: Process, { id, attempt, status, pausing }: InvocationRow): (() => void)[] {
  if (pausing) return [() => process.mustHaveYielded(id, attempt)];
  const isKilled = status.kind === "completed" && status.failure?.message === "killed";
  return isKilled ? [() => process.mustBeOver(id, attempt)] : [];
}
