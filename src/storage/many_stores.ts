import { assert } from "../assert.ts";
import type { Want, Write } from "../model/rows.ts";
import type { Backlog, InvocationStatus, Lease, Loaded, StatusPage, Store } from "../ports.ts";
import type { Scan, ScanRow } from "../scan.ts";
import type { SqlStore } from "./sql_store.ts";

/** One store over partitions that have a database each. */
export class ManyStores implements Store {
  readonly #stores: ReadonlyMap<number, SqlStore>;

  /** `stores`: those of the partitions that are served here, by their numbers. All have equal options. */
  constructor(stores: Iterable<readonly [partition: number, store: SqlStore]>) {
    this.#stores = new Map(stores);
  }

  claim(partition: number): Promise<Lease> {
    return this.#of(partition).claim(partition);
  }

  load(lease: Lease, wants: readonly Want[]): Promise<readonly Loaded[]> {
    return this.#of(lease.partition).load(lease, wants);
  }

  commit(lease: Lease, writes: readonly Write[]): Promise<void> {
    return this.#of(lease.partition).commit(lease, writes);
  }

  stage(lease: Lease, bytes: Uint8Array): Promise<() => void> {
    return this.#of(lease.partition).stage(lease, bytes);
  }

  get stagedBytesMin(): number | undefined {
    const [first] = this.#stores.values();
    return first?.stagedBytesMin;
  }

  scan<Q extends Scan>(lease: Lease, scan: Q): Promise<readonly ScanRow<Q>[]> {
    return this.#of(lease.partition).scan(lease, scan);
  }

  scanStatuses(lease: Lease, page: StatusPage): Promise<readonly InvocationStatus[]> {
    return this.#of(lease.partition).scanStatuses(lease, page);
  }

  backlog(lease: Lease): Backlog {
    return this.#of(lease.partition).backlog(lease);
  }

  /** As `SqlStore.flushAll`, for all databases. */
  async flushAll(): Promise<void> {
    await Promise.all([...this.#stores.values()].map((store) => store.flushAll()));
  }

  /** As `SqlStore.release`. */
  release(partition: number): Promise<void> {
    return this.#of(partition).release(partition);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#stores.values()].map((store) => store.close()));
  }

  #of(partition: number): SqlStore {
    const store = this.#stores.get(partition);
    assert(store, "Every partition that is served here has a database");
    return store;
  }
}
