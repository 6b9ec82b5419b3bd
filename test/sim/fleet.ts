import type { Log } from "../../src/ports.ts";
import type { MembershipAgentOptions } from "../../src/placement/membership_agent.ts";
import { MembershipConnection, MembershipRows } from "./membership.ts";
import { Broken } from "./must.ts";
import { type OwnersOptions, type Owning, SETTLE_MS } from "./owners.ts";
import { Process } from "./process.ts";
import { PartitionOwner } from "./partition_owner.ts";

export interface SimulatedAgent {
  readonly id: string;
  isHeld(): boolean;
  join(): Promise<void>;
  refresh(): void;
  lost(partition: number): void;
  leave(): Promise<void>;
}

export interface FleetOptions extends OwnersOptions {
  readonly MembershipAgent: new (options: MembershipAgentOptions) => SimulatedAgent;
}

/** A process, and what the real membership agent makes it serve. */
interface Member {
  readonly process: Process;
  /** Its address: who comes in its place has the same. */
  readonly slot: number;
  readonly agent: SimulatedAgent;
  readonly owners: Map<number, PartitionOwner>;
}

const HEARTBEAT_MS = 100;
const LEASE_MS = 600;

/** Processes whose membership agents decide, by heartbeats in the database, who owns which partition. */
export class Fleet implements Owning {
  deaths = 0;
  readonly #options: FleetOptions;
  readonly #rows: MembershipRows;
  #members: Member[] = [];
  #names = 0;
  #nodes = 0;
  #calmAt = Infinity;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#rows = new MembershipRows(options.limits.partitions);
    for (let slot = 0; slot < options.limits.processes; slot++) this.#boot(slot);
  }

  get all(): readonly PartitionOwner[] {
    return this.#members.flatMap(({ owners }) => [...owners.values()]);
  }

  last(partition: number): PartitionOwner | undefined {
    const owner = this.#rows.owner(partition);
    return this.#members.find(({ agent }) => agent.id === owner)?.owners.get(partition);
  }

  route(partition: number): PartitionOwner | undefined {
    const { chance } = this.#options.world;
    const owners = this.all.filter(({ place }) => place.partition === partition);
    if (owners.length === 0) return undefined;
    return chance.happens(0.3) ? chance.pick(owners) : this.last(partition) ?? owners.at(-1);
  }

  haunt(untilMs: number): void {
    const { world, faults } = this.#options, { chance } = world;
    const { secondOwner, moves, freezes, clockStepMs } = faults();
    const sometimes = (times: number, call: (member: Member) => void) => {
      for (let n = times; n > 0; n--) {
        world.after(chance.int(0, untilMs), () => {
          if (this.#calmAt === Infinity && this.#members.length > 0) {
            call(chance.pick(this.#members));
          }
        });
      }
    };
    sometimes(moves, (member) => this.#leave(member));
    sometimes(chance.int(0, 2), () => this.#boot(this.#freeSlot()));
    sometimes(freezes + (freezes > 0 ? 1 : 0), ({ process }) => {
      process.freeze();
      world.after(chance.int(50, 2_500), () => process.thaw());
    });
    sometimes(secondOwner ? chance.int(1, 2) : 0, ({ process }) => {
      world.log(`process ${process.name} is cut off`);
      process.isCut = true;
      world.after(chance.int(50, 2_000), () => process.isCut = false);
    });
    sometimes(clockStepMs > 0 ? Math.ceil(untilMs / 500) : 0, ({ process }) => {
      const most = Math.round(clockStepMs);
      process.step(chance.int(-most, most));
    });
  }

  controlsChanged(): void {
    for (const owner of this.all) owner.controlsChanged();
  }

  calm(): void {
    const { world } = this.#options;
    this.#calmAt = world.mono;
    for (const { process } of this.#members) process.recover();
  }

  /** Whether not everybody has a share, nobody more than that, and serves it. */
  get unsettled(): string | undefined {
    const { partitions } = this.#options.limits, count = this.#members.length;
    for (const { agent, owners, process: { name } } of this.#members) {
      const { size } = owners;
      if (size !== Math.floor(partitions / count) && size !== Math.ceil(partitions / count)) {
        return `Process ${name} has ${size} of ${partitions}, and there are ${count}`;
      }
      for (const partition of owners.keys()) {
        const owner = this.#rows.owner(partition);
        if (owner !== agent.id) return `Process ${name} has ${partition} of "${owner}"`;
      }
    }
    return count === 0 ? "Nobody is there" : undefined;
  }

  #freeSlot(): number {
    for (let slot = 0;; slot++) {
      if (!this.#members.some((member) => member.slot === slot)) return slot;
    }
  }

  #boot(slot: number): void {
    const { world, faults, MembershipAgent, failed } = this.#options;
    const process = new Process(this.#names++, { world, faults, died: () => this.#gone(member) });
    world.log(`boot of process ${process.name}`);
    const agent = new MembershipAgent({
      address: `http://p${slot}`,
      membership: new MembershipConnection({ world, faults, process, rows: this.#rows }),
      newId: () => `n${this.#nodes++}`,
      stopwatch: process.stopwatch(),
      clock: { now: () => process.now },
      log: this.#log(process),
      heartbeatMs: HEARTBEAT_MS,
      leaseMs: LEASE_MS,
      open: (partition) => this.#open(member, partition),
      close: (partition) => this.#close(member, partition),
      seen: () => {},
      notifyOthers: () => this.#rouse(member),
    });
    const member: Member = { process, slot, agent, owners: new Map() };
    this.#members.push(member);
    agent.join().catch((cause) => {
      if (!process.isAlive) return;
      if (String(cause).startsWith("Injected:")) process.kill();
      else failed(new Broken("Cannot join", { cause }));
    });
  }

  async #open(member: Member, partition: number): Promise<void> {
    const { world, ownerOf } = this.#options, { process, agent } = member;
    this.#drop(member, partition);
    world.log(`process ${process.name} takes partition ${partition}`);
    const owner: PartitionOwner = new PartitionOwner(process, {
      ...ownerOf(partition),
      held: {
        isHeld: () => agent.isHeld(),
        mayClaim: () => this.#rows.owner(partition) === agent.id,
        onFenced: () => {
          if (member.owners.get(partition) === owner) this.#drop(member, partition);
          agent.lost(partition);
        },
      },
    });
    member.owners.set(partition, owner);
    try {
      await owner.host.open();
    } catch (cause) {
      if (member.owners.get(partition) === owner) this.#drop(member, partition);
      throw cause;
    }
  }

  async #close(member: Member, partition: number): Promise<void> {
    const owner = member.owners.get(partition);
    this.#drop(member, partition);
    await owner?.drained();
  }

  #drop({ owners, process }: Member, partition: number): void {
    const owner = owners.get(partition);
    if (!owner) return;
    this.#options.world.log(`process ${process.name} leaves partition ${partition}`);
    owners.delete(partition);
    owner.close();
  }

  /** Goes in order, and another one comes. */
  #leave(member: Member): void {
    const { process, agent } = member;
    if (process.isFrozen) return;
    const gone = () => process.run(() => process.kill());
    agent.leave().then(gone, gone);
  }

  #rouse(from: Member): void {
    const { world, faults } = this.#options, { chance } = world;
    for (const { process, agent } of this.#members) {
      if (process === from.process || chance.happens(faults().outboxBatchLost)) continue;
      world.after(chance.int(0, 20), () => process.run(() => agent.refresh()));
    }
  }

  #gone(member: Member): void {
    const { world } = this.#options, { chance } = world;
    this.deaths++;
    this.#members = this.#members.filter((one) => one !== member);
    // Some are replaced soon, some late; somebody has to be there.
    if (this.#members.length > 0 && chance.happens(0.3)) return;
    world.after(chance.int(1, 1_000), () => this.#boot(this.#freeSlot()));
  }

  #log({ name }: Process): Log {
    const { world, failed } = this.#options;
    return (level, message, fields) => {
      const cause = String(fields?.["cause"] ?? ""), id = fields?.["id"];
      world.log(`membership agent ${name} says ${level} ${message} ${id ?? ""}${cause}`);
      if (cause !== "" && !/^(Injected|Fenced):/.test(cause)) {
        return failed(new Broken(`${message}: ${cause}`));
      }
      if (!message.startsWith("Another process is taken") || !this.#isQuiet) return;
      const isAlive = this.#members.some(({ agent }) => agent.id === id);
      if (isAlive) failed(new Broken(`"${id}" lives, and is taken for dead`));
    };
  }

  get #isQuiet(): boolean {
    return this.#options.world.mono > this.#calmAt + SETTLE_MS;
  }
}
