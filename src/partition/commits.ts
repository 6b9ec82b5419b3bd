import type { Effect } from "../engine/effect.ts";
import type { Turn } from "../engine/turn.ts";
import { peerOf, type Rows, type Table, type Write } from "../model/rows.ts";
import type { Meter } from "../observe/meter.ts";
import { Releases } from "./releases.ts";

export interface CommitsOptions {
  readonly commit: (writes: readonly Write[]) => Promise<void>;
  readonly release: (effects: readonly Effect[]) => void;
  /** Calls once the input that is there has been read. */
  readonly soon: (call: () => void) => void;
  /** Most effects released at once, unless very many wait. */
  readonly releaseEffectsMax: number;
  /** Commits up to this number are durable. */
  readonly markDurable: (commit: number) => void;
  /** A row group that nobody is likely to ask for again. */
  readonly forget: (table: Table, pending: string) => void;
  readonly onFailure: (cause: unknown) => void;
  readonly meter?: Meter | undefined;
  /** Whether nobody else can have the partition. Absent: only the store can tell. */
  readonly isHeld?: (() => boolean) | undefined;
}

interface PendingCommit {
  readonly writes: Write[];
  readonly effects: Effect[];
  readonly durable: (() => void)[];
}

/**
 * The commits of a partition: one in flight, and one being gathered from every turn that runs
 * meanwhile. What a turn asked of the world is released when its own commit is durable, in order
 * (`releases.ts`).
 */
export class Commits {
  readonly #options: CommitsOptions;
  readonly #releases: Releases;
  #gathered: PendingCommit | undefined;
  #inFlight: Promise<void> | undefined;
  #isStopped = false;
  #number = 0;
  /** Wait until what is gathered has been handed over. */
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

  append(turn: Turn, durable: readonly (() => void)[]): void {
    if (this.#isStopped) return;
    const pending = this.#gathered ??= { writes: [], effects: [], durable: [] };
    for (const write of turn.writes) pending.writes.push(write);
    for (const effect of turn.effects) pending.effects.push(effect);
    for (const call of durable) pending.durable.push(call);
    this.#flush();
  }

  /** Calls once the store has been handed everything appended so far. Never, if this stops. */
  whenHandedOver(call: () => void): void {
    if (this.#gathered) this.#onHandedOver.push(call);
    else call();
  }

  stop(): void {
    this.#isStopped = true;
    this.#gathered = undefined;
    this.#releases.stop();
  }

  #flush(): void {
    const pending = this.#gathered;
    if (!pending || this.#inFlight || this.#isStopped) return;
    this.#gathered = undefined;
    const number = ++this.#number;
    if (pending.writes.length === 0 && this.#isHeld()) return this.#onDurable(pending, number);
    const { meter } = this.#options;
    const began = meter?.now() ?? 0;
    const durable = this.#inFlight = this.#confirmed(this.#options.commit(pending.writes));
    if (this.#onHandedOver.length > 0) this.#tellHandedOver();
    durable.then(() => {
      this.#inFlight = undefined;
      if (this.#isStopped) return;
      meter?.committed(meter.now() - began, pending.writes.length);
      this.#onDurable(pending, number);
      this.#flush();
    }, (cause) => this.#fail(cause));
  }

  #isHeld(): boolean {
    return this.#options.isHeld?.() ?? true;
  }

  /**
   * Whoever stood still after a commit may wake up with a partition that is another's by then, and
   * must start nothing: so the store is asked once more, by a commit without writes.
   */
  #confirmed(durable: Promise<void>): Promise<void> {
    const { isHeld, commit } = this.#options;
    if (!isHeld) return durable;
    return durable.then(() => this.#isStopped || isHeld() ? undefined : commit([]));
  }

  /** Asks the store whether the partition is still ours. What is on its way there asks it, too. */
  #confirm(): Promise<void> {
    if (this.#inFlight) return this.#inFlight;
    const asked = this.#inFlight = this.#options.commit([]);
    return asked.then(() => {
      this.#inFlight = undefined;
      this.#flush();
    });
  }

  #tellHandedOver(): void {
    for (const call of this.#onHandedOver.splice(0)) call();
  }

  #fail(cause: unknown): void {
    if (!this.#isStopped) this.#options.onFailure(cause);
  }

  /** Nobody above can catch what is thrown here: it ends the partition like a failed commit. */
  #onDurable(pending: PendingCommit, number: number): void {
    try {
      this.#applyDurable(pending, number);
    } catch (cause) {
      this.#fail(cause);
    }
  }

  #applyDurable({ writes, effects, durable }: PendingCommit, number: number): void {
    const { markDurable, forget } = this.#options;
    markDurable(number);
    for (const { table, row } of writes) {
      // The engine never reads it again.
      if (table === "outbox") forget(table, peerOf(row as Rows["outbox"]));
      // What is completed is rarely asked for again, and would only fill the memory.
      if (table !== "invocation" || !("status" in row) || row.status.kind !== "completed") continue;
      forget("journal", row.id);
      forget("timer", row.id);
      forget("event", row.id);
      forget("invocation", row.id);
    }
    this.#releases.add(effects, durable);
  }
}
