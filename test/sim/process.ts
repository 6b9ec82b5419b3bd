import type { Clock, Stopwatch } from "../../src/ports.ts";
import type { Faults } from "./faults.ts";
import type { World } from "./world.ts";

export interface ProcessOptions {
  readonly world: World;
  readonly faults: () => Faults;
  readonly died: (process: Process) => void;
  /** It reads the clock of this one, which began at the same moment. Absent: one of its own. */
  readonly clockOf?: Process | undefined;
}

/**
 * One server process. It dies by falling silent: nothing calls it any more and nothing it does is
 * seen. Any touch of the outside may be its last, so it can die between any two of its steps. One
 * that is frozen hears everything later, and believes that no time has passed.
 */
export class Process {
  readonly name: number;
  isAlive = true;
  /** It cannot reach the database. */
  isCut = false;
  /** Told before it freezes. */
  readonly onFreeze: (() => void)[] = [];
  readonly #options: ProcessOptions;
  readonly #bornAt: number;
  /** How far its clock was off at first, and how much faster than others it goes. */
  readonly #skewMs: number;
  readonly #drift: number;
  #stepMs = 0;
  /** What its parts put off, to let others go first. */
  #soons = 0;
  #isFrozen = false;
  /** What came while it was frozen, and since, until all of it has been heard. */
  readonly #held: (() => void)[] = [];

  constructor(name: number, options: ProcessOptions) {
    this.name = name;
    this.#options = options;
    const { world, faults, clockOf } = options, { clockSkewMs, clockDrift } = faults();
    this.#bornAt = world.mono;
    if (clockOf) {
      [this.#skewMs, this.#drift] = [clockOf.#skewMs, clockOf.#drift];
      return;
    }
    this.#skewMs = world.chance.int(-Math.round(clockSkewMs), Math.round(clockSkewMs));
    this.#drift = clockDrift === 0 ? 0 : (world.chance.next() * 2 - 1) * clockDrift;
  }

  /** Whether its parts have done what they put off to let others go first. */
  get isAtRest(): boolean {
    return this.#soons === 0;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** What its clock shows. */
  get now(): number {
    const { world } = this.#options;
    const drift = this.#drift * (world.mono - this.#bornAt);
    return world.saw(Math.round(world.wall + this.#skewMs + this.#stepMs + drift));
  }

  /** Sets its clock, `ms` away from where it would be by itself. */
  step(ms: number): void {
    this.#stepMs = ms;
  }

  /** The clock that its parts are lent. */
  clock(): Clock {
    const { world, faults } = this.#options;
    return {
      now: () => this.now,
      // Like a timeout: what the wall clock does meanwhile changes nothing.
      at: (due, call) =>
        this.#after(due - this.now + world.chance.int(0, faults().timerLateMs), call),
      soon: (call) => {
        this.#soons++;
        this.#after(0, () => {
          this.#soons--;
          call();
        });
      },
    };
  }

  /** As `clock`, of time that only passes: the pace is its own. */
  stopwatch(): Stopwatch {
    const pace = 1 + this.#drift, { world } = this.#options;
    return {
      now: () => (world.mono - this.#bornAt) * pace,
      after: (ms, call) => this.#after(Math.ceil(ms / pace), call),
    };
  }

  /** Whether the process still lives; asking may be its last act. */
  touch(): boolean {
    const { world, faults } = this.#options;
    if (this.isAlive && world.chance.happens(faults().crash)) this.kill();
    return this.isAlive;
  }

  /** Something reaches it: now, when it is frozen no more, or never. */
  run(call: () => void): void {
    if (!this.isAlive) return;
    if (this.#isFrozen || this.#held.length > 0) this.#held.push(call);
    else call();
  }

  freeze(): void {
    if (!this.isAlive || this.#isFrozen) return;
    this.#options.world.log(`process ${this.name} freezes`);
    for (const call of this.onFreeze) call();
    this.#isFrozen = true;
  }

  thaw(): void {
    const { world } = this.#options;
    if (!this.isAlive || !this.#isFrozen) return;
    this.#isFrozen = false;
    world.log(`process ${this.name} thaws`);
    world.after(0, () => this.#catchUp());
  }

  /** Nothing is wrong with it any more, but for what its clock was off from the beginning. */
  recover(): void {
    this.isCut = false;
    this.#stepMs = 0;
    this.thaw();
  }

  kill(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.#options.world.log(`death of process ${this.name}`);
    this.#options.died(this);
  }

  /** Hears what it missed, one after another; what comes meanwhile waits behind it. */
  #catchUp(): void {
    if (!this.isAlive || this.#isFrozen) return;
    const [call] = this.#held;
    if (!call) return;
    call();
    this.#held.shift();
    this.#options.world.after(0, () => this.#catchUp());
  }

  #after(ms: number, call: () => void): () => void {
    let isCanceled = false;
    const ring = () => !isCanceled && this.touch() && call();
    const cancel = this.#options.world.after(ms, () => this.run(ring));
    return () => {
      isCanceled = true;
      cancel();
    };
  }
}
