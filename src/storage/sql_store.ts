import type { Want, Write } from "../model/rows.ts";
import {
  type Backlog,
  type Clock,
  Fenced,
  type InvocationStatus,
  type Lease,
  type Loaded,
  type SqlClient,
  type StatusPage,
  type Store,
} from "../ports.ts";
import type { Scan, ScanRow } from "../scan.ts";
import { Failure } from "../errors.ts";
import { FencedWriter, type OnDurable } from "./log/fenced_writer.ts";
import { Owner, type OwnerLimits } from "./owner.ts";
import { withReadRetries } from "./retry.ts";
import { raiseEpoch, recover, type RecoverLimits } from "./log/recover.ts";

export interface SqlStoreOptions extends Partial<OwnerLimits> {
  /** Absent: idle time begins no fold, and folds do not wait for new commits. */
  readonly clock?: Clock;
  /** Accepts the loss of commits of a damaged log (`recover`). Absent: a claim rejects then. */
  readonly acceptLoss?: RecoverLimits["acceptLoss"];
  readonly onDurable?: OnDurable | undefined;
  /** Bytes from which on a value of an event is written before its commit. Absent: none is. */
  readonly stagedBytesMin?: number | undefined;
  /** In a fleet: the member id of this process, which claims only its own partitions (decision 032). */
  readonly owner?: () => string;
}

/** A fold of the default size keeps about 10 MB in memory and takes about 30 ms of database time. */
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
  valueBytesMin: Infinity,
  overlaps: false,
};

/**
 * Rows in an SQL database that `migrate` has prepared. A commit appends one row to the write-ahead log;
 * later, folds move rows into tables that people can query. `load` and `scan` return the same rows
 * before and after a fold.
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
   * Claims a partition and recovers its log. After a failed commit a new claim is the only way to
   * continue: it decides whether each unacknowledged commit was applied. Rejects with `Fenced` when
   * another claim overtakes this one, and with `Failure` RT0028 when the log is damaged.
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
   * Makes large bytes durable before the commit that holds views of them, in pieces between which other
   * commits are written. Resolves with a function that releases them, to be called after that commit.
   * Rejects as `commit` does.
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
   * Resolves when every earlier commit is in the tables. For queries of the tables by SQL, which see
   * folded rows only.
   */
  flush(lease: Lease): Promise<void> {
    const owner = this.#owner(lease);
    return owner instanceof Owner ? owner.flush() : Promise.reject(owner);
  }

  /** As `flush`, for every lease that is held. */
  async flushAll(): Promise<void> {
    await Promise.all([...this.#owners.values()].map((owner) => owner.flush()));
  }

  /** Rows that are in the log and not yet in the tables. 0 when the lease is not held. */
  pending(lease: Lease): number {
    const owner = this.#owner(lease);
    return owner instanceof Owner ? owner.pending : 0;
  }

  /** As `close`, for one partition, which may be claimed again. */
  async release(partition: number): Promise<void> {
    const owner = this.#owners.get(partition);
    await owner?.close(new Fenced());
    if (this.#owners.get(partition) === owner) this.#owners.delete(partition);
  }

  /** Waits for the commits that were handed over. Unfolded rows stay in the log for the next owner. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#owners.values()].map((owner) => owner.close(closed())));
  }

  /** The owner of this lease, or the error with which its requests reject. */
  #owner({ partition, epoch }: Lease): Owner | Error {
    if (this.#isClosed) return closed();
    const owner = this.#owners.get(partition);
    return owner?.lease.epoch === epoch ? owner : new Fenced();
  }
}

function closed(): Failure {
  return Failure.plain(503, "Cannot use the store: it is closed");
}
