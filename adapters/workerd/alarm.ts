import type { Write } from "../../src/model/rows.ts";
import type { Clock, Lease, SqlClient } from "../../src/ports.ts";
import { SqlStore, type SqlStoreOptions } from "../../src/storage/sql_store.ts";

/** What is needed of a Durable Object's storage: the one alarm it has. */
export interface AlarmStorage {
  getAlarm(): Promise<number | null>;
  setAlarm(due: number): Promise<void>;
}

/**
 * How often an object with attempts under way is called. One that nobody calls is evicted after
 * 70 s, with its attempts; the alarm after that begins them again.
 */
export const HEARTBEAT_MS = 30_000;
/** An alarm that finds its timer not yet handled looks again so much later. */
const LOOK_AGAIN_MS = 1_000;

/** The alarm of an object: the earliest of all times that somebody expects it to be awake. */
export class Alarms {
  readonly #storage: AlarmStorage;
  /** When it will ring at the latest. */
  #due = Infinity;

  constructor(storage: AlarmStorage) {
    this.#storage = storage;
  }

  /** Learns what an earlier life has set. */
  async open(): Promise<void> {
    this.#due = await this.#storage.getAlarm() ?? Infinity;
  }

  /** Milliseconds since the epoch; Infinity: never. An alarm set earlier stays. */
  expect(due: number): void {
    if (due >= this.#due) return;
    this.#due = due;
    // It joins the writes of the same moment. When they fail, the object fails as a whole.
    this.#storage.setAlarm(due).catch(() => {});
  }

  /** It rang: none is set. */
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
 * A store that sees to it that its object wakes up for what is in it, however long it was evicted:
 * no commit leaves a timer, or an attempt under way, that no alarm knows of.
 */
export class AlarmedStore extends SqlStore {
  readonly #client: SqlClient;
  readonly #clock: Clock;
  readonly #alarms: Alarms;
  readonly #cleanupIntervalMs: number;
  #lease: Lease | undefined;

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
    return super.commit(lease, writes);
  }

  /** Whether an attempt, or a message for another partition, is under way, or about to be. */
  async isBusy(): Promise<boolean> {
    if (!this.#lease) return false;
    const found = await Promise.all([
      this.scan(this.#lease, { kind: "invoked", limit: 1 }),
      this.scan(this.#lease, { kind: "outbox", limit: 1 }),
    ]);
    return found.some(({ length }) => length > 0);
  }

  /**
   * After the alarm rang: when the object must be awake next, for timers and to forget what has
   * expired. Infinity: when it is called.
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
    // One that is not acknowledged is sent again, by an object that is awake.
    if (table === "outbox") due = Math.min(due, now + HEARTBEAT_MS);
    if (table === "timer" && "due" in row) due = Math.min(due, row.due);
    else if (table === "invocation" && "status" in row && row.status.kind === "invoked") {
      due = Math.min(due, now + HEARTBEAT_MS);
    }
  }
  return due;
}
