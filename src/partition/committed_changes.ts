import { Untaken } from "../errors.ts";
import type { Changes } from "../model/changes.ts";
import type { Rows, Write } from "../model/rows.ts";
import { parseObject } from "../model/target.ts";
import type { Clock, OnLeave } from "../ports.ts";

export interface CommittedChangesOptions {
  readonly clock: Pick<Clock, "now" | "at">;
  /** A text that no other life of any partition has. */
  readonly life: string;
}

/** How long a request waits for a change, in milliseconds. */
const WAIT_MS = 20_000;
/** For how long changes are noted after the last request for them, in milliseconds. */
const WATCHED_MS = 60_000;
/** Invocations that are kept. Who is behind by more has to read everything. */
const IDS_MAX = 1_000;

/**
 * Which invocations and services the durable commits of a partition have changed, for those who show
 * them (docs/spec/admin.md#events). Costs nothing while nobody asks.
 */
export class CommittedChanges {
  readonly #options: CommittedChangesOptions;
  /** The number of the last commit that changed each one. Those of later commits are last. */
  readonly #invocations = new Map<string, number>();
  readonly #services = new Map<string, number>();
  readonly #waiting = new Set<() => void>();
  #commit = 0;
  /** Commits after this one are known completely. */
  #knownAfter = 0;
  #watchedUntil = -Infinity;
  #isStopped = false;

  constructor(options: CommittedChangesOptions) {
    this.#options = options;
  }

  /** A commit is durable. */
  note(writes: readonly Write[]): void {
    if (writes.length === 0) return;
    this.#commit++;
    if (this.#options.clock.now() > this.#watchedUntil) return this.#forget();
    for (const write of writes) this.#noteWrite(write);
    this.#shrink();
    for (const wake of [...this.#waiting]) wake();
  }

  /**
   * What has changed after `cursor`, which is of an earlier answer. Resolves at once if something has, or
   * the cursor is of another life or too old, and otherwise at the next change, after `WAIT_MS`, or when
   * the caller leaves. Rejects with `Untaken` when the life ends.
   */
  async after(cursor: string | undefined, onLeave?: OnLeave): Promise<Changes> {
    const { clock } = this.#options;
    this.#watchedUntil = clock.now() + WATCHED_MS;
    const commit = this.#commitOf(cursor);
    if (commit === undefined) return { ...this.#since(this.#commit), isAll: true };
    if (commit === this.#commit) await this.#change(onLeave);
    if (this.#isStopped) throw new Untaken("the partition has stopped");
    return this.#since(commit);
  }

  /** Ends all waits. */
  stop(): void {
    this.#isStopped = true;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Undefined: what has changed since then is not known completely. */
  #commitOf(cursor: string | undefined): number | undefined {
    const [life, text] = cursor?.split("/") ?? [];
    const commit = Number(text);
    const isKnown = life === this.#options.life && commit >= this.#knownAfter;
    return isKnown && commit <= this.#commit ? commit : undefined;
  }

  #since(commit: number): Changes {
    return {
      cursor: `${this.#options.life}/${this.#commit}`,
      invocations: keysAfter(this.#invocations, commit),
      services: keysAfter(this.#services, commit),
    };
  }

  #noteWrite({ table, row }: Write): void {
    switch (table) {
      case "invocation": {
        const { id, target } = row as Rows["invocation"] | { id: string; target?: undefined };
        this.#noteOne(this.#invocations, id);
        if (target) this.#noteOne(this.#services, target.service);
        break;
      }
      case "journal":
      case "event":
        this.#noteOne(this.#invocations, (row as { id: string }).id);
        break;
      case "state":
      case "promise":
        this.#noteOne(this.#services, parseObject((row as { object: string }).object).service);
        break;
    }
  }

  #noteOne(all: Map<string, number>, name: string): void {
    all.delete(name);
    all.set(name, this.#commit);
  }

  #shrink(): void {
    for (const [id, commit] of this.#invocations) {
      if (this.#invocations.size <= IDS_MAX) return;
      this.#invocations.delete(id);
      this.#knownAfter = commit;
    }
  }

  #forget(): void {
    this.#knownAfter = this.#commit;
    this.#invocations.clear();
    this.#services.clear();
  }

  #change(onLeave: OnLeave | undefined): Promise<void> {
    const { clock } = this.#options;
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        this.#waiting.delete(wake);
        resolve();
      };
      const cancel = clock.at(clock.now() + WAIT_MS, wake);
      this.#waiting.add(wake);
      onLeave?.(wake);
      if (this.#isStopped) wake();
    });
  }
}

function keysAfter(all: ReadonlyMap<string, number>, commit: number): string[] {
  const keys: string[] = [];
  for (const [key, changed] of all) if (changed > commit) keys.push(key);
  return keys;
}
