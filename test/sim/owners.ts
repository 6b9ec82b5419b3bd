import type { Chance } from "./chance.ts";
import { Injected } from "./connection.ts";
import type { Faults, Limits } from "./faults.ts";
import { Broken } from "./must.ts";
import { Process } from "./process.ts";
import { PartitionOwner, type PartitionOwnerOptions } from "./partition_owner.ts";
import type { World } from "./world.ts";

/** After so long nothing that a dead process sent is on its way any more. */
export const SETTLE_MS = 1_000;

export interface OwnersOptions {
  readonly world: World;
  readonly faults: () => Faults;
  readonly limits: Limits;
  /** What an owner of a partition needs. */
  readonly ownerOf: (partition: number) => PartitionOwnerOptions;
  readonly failed: (cause: unknown) => void;
}

/** Processes, and what they own or believe to own. */
export interface Owning {
  readonly deaths: number;
  /** All owners of all partitions, former ones included. */
  readonly all: readonly PartitionOwner[];
  /** Who should have a partition, of those that have. */
  last(partition: number): PartitionOwner | undefined;
  /** The owner that a request for a partition is sent to. */
  route(partition: number): PartitionOwner | undefined;
  /** Lets everything befall processes and partitions that a seed has in store, until then. */
  haunt(untilMs: number): void;
  /** Limits or pauses have changed: everybody hears of it. */
  controlsChanged(): void;
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
  readonly #owners: PartitionOwner[][];
  #names = 0;
  #isCalm = false;

  constructor(options: OwnersOptions) {
    this.#options = options;
    const { partitions, processes } = options.limits;
    this.#owners = Array.from({ length: partitions }, () => []);
    for (let n = 0; n < processes; n++) this.#boot();
    for (let n = 0; n < partitions; n++) this.#open(n, this.#processes[n % processes]);
  }

  get all(): readonly PartitionOwner[] {
    return this.#owners.flat();
  }

  last(partition: number): PartitionOwner | undefined {
    return this.#owners[partition]?.at(-1);
  }

  route(partition: number): PartitionOwner | undefined {
    const owners = this.#owners[partition] ?? [], { chance } = this.#options.world;
    if (owners.length === 0) return undefined;
    return chance.happens(0.3) ? chance.pick(owners) : owners.at(-1);
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

  controlsChanged(): void {
    for (const owner of this.all) owner.controlsChanged();
  }

  /** Wherever somebody is needed, somebody was. */
  readonly unsettled = undefined;

  /** Of several owners only the one that has the lease stays. */
  calm(): void {
    const { world } = this.#options, { chance } = world;
    this.#isCalm = true;
    for (const process of this.#processes) process.recover();
    for (const owners of [...this.#owners]) {
      if (owners.length < 2) continue;
      for (const owner of owners.filter(({ isStale }) => isStale)) {
        if (chance.happens(0.5)) owner.process.kill();
        else this.#close(owner);
      }
    }
    // A claim of the dead may still have arrived, and who has nothing to write would never notice.
    world.after(SETTLE_MS, () => {
      for (const owner of this.all) if (owner.isStale) this.#close(owner);
    });
  }

  #any(chance: Chance): number {
    return chance.int(0, this.#owners.length - 1);
  }

  #boot(): Process {
    const { world, faults } = this.#options;
    const process = new Process(this.#names++, { world, faults, died: (one) => this.#died(one) });
    world.log(`boot of process ${process.name}`);
    this.#processes.push(process);
    return process;
  }

  /** Whoever has the partition is not asked. */
  #open(partition: number, process = this.#somebody(partition)): void {
    const { world, failed, ownerOf } = this.#options;
    const owners = this.#owners[partition] ?? [];
    const owner = new PartitionOwner(process, ownerOf(partition));
    world.log(`process ${process.name} takes partition ${partition}`);
    owners.push(owner);
    owner.host.open().catch((cause) => {
      if (!owner.isAlive || owner.isClosed) return;
      if (!(cause instanceof Injected)) failed(new Broken("Cannot open", { cause }));
      // What a supervisor does with a server that cannot start.
      if (world.chance.happens(0.5)) process.kill();
      else this.#close(owner);
    });
    // Whoever was overtaken learns of it sooner or later, if it has not noticed itself.
    if (owners.length < 2 || world.chance.happens(0.5)) return;
    world.after(world.chance.int(100, 1_500), () => {
      for (const one of [...owners]) if (owners.length > 1 && one.isStale) this.#close(one);
    });
  }

  /** A process that can take a partition and does not have it yet. */
  #somebody(partition: number): Process {
    const { chance } = this.#options.world, owners = this.#owners[partition] ?? [];
    const able = this.#processes.filter((process) =>
      !process.isFrozen && !owners.some((owner) => owner.process === process)
    );
    return able.length === 0 || chance.happens(0.2) ? this.#boot() : chance.pick(able);
  }

  #close(owner: PartitionOwner): void {
    const { partition } = owner.place, { world } = this.#options;
    if (!owner.isClosed) {
      world.log(`process ${owner.process.name} leaves partition ${partition}`);
    }
    owner.close();
    this.#leave(owner);
  }

  /** Where nobody is left, somebody comes. */
  #leave(owner: PartitionOwner): void {
    const { partition } = owner.place, { world } = this.#options;
    const left = (this.#owners[partition] ?? []).filter((one) => one !== owner);
    this.#owners[partition]?.splice(0, Infinity, ...left);
    if (left.length > 0) return;
    const ms = this.#isCalm ? SETTLE_MS : world.chance.int(1, 400);
    world.after(ms, () => this.#owners[partition]?.length === 0 && this.#open(partition));
  }

  #move(partition: number): void {
    const owner = this.last(partition);
    if (owner && !owner.process.isFrozen) this.#close(owner);
  }

  /** Somebody is stopped, and others take what it has; perhaps it comes back before that. */
  #freeze(): void {
    const { world } = this.#options, { chance } = world;
    if (this.#processes.length === 0) return;
    const process = chance.pick(this.#processes);
    process.freeze();
    world.after(chance.int(50, 2_500), () => process.thaw());
    for (const { process: one, place: { partition } } of this.all) {
      if (one !== process) continue;
      world.after(chance.int(20, 800), () => {
        if (!this.#isCalm && this.last(partition)?.process === process) this.#open(partition);
      });
    }
  }

  #died(dead: Process): void {
    this.deaths++;
    this.#processes = this.#processes.filter((one) => one !== dead);
    for (const owner of this.all) if (owner.process === dead) this.#leave(owner);
  }
}
