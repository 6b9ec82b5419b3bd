import type { FleetMember, FleetView, Membership } from "../../src/placement/membership.ts";
import { Injected } from "./connection.ts";
import type { Faults } from "./faults.ts";
import type { Process } from "./process.ts";
import type { World } from "./world.ts";

/** The rows of members and of owners of partitions, as `placement/membership.ts` keeps them. */
export class MembershipRows {
  readonly #nodes = new Map<string, { readonly address: string; beat: number }>();
  readonly #owners: (string | undefined)[];

  constructor(partitions: number) {
    this.#owners = Array.from({ length: partitions }, () => undefined);
  }

  /** Whose a partition is. Who is struck off owns nothing, and may claim nothing. */
  owner(partition: number): string | undefined {
    const owner = this.#owners[partition];
    return owner !== undefined && this.#nodes.has(owner) ? owner : undefined;
  }

  join({ id, address }: FleetMember, takesPlace: boolean): void {
    for (const [other, node] of takesPlace ? this.#nodes : []) {
      if (node.address === address && other !== id) this.#nodes.delete(other);
    }
    if (!this.#nodes.has(id)) this.#nodes.set(id, { address, beat: 0 });
  }

  beat(id: string): FleetView {
    const node = this.#nodes.get(id);
    if (node) node.beat++;
    return {
      nodes: this.nodes().map((one) => ({ ...one, beat: this.#nodes.get(one.id)?.beat ?? 0 })),
      owners: [...this.#owners],
      registry: 0,
    };
  }

  nodes(): FleetMember[] {
    return [...this.#nodes].map(([id, { address }]) => ({ id, address }))
      .sort((a, b) => a.id < b.id ? -1 : 1);
  }

  evict(id: string, beat: number): void {
    if (this.#nodes.get(id)?.beat === beat) this.#nodes.delete(id);
  }

  take(partitions: readonly number[], id: string): void {
    if (!this.#nodes.has(id)) return;
    for (const partition of partitions) {
      if (this.owner(partition) === undefined) this.#owners[partition] = id;
    }
  }

  give(partitions: readonly number[], id: string): void {
    for (const partition of partitions) {
      if (this.#owners[partition] === id) this.#owners[partition] = undefined;
    }
  }

  leave(id: string): void {
    this.#nodes.delete(id);
  }
}

export interface MembershipConnectionOptions {
  readonly world: World;
  readonly faults: () => Faults;
  readonly process: Process;
  readonly rows: MembershipRows;
}

/** After so long a request has no response. */
const TIMEOUT_MS = 100;

/**
 * One process's way to membership. What it asks may be lost, or be done and not be answered, or be
 * done long after it has given up.
 */
export class MembershipConnection implements Membership {
  readonly #options: MembershipConnectionOptions;

  constructor(options: MembershipConnectionOptions) {
    this.#options = options;
  }

  join(node: FleetMember, takesPlace: boolean): Promise<void> {
    return this.#ask((rows) => rows.join(node, takesPlace));
  }

  beat(id: string): Promise<FleetView> {
    return this.#ask((rows) => rows.beat(id));
  }

  nodes(): Promise<readonly FleetMember[]> {
    return this.#ask((rows) => rows.nodes());
  }

  evict(id: string, beat: number): Promise<void> {
    return this.#ask((rows) => rows.evict(id, beat));
  }

  take(partitions: readonly number[], id: string): Promise<void> {
    return this.#ask((rows) => rows.take(partitions, id));
  }

  give(partitions: readonly number[], id: string): Promise<void> {
    return this.#ask((rows) => rows.give(partitions, id));
  }

  leave(id: string): Promise<void> {
    return this.#ask((rows) => rows.leave(id));
  }

  #ask<T>(work: (rows: MembershipRows) => T): Promise<T> {
    const { world, process, rows, faults } = this.#options, { chance } = world;
    const { batchLost, ackLost, commitMs } = faults();
    const isLost = chance.happens(batchLost), isUnheard = chance.happens(ackLost);
    const isLate = isUnheard && chance.happens(0.5);
    const out = isLate ? chance.int(0, 1_000) : chance.int(0, commitMs);
    if (!process.touch()) return new Promise(() => {});
    const { isCut } = process;
    return new Promise((resolve, reject) => {
      const back = (ms: number, call: () => void) => world.after(ms, () => process.run(call));
      const giveUp = back(TIMEOUT_MS + commitMs * 2, () => reject(new Injected("No answer")));
      if (isLost || isCut) return;
      world.after(out, () => {
        const answer = work(rows);
        if (isUnheard) return;
        giveUp();
        back(chance.int(0, commitMs), () => resolve(answer));
      });
    });
  }
}
