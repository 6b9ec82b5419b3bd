import type { Effect } from "../engine/effect.ts";
import { peerOf, type Rows, type Table, type Write } from "../model/rows.ts";
import type { Meter } from "../observe/meter.ts";
import { Releases } from "./releases.ts";

export interface CommitsOptions {
  readonly commit: (writes: readonly Write[]) => Promise<void>;
  readonly release: (effects: readonly Effect[]) => void;
  /**
   * Called with the effects of a commit, before the store is handed it: a commit may hold up the thread.
   * They are released as ever (decision 078).
   */
  readonly prepare?: ((effects: readonly Effect[]) => void) | undefined;
  /** Calls back after input that has already arrived is read. */
  readonly soon: (call: () => void) => void;
  /** Calls back in `QUIET_COMMIT_MS`. */
  readonly later: (call: () => void) => void;
  /** Most effects released at once. More are when the backlog is large (`releases.ts`). */
  readonly releaseEffectsMax: number;
  /** Called when commits up to this number are durable. */
  readonly markDurable: (commit: number) => void;
  /** Called with the writes of each commit that is durable. */
  readonly onCommitted?: (writes: readonly Write[]) => void;
  /** Called for a group of rows that is rarely read again. */
  readonly forget: (table: Table, pending: string) => void;
  readonly onFailure: (cause: unknown) => void;
  readonly meter?: Meter | undefined;
  /** Whether the lease surely holds. Absent: only the fence of the store can tell. */
  readonly isHeld?: (() => boolean) | undefined;
}

/**
 * How long, in milliseconds, writes that nobody waits for are gathered. Long enough that a handler
 * which runs answers meanwhile, short enough that queries and pages miss nothing.
 */
export const QUIET_COMMIT_MS = 2;

/** Most writes that nobody waits for: beyond this number they are committed at once. */
const QUIET_WRITES_MAX = 1_000;

interface PendingCommit {
  readonly writes: Write[];
  readonly effects: Effect[];
  readonly durable: (() => void)[];
}

/**
 * Group commit: one commit is in flight, and the next one gathers the writes of every turn that runs
 * meanwhile. The effects of a turn are released when its commit is durable, in order (`releases.ts`).
 *
 * A turn without effects, as that of a call which waits in a queue, has told nobody anything: its
 * writes go into the commit of a turn that has, which comes no later than `QUIET_COMMIT_MS`
 * (decision 064).
 */
export class Commits {
  readonly #options: CommitsOptions;
  readonly #releases: Releases;
  #gathered: PendingCommit | undefined;
  #inFlight: Promise<void> | undefined;
  #isStopped = false;
  /** Whether `later` will call. */
  #isLater = false;
  #number = 0;
  /** Called when the gathered commit is handed to the store. */
  #onHandedOver: (() => void)[] = [];

