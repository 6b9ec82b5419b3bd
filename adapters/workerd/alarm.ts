import type { Write } from "../../src/model/rows.ts";
import type { Clock, Lease, SqlClient } from "../../src/ports.ts";
import { SqlStore, type SqlStoreOptions } from "../../src/storage/sql_store.ts";

/** The alarm of a Durable Object's storage, of which there is one. */
export interface AlarmStorage {
  getAlarm(): Promise<number | null>;
  setAlarm(due: number): Promise<void>;
}

/**
 * How often an alarm calls an object with running attempts. An object without calls is evicted after
 * 70 s, with its attempts; the alarm after that starts them again.
 */
export const HEARTBEAT_MS = 30_000;
/** An alarm that finds its timer not yet handled is set again so much later. */
const LOOK_AGAIN_MS = 1_000;

/** The alarm of an object: the earliest of all times at which it must be awake. */
export class Alarms {
  readonly #storage: AlarmStorage;
  /** When it will ring at the latest. */
  #due = Infinity;

  constructor(storage: AlarmStorage) {
    this.#storage = storage;
  }

  /** Reads the alarm that is already set. */
  async open(): Promise<void> {
    this.#due = await this.#storage.getAlarm() ?? Infinity;
  }

  /** Sets the alarm to `due`, in milliseconds since the epoch, unless it is earlier already. */
  expect(due: number): void {
    if (due >= this.#due) return;
    this.#due = due;
    // It is atomic with the writes of the same tick. When they fail, the runtime resets the object.
    this.#storage.setAlarm(due).catch(() => {});
  }

  /** The alarm fired: none is set. */
  rang(): void {
    this.#due = Infinity;
  }
}

interface AlarmedStoreOptions extends SqlStoreOptions {
  readonly clock: Clock;
  readonly alarms: Alarms;
  readonly cleanupIntervalMs: number;
}

const EXPIRES = "select min(expires_at) as due from invocation " +
  "where partition = ?1 and expires_at is not null";

/**
 * A store that sets the alarm of its object, so that it wakes up for its timers and running attempts
 * after any eviction.
 */
export class AlarmedStore extends SqlStore {
  readonly #client: SqlClient;
  readonly #clock: Clock;
  readonly #alarms: Alarms;
  readonly #cleanupIntervalMs: number;
  #lease: Lease | undefined;
  /** Shared counters that other partitions wait for. Every life of the partition writes them again. */
  readonly #awaited = new Set<string>();

  constructor(client: SqlClient, options: AlarmedStoreOptions) {
    const { alarms, cleanupIntervalMs, ...others } = options;
    super(client, others);
    this.#client = client;
    this.#clock = options.clock;
    this.#alarms = alarms;
    this.#cleanupIntervalMs = cleanupIntervalMs;
  }

  override async claim(partition: number): Promise<Lease> {
    return this.#lease = await super.claim(partition);
  }

  override commit(lease: Lease, writes: readonly Write[]): Promise<void> {
    // Before the commit: an alarm without a timer does no harm.
    this.#alarms.expect(dueOf(writes, this.#clock.now()));
    for (const { table, row, drop } of writes) {
      if (table !== "bank" || !("waiting" in row)) continue;
      if (!drop && row.waiting.length > 0) this.#awaited.add(row.counter);
      else this.#awaited.delete(row.counter);
    }
    return super.commit(lease, writes);
  }

  /** Whether there are attempts, or messages for other partitions, in progress or waiting. */
  async isBusy(): Promise<boolean> {
    if (!this.#lease) return false;
    if (this.#awaited.size > 0) return true;
    const found = await Promise.all([
      this.scan(this.#lease, { kind: "holders", limit: 1 }),
      this.scan(this.#lease, { kind: "queued", limit: 1 }),
      this.scan(this.#lease, { kind: "outbox", limit: 1 }),
    ]);
    return found.some(({ length }) => length > 0);
  }

  /**
   * After the alarm fired: when the object must be awake next, for timers and to delete expired
   * invocations. Infinity: never.
   */
  async due(): Promise<number> {
    if (!this.#lease) return Infinity;
    const [[timer], [[expired] = []]] = await Promise.all([
      this.scan(this.#lease, { kind: "timers", limit: 1 }),
      this.#client.batch("read", [{ sql: EXPIRES, args: [this.#lease.partition] }]),
    ]);
    const now = this.#clock.now();
    const expires = expired?.["due"];
    return Math.min(
      timer ? Math.max(timer.due, now + LOOK_AGAIN_MS) : Infinity,
      typeof expires === "number" ? Math.max(expires, now) + this.#cleanupIntervalMs : Infinity,
    );
  }
}

/** When an object with these rows must be awake. */
function dueOf(writes: readonly Write[], now: number): number {
  let due = Infinity;
  for (const { table, row, drop } of writes) {
    if (drop) continue;
    // An awake object sends a message again until it is acknowledged.
    if (table === "outbox") due = Math.min(due, now + HEARTBEAT_MS);
    // So it gives the next token of a rate.
    if (table === "bank" && "waiting" in row && row.waiting.length > 0) {
      due = Math.min(due, now + HEARTBEAT_MS);
    }
    if (table === "timer" && "due" in row) due = Math.min(due, row.due);
    else if (table === "invocation" && "status" in row && row.status.kind === "invoked") {
      due = Math.min(due, now + HEARTBEAT_MS);
    }
  }
  return due;
}
