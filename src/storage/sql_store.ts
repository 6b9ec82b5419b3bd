import type { Want, Write } from "../model/rows.ts";
import {
  type Backlog,
  type Clock,
  Fenced,
  type InvocationStatus,
  type Lease,
  type Loaded,
  type Scan,
  type ScanRow,
  type SqlClient,
  type StatusPage,
  type Store,
} from "../ports.ts";
import { Failure } from "../errors.ts";
import { FencedWriter, type OnDurable } from "./log/fenced_writer.ts";
import { Owner, type OwnerLimits } from "./owner.ts";
import { withReadRetries } from "./retry.ts";
import { raiseEpoch, recover, type RecoverLimits } from "./log/recover.ts";

export interface SqlStoreOptions extends Partial<OwnerLimits> {
  /** Absent: nothing is folded for being idle, and folds do not wait for new commits. */
  readonly clock?: Clock;
  /** Whether commits of a damaged log are given up (`recover`). Absent: a claim rejects then. */
  readonly acceptLoss?: RecoverLimits["acceptLoss"];
  readonly onDurable?: OnDurable | undefined;
  /** Bytes from which on a value of an event is written ahead of its commit. Absent: none is. */
  readonly stagedBytesMin?: number | undefined;
  /** In a fleet: the name of this process now, which must own what it claims (decision 032). */
  readonly owner?: () => string;
}

/** A fold of the default size keeps about 10 MB in memory and takes some 30 ms of the database. */
const DEFAULTS: OwnerLimits = {
  foldRowsMax: 8000,
  foldBytesMax: 4 * 1024 * 1024,
  foldIdleMs: 1000,
  retryMs: 30_000,
  sliceRowsMax: 250,
  sliceBytesMax: 512 * 1024,
  rowBytesMax: 1024 * 1024,
  pieceBytes: 256 * 1024,
  refBytesMin: 64 * 1024,
  overlaps: false,
};

/**
 * Rows in an SQL database that `migrate` has prepared. A commit is one appended row of a log;
 * behind it, rows are folded into tables that people can query. Nobody can tell from `load` and
 * `scan` where a row stands.
 *
 * One store may own several partitions. A group belongs to one partition for good, as its ids and
 * keys decide. The client may be shared, and stays open when the store is closed.
 */
export class SqlStore implements Store {
  readonly #client: SqlClient;
  /** As `SqlStoreOptions` has it. */
  readonly stagedBytesMin: number | undefined;
  readonly #limits: OwnerLimits;
  readonly #clock: Clock | undefined;
  readonly #name: (() => string) | undefined;
  readonly #acceptLoss: RecoverLimits["acceptLoss"];
  readonly #onDurable: OnDurable | undefined;
  readonly #owners = new Map<number, Owner>();
  #isClosed = false;

  constructor(client: SqlClient, options: SqlStoreOptions = {}) {
    const { clock, owner, acceptLoss, onDurable, stagedBytesMin, ...limits } = options;
    this.stagedBytesMin = stagedBytesMin;
    this.#clock = clock;
    this.#onDurable = onDurable;
    this.#acceptLoss = acceptLoss;
    this.#name = owner;
    this.#limits = { ...DEFAULTS, ...limits };
    this.#client = withReadRetries(client, { clock, retryMs: this.#limits.retryMs });
  }

  /**
   * Also the way back after a failed commit: what was handed over and not acknowledged is either
   * in the database or forgotten. Rejects with `Fenced` when another claim overtakes this one, and
   * with `Failure` RT0028 when the log is damaged.
   */
  async claim(partition: number): Promise<Lease> {
    this.#owners.get(partition)?.stop(new Fenced());
    const retry = { clock: this.#clock, retryMs: this.#limits.retryMs };
    const owner = this.#name?.();
    const lease = await raiseEpoch(this.#client, partition, { ...retry, owner });
    const writer = new FencedWriter(this.#client, lease, { ...retry, onDurable: this.#onDurable });
    const recovering = { ...this.#limits, acceptLoss: this.#acceptLoss };
    await recover(this.#client, { lease, writer }, recovering);
    const other = this.#owners.get(partition);
    if (this.#isClosed) throw closed();
    if (other && other.lease.epoch > lease.epoch) throw new Fenced();
    other?.stop(new Fenced());
    this.#owners.set(
      partition,
      new Owner(this.#client, { lease, writer }, { ...this.#limits, clock: this.#clock }),
    );
    return lease;
  }

  load(lease: Lease, wants: readonly Want[]): Promise<readonly Loaded[]> {
    const owner = this.#owner(lease);
    return owner instanceof Owner ? owner.load(wants) : Promise.reject(owner);
  }

  commit(lease: Lease, writes: readonly Write[]): Promise<void> {
    const owner = this.#owner(lease);
    return owner instanceof Owner ? owner.commit(writes) : Promise.reject(owner);
  }

  /**
   * Makes large bytes durable ahead of the commit that will hold views of them, in pieces between which
   * other commits go. Rejects as `commit` does.
   */
  stage(lease: Lease, bytes: Uint8Array): Promise<() => void> {
    const owner = this.#owner(lease);
    return owner instanceof Owner ? owner.stage(bytes) : Promise.reject(owner);
  }

  scan<Q extends Scan>(lease: Lease, scan: Q): Promise<readonly ScanRow<Q>[]> {
    const owner = this.#owner(lease);
    return owner instanceof Owner ? owner.scan(scan) : Promise.reject(owner);
  }

  scanStatuses(lease: Lease, page: StatusPage): Promise<readonly InvocationStatus[]> {
    const owner = this.#owner(lease);
    return owner instanceof Owner ? owner.scanStatuses(page) : Promise.reject(owner);
  }

  backlog(lease: Lease): Backlog {
    const owner = this.#owner(lease);
    return owner instanceof Owner ? owner.backlog : { rows: 0, bytes: 0 };
  }

  /**
   * Resolves when everything handed over before is in the tables. For whoever queries them by SQL:
   * otherwise they lag behind.
   */
  flush(lease: Lease): Promise<void> {
    const owner = this.#owner(lease);
    return owner instanceof Owner ? owner.flush() : Promise.reject(owner);
  }

  /** As `flush`, of every lease that is held. */
  async flushAll(): Promise<void> {
    await Promise.all([...this.#owners.values()].map((owner) => owner.flush()));
  }

  /** Rows that are in the log and not yet in the tables. 0 when the lease is not held. */
  pending(lease: Lease): number {
    const owner = this.#owner(lease);
    return owner instanceof Owner ? owner.pending : 0;
  }

  /** As `close`, of one partition: it may be claimed again. */
  async release(partition: number): Promise<void> {
    const owner = this.#owners.get(partition);
    await owner?.close(new Fenced());
    if (this.#owners.get(partition) === owner) this.#owners.delete(partition);
  }

  /** Waits for the commits handed over. What is not folded stays in the log for the next owner. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#owners.values()].map((owner) => owner.close(closed())));
  }

  /** Whoever holds this lease, or why nobody does. */
  #owner({ partition, epoch }: Lease): Owner | Error {
    if (this.#isClosed) return closed();
    const owner = this.#owners.get(partition);
    return owner?.lease.epoch === epoch ? owner : new Fenced();
  }
}

function closed(): Failure {
  return Failure.plain(503, "Cannot use the store: it is closed");
}