  constructor(options: CommitsOptions) {
    this.#options = options;
    this.#releases = new Releases({
      ...options,
      effectsMax: options.releaseEffectsMax,
      confirm: () => this.#confirm(),
      onFailure: (cause) => this.#fail(cause),
    });
  }

  /** The number of the commit that the next turn will belong to. */
  get next(): number {
    return this.#number + 1;
  }

  /**
   * Adds the writes of a turn to the commit that gathers, and returns its number. The store is handed
   * the commit no earlier than `releaseWhenDurable` is called for this turn.
   */
  append(writes: readonly Write[]): number {
    for (const write of writes) this.#pending.writes.push(write);
    return this.next;
  }

  /**
   * Releases the effects of the turn that was appended last, and then calls `durable`, once its commit
   * is durable. Hands the commit to the store, unless another one is in flight or nobody waits for it.
   * `isFollowed`: not yet, since the next turn runs now and belongs into the same commit. The caller
   * calls `flush` then.
   */
  releaseWhenDurable(
    effects: readonly Effect[],
    durable: readonly (() => void)[],
    { isFollowed = false } = {},
  ): void {
    const pending = this.#pending;
    for (const effect of effects) pending.effects.push(effect);
    for (const call of durable) pending.durable.push(call);
    if (!isFollowed) this.#flushOrWait();
  }

  get #pending(): PendingCommit {
    return this.#gathered ??= { writes: [], effects: [], durable: [] };
  }

  /** Calls back once the store has been handed everything appended so far. Never, if this stops. */
  whenHandedOver(call: () => void): void {
    if (!this.#gathered) return call();
    this.#onHandedOver.push(call);
    // Not at once: a turn that runs at this moment has not said which effects it has.
    this.#options.soon(() => this.#flushOrWait());
  }

  stop(): void {
    this.#isStopped = true;
    this.#gathered = undefined;
    this.#releases.stop();
  }

  /** Hands the commit over if anybody waits for it, and otherwise later. */
  #flushOrWait(): void {
    const pending = this.#gathered;
    if (!pending || this.#isWaitedFor(pending)) return this.flush();
    if (this.#isLater) return;
    this.#isLater = true;
    this.#options.later(() => {
      this.#isLater = false;
      this.flush();
    });
  }

  #isWaitedFor({ effects, durable, writes }: PendingCommit): boolean {
    return effects.length > 0 || durable.length > 0 || this.#onHandedOver.length > 0 ||
      writes.length > QUIET_WRITES_MAX;
  }

  /** Hands over what is gathered, unless a commit is in flight. */
  flush(): void {
    const pending = this.#gathered;
    if (!pending || this.#inFlight || this.#isStopped) return;
    this.#gathered = undefined;
    const number = ++this.#number;
    if (pending.writes.length === 0 && this.#isHeld()) {
      this.#tellHandedOver();
      return this.#onDurable(pending, number);
    }
    const { meter } = this.#options;
    const began = meter?.now() ?? 0;
    const durable = this.#inFlight = this.#confirmed(this.#handOver(pending));
    if (this.#onHandedOver.length > 0) this.#tellHandedOver();
    durable.then(() => {
      this.#inFlight = undefined;
      if (this.#isStopped) return;
      meter?.committed(meter.now() - began, pending.writes.length);
      this.#onDurable(pending, number);
      this.#flushOrWait();
    }, (cause) => this.#fail(cause));
  }

  #handOver({ writes, effects }: PendingCommit): Promise<void> {
    try {
      this.#options.prepare?.(effects);
    } catch (cause) {
      this.#fail(cause);
    }
    return this.#isStopped ? Promise.resolve() : this.#options.commit(writes);
  }

  #isHeld(): boolean {
    return this.#options.isHeld?.() ?? true;
  }

  /**
   * A process that was suspended after a commit may resume when another process has claimed the
   * partition, and must then release no effects. So an empty commit checks the fence once more.
   */
  #confirmed(durable: Promise<void>): Promise<void> {
    const { isHeld, commit } = this.#options;
    if (!isHeld) return durable;
    return durable.then(() => this.#isStopped || isHeld() ? undefined : commit([]));
  }

  /** Checks the fence by an empty commit. A commit in flight checks it, too. */
  #confirm(): Promise<void> {
    if (this.#inFlight) return this.#inFlight;
    const asked = this.#inFlight = this.#options.commit([]);
    return asked.then(() => {
      this.#inFlight = undefined;
      this.#flushOrWait();
    });
  }

  #tellHandedOver(): void {
    for (const call of this.#onHandedOver.splice(0)) call();
  }

  #fail(cause: unknown): void {
    if (!this.#isStopped) this.#options.onFailure(cause);
  }

  /** Has no caller that could catch an error: it ends the partition like a failed commit. */
  #onDurable(pending: PendingCommit, number: number): void {
    try {
      this.#applyDurable(pending, number);
    } catch (cause) {
      this.#fail(cause);
    }
  }

  #applyDurable({ writes, effects, durable }: PendingCommit, number: number): void {
    const { markDurable, forget, onCommitted } = this.#options;
    markDurable(number);
    onCommitted?.(writes);
    for (const { table, row } of writes) {
      // The engine never reads it again.
      if (table === "outbox") forget(table, peerOf(row as Rows["outbox"]));
      // Rows of a completed invocation are rarely read again, and would only fill the memory.
      if (table !== "invocation" || !("status" in row) || row.status.kind !== "completed") continue;
      forget("journal", row.id);
      forget("timer", row.id);
      forget("event", row.id);
      forget("invocation", row.id);
    }
    this.#releases.add(effects, durable);
  }
}
