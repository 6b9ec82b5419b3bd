import type { Want, Write } from "../../src/model/rows.ts";
import type { Lease, Loaded, Store } from "../../src/ports.ts";
import type { Scan, ScanRow } from "../../src/scan.ts";
import type { Disk } from "./disk.ts";
import type { Faults } from "./faults.ts";
import { Broken } from "./must.ts";
import { inPages } from "./pages.ts";
import type { Process } from "./process.ts";
import type { World } from "./world.ts";

/** A fault of ours, to be told from a bug of theirs. */
export class Injected extends Error {
  override name = "Injected";
}

/** A fleet's word on who may have a partition. */
export interface Held {
  readonly isHeld: () => boolean;
  /** Whether the database lets this process claim it, at this moment. */
  readonly mayClaim: () => boolean;
  readonly onFenced: () => void;
}

/** What a server counts at a moment. */
export interface SlotsView {
  readonly counts: ReadonlyMap<string, { readonly used: number; readonly reserved: number }>;
  /** The places of its grants whose turns have not run. */
  readonly grants: ReadonlySet<number>;
}

/** What was so when a commit was handed over: that its turns have run, and no later ones. */
export interface HandOver {
  /** The first and the last change of the controls that its turns may have seen. */
  readonly since: number;
  readonly until: number;
  readonly view: SlotsView | undefined;
  /** That of the commit before it. */
  readonly before: SlotsView | undefined;
  /** The time of its owner, in milliseconds since the epoch. */
  readonly now: number;
}

export interface ConnectionOptions {
  readonly world: World;
  readonly disk: Disk;
  readonly faults: () => Faults;
  /** Who uses it. */
  readonly process: Process;
  readonly failed: (cause: unknown) => void;
  readonly held: Held | undefined;
  /** The error of a store for a writer that has lost its lease. */
  readonly Fenced: new (message?: string) => Error;
  /** Larger groups are loaded in pages of as many rows. */
  readonly pageRowsMax: number;
  /** A commit with writes is on its way. Returns what is told when it has reached the disk. */
  readonly handedOver: () => HandOver;
  /** A commit has reached the disk. `handOver`: absent without writes. */
  readonly committed: (epoch: number, writes: readonly Write[], handOver?: HandOver) => void;
}

/**
 * One process's way to the disk: slow, and not to be trusted. It keeps the contract of `Store` and
 * not more: reads see every commit handed over before them, but may be answered long after later
 * commits were; a dead process's last batch may still arrive.
 */
export class Connection implements Store {
  readonly #options: ConnectionOptions;
  /** A commit without writes is on its way: whether the lease still holds. */
  isConfirming = false;
  /** When the last commit handed over reaches the disk. */
  #lastApply = 0;
  #epoch = 0;
  readonly #inFlight = new Set<number>();
  /** Epochs of which a commit was rejected: all later ones are, too. */
  readonly #broken = new Set<number>();

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Whether another process has claimed the partition since this process did. */
  get isStale(): boolean {
    return this.#epoch < this.#options.disk.epoch;
  }

  async claim(partition: number): Promise<Lease> {
    const { disk, held, world, faults, process, Fenced } = this.#options;
    const epoch = await this.#read(-1, () => {
      if (held && !held.mayClaim()) return undefined;
      disk.claimedAt = world.mono;
      disk.claimedBy = process.name;
      if (world.chance.happens(faults().bankDamaged)) disk.damageBank(partition, world.chance);
      return disk.claim();
    });
    if (epoch === undefined) throw new Fenced("Somebody else is the owner");
    this.#epoch = epoch;
    return { partition, epoch };
  }

  load({ epoch }: Lease, wants: readonly Want[]): Promise<readonly Loaded[]> {
    const { disk, pageRowsMax } = this.#options;
    return this.#read(epoch, () => inPages(disk.load(wants), pageRowsMax));
  }

  scan<Q extends Scan>({ epoch }: Lease, scan: Q): Promise<readonly ScanRow<Q>[]> {
    return this.#read(epoch, () => this.#options.disk.scan(scan) as ScanRow<Q>[]);
  }

  commit({ epoch }: Lease, writes: readonly Write[]): Promise<void> {
    const { world, disk, process, committed, failed, Fenced } = this.#options;
    const { batchLost, ackLost, commitMs } = this.#options.faults();
    const { chance } = world;
    // A real store reads the rows while it hands them over; they must not change later.
    const rows = writes.map((write) => ({ ...write, row: { ...write.row } }));
    const isLost = chance.happens(batchLost) || process.isCut;
    const isUnheard = chance.happens(ackLost);
    const outlives = chance.happens(0.5);
    if (!process.touch()) return new Promise(() => {});
    if (this.#inFlight.has(epoch)) failed(new Broken("Two commits of one owner are in flight"));
    this.#inFlight.add(epoch);
    this.isConfirming = writes.length === 0;
    const handOver = writes.length === 0 ? undefined : this.#options.handedOver();
    return new Promise((resolve, reject) => {
      const back = (call: () => void) =>
        world.after(chance.int(0, commitMs), () => {
          this.#inFlight.delete(epoch);
          process.run(() => {
            this.isConfirming = false;
            call();
          });
        });
      world.after(this.#delay(commitMs), () => {
        if (!process.isAlive && !outlives) return;
        if (isLost || this.#broken.has(epoch)) {
          this.#broken.add(epoch);
          return back(() => reject(new Injected("The batch was lost")));
        }
        try {
          disk.apply(epoch, rows);
        } catch (cause) {
          return back(() => reject(new Fenced(String(cause))));
        }
        committed(epoch, rows, handOver);
        if (isUnheard) this.#broken.add(epoch);
        back(() => isUnheard ? reject(new Injected("The acknowledgement was lost")) : resolve());
      });
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Resolves when nothing of it is on its way any more. */
  drained(): Promise<void> {
    const { world, process } = this.#options;
    const ms = this.#lastApply - world.mono + 1;
    return new Promise((resolve) => world.after(ms, () => process.run(resolve)));
  }

  /** Not before any commit handed over earlier; what is handed over later may come before. */
  #delay(ms: number): number {
    const { world } = this.#options;
    this.#lastApply = Math.max(this.#lastApply, world.mono + world.chance.int(0, ms));
    return this.#lastApply - world.mono;
  }

  #read<T>(epoch: number, work: () => T): Promise<T> {
    const { world, process } = this.#options;
    const { readLost, loadMs } = this.#options.faults();
    const { chance } = world;
    const isLost = chance.happens(readLost) || process.isCut;
    const out = Math.max(this.#lastApply - world.mono, chance.int(0, loadMs));
    const back = chance.int(0, loadMs);
    if (!process.touch()) return new Promise(() => {});
    return new Promise((resolve, reject) => {
      world.after(out, () => {
        const answer = work();
        const respond = () => {
          if (isLost || this.#broken.has(epoch)) reject(new Injected("The store did not answer"));
          else resolve(answer);
        };
        world.after(back, () => process.run(respond));
      });
    });
  }
}
