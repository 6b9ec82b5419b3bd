import type { Chance } from "./chance.ts";
import { Injected } from "./connection.ts";
import type { Faults, Limits } from "./faults.ts";
import { Broken } from "./must.ts";
import { Process } from "./process.ts";
import { Seat, type SeatOptions } from "./seat.ts";
import type { World } from "./world.ts";

/** After so long nothing that a dead process sent is on its way any more. */
export const SETTLE_MS = 1_000;

export interface OwnersOptions {
  readonly world: World;
  readonly faults: () => Faults;
  readonly limits: Limits;
  /** What a seat of a partition needs. */
  readonly seatOf: (partition: number) => SeatOptions;
  readonly failed: (cause: unknown) => void;
}

/** Processes, and what they own or believe to own. */
export interface Owning {
  readonly deaths: number;
  /** Every seat that somebody has. */
  readonly seats: readonly Seat[];
  /** Who should have a partition, of those that have. */
  last(partition: number): Seat | undefined;
  /** Whom one asks, who wants something of a partition. */
  route(partition: number): Seat | undefined;
  /** Lets everything befall processes and partitions that a seed has in store, until then. */
  haunt(untilMs: number): void;
  /** Nothing befalls anybody any more. */
  calm(): void;
  /** What is still to be decided, when nothing befalls anybody any more. */
  readonly unsettled: string | undefined;
}

/** A hand that gives partitions to processes, and is often wrong, slow or two-minded. */
export class Owners implements Owning {
  deaths = 0;
  readonly #options: OwnersOptions;
  #processes: Process[] = [];
  /** By partition: those that live, in the order in which they came. */
  readonly #seats: Seat[][];
  #names = 0;
  #isCalm = false;

  constructor(options: OwnersOptions) {
    this.#options = options;
    const { partitions, processes } = options.limits;
    this.#seats = Array.from({ length: partitions }, () => []);
    for (let n = 0; n < processes; n++) this.#boot();
    for (let n = 0; n < partitions; n++) this.#open(n, this.#processes[n % processes]);
  }

  get seats(): readonly Seat[] {
    return this.#seats.flat();
  }

  last(partition: number): Seat | undefined {
    return this.#seats[partition]?.at(-1);
  }

  route(partition: number): Seat | undefined {
    const seats = this.#seats[partition] ?? [], { chance } = this.#options.world;
    if (seats.length === 0) return undefined;
    return chance.happens(0.3) ? chance.pick(seats) : seats.at(-1);
  }

  haunt(untilMs: number): void {
    const { world, faults } = this.#options, { chance } = world;
    const { secondOwner, moves, freezes, clockStepMs } = faults();
    const sometimes = (times: number, call: () => void) => {
      for (let n = times; n > 0; n--) {
        world.after(chance.int(0, untilMs), () => this.#isCalm || call());
      }
    };
    sometimes(secondOwner ? chance.int(1, 3) : 0, () => this.#open(this.#any(chance)));
    sometimes(moves, () => this.#move(this.#any(chance)));
    sometimes(freezes, () => this.#freeze());
    sometimes(clockStepMs > 0 ? Math.ceil(untilMs / 500) : 0, () => {
      const most = Math.round(clockStepMs);
      for (const process of this.#processes) {
        if (chance.happens(0.5)) process.step(chance.int(-most, most));
      }
    });
  }

  /** Wherever somebody is needed, somebody was. */
  readonly unsettled = undefined;

  /** Of several owners only the one that has the lease stays. */
  calm(): void {
    const { world } = this.#options, { chance } = world;
    this.#isCalm = true;
    for (const process of this.#processes) process.recover();
    for (const seats of [...this.#seats]) {
      if (seats.length < 2) continue;
      for (const seat of seats.filter(({ isStale }) => isStale)) {
        if (chance.happens(0.5)) seat.process.kill();
        else this.#close(seat);
      }
    }
    // A claim of the dead may still have arrived, and who has nothing to write would never notice.
    world.after(SETTLE_MS, () => {
      for (const seat of this.seats) if (seat.isStale) this.#close(seat);
    });
  }

  #any(chance: Chance): number {
    return chance.int(0, this.#seats.length - 1);
  }

  #boot(): Process {
    const { world, faults } = this.#options;
    const process = new Process(this.#names++, { world, faults, died: (one) => this.#buried(one) });
    world.log(`boot of process ${process.name}`);
    this.#processes.push(process);
    return process;
  }

  /** Whoever has the partition is not asked. */
  #open(partition: number, process = this.#somebody(partition)): void {
    const { world, failed, seatOf } = this.#options;
    const seats = this.#seats[partition] ?? [];
    const seat = new Seat(process, seatOf(partition));
    world.log(`process ${process.name} takes partition ${partition}`);
    seats.push(seat);
    seat.host.open().catch((cause) => {
      if (!seat.isAlive || seat.isClosed) return;
      if (!(cause instanceof Injected)) failed(new Broken("Cannot open", { cause }));
      // What a supervisor does with a server that cannot start.
      if (world.chance.happens(0.5)) process.kill();
      else this.#close(seat);
    });
    // Whoever was overtaken learns of it sooner or later, if it has not noticed itself.
    if (seats.length < 2 || world.chance.happens(0.5)) return;
    world.after(world.chance.int(100, 1_500), () => {
      for (const one of [...seats]) if (seats.length > 1 && one.isStale) this.#close(one);
    });
  }

  /** A process that can take a partition and does not have it yet. */
  #somebody(partition: number): Process {
    const { chance } = this.#options.world, seats = this.#seats[partition] ?? [];
    const able = this.#processes.filter((process) =>
      !process.isFrozen && !seats.some((seat) => seat.process === process)
    );
    return able.length === 0 || chance.happens(0.2) ? this.#boot() : chance.pick(able);
  }

  #close(seat: Seat): void {
    const { partition } = seat.place, { world } = this.#options;
    if (!seat.isClosed) {
      world.log(`process ${seat.process.name} leaves partition ${partition}`);
    }
    seat.close();
    this.#leave(seat);
  }

  /** Where nobody is left, somebody comes. */
  #leave(seat: Seat): void {
    const { partition } = seat.place, { world } = this.#options;
    const left = (this.#seats[partition] ?? []).filter((one) => one !== seat);
    this.#seats[partition]?.splice(0, Infinity, ...left);
    if (left.length > 0) return;
    const ms = this.#isCalm ? SETTLE_MS : world.chance.int(1, 400);
    world.after(ms, () => this.#seats[partition]?.length === 0 && this.#open(partition));
  }

  #move(partition: number): void {
    const seat = this.last(partition);
    if (seat && !seat.process.isFrozen) this.#close(seat);
  }

  /** Somebody is stopped, and others take what it has; perhaps it comes back before that. */
  #freeze(): void {
    const { world } = this.#options, { chance } = world;
    if (this.#processes.length === 0) return;
    const process = chance.pick(this.#processes);
    process.freeze();
    world.after(chance.int(50, 2_500), () => process.thaw());
    for (const { process: one, place: { partition } } of this.seats) {
      if (one !== process) continue;
      world.after(chance.int(20, 800), () => {
        if (!this.#isCalm && this.last(partition)?.process === process) this.#open(partition);
      });
    }
  }

  #buried(dead: Process): void {
    this.deaths++;
    this.#processes = this.#processes.filter((one) => one !== dead);
    for (const seat of this.seats) if (seat.process === dead) this.#leave(seat);
  }
}
