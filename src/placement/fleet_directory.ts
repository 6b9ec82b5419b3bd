import { Failure } from "../errors.ts";
import type { Unready } from "../model/readiness.ts";
import type { Door, Stopwatch } from "../ports.ts";
import type { Directory } from "./directory.ts";
import { Forwarder } from "./forwarder.ts";
import type { FleetView } from "./membership.ts";
import { type Line, RemoteDoor } from "./partition_client.ts";

export interface FleetDirectoryOptions {
  readonly partitions: number;
  /** A partition that lives in this process. */
  readonly here: (partition: number) => Door | undefined;
  readonly line: Line;
  /** Has the database looked at soon: what is known here is out of date. */
  readonly look: () => void;
  /** What is wrong with this process itself, which may be why a partition is not found. */
  readonly trouble?: () => Unready | undefined;
  readonly stopwatch: Stopwatch;
  /** How long a partition is looked for that nobody has. */
  readonly timeoutMs: number;
}

/** A partition in another process. */
interface Away {
  /** Of the process. */
  readonly id: string;
  readonly address: string;
  readonly door: RemoteDoor;
}

/** Whoever waits for news looks again after so long, in case that a partition here came to life. */
const NEWS_MS = 25;
/** The database is looked at because of what went astray this often at most. */
const LOOK_MS = 100;

/** Where the partitions of a fleet are: some here, some in other processes, and all on the move. */
export class FleetDirectory implements Directory {
  readonly partitions: number;
  readonly #options: FleetDirectoryOptions;
  readonly #doors: readonly Door[];
  readonly #away = new Map<number, Away>();
  #news: { readonly promise: Promise<void>; readonly tell: () => void } | undefined;
  #lookedAt = -Infinity;
  #isClosed = false;

  constructor(options: FleetDirectoryOptions) {
    this.#options = options;
    this.partitions = options.partitions;
    const { stopwatch, timeoutMs } = options;
    this.#doors = Array.from({ length: options.partitions }, (_, partition) =>
      new Forwarder({
        way: () => this.#way(partition),
        astray: () => this.#astray(),
        news: () => this.#nextNews(),
        trouble: () => this.#options.trouble?.(),
        stopwatch,
        timeoutMs,
      }));
  }

  door(partition: number): Door {
    const door = this.#doors[partition];
    if (!door) throw new RangeError(`There is no partition ${partition}`);
    return door;
  }

  /** The address of the other process that has a partition, as far as is known. */
  addressOf(partition: number): string | undefined {
    return this.#away.get(partition)?.address;
  }

  /** Takes note of who has what. `me`: this process. */
  seen({ nodes, owners }: FleetView, me: string): void {
    const addresses = new Map(nodes.map(({ id, address }) => [id, address]));
    for (let partition = 0; partition < this.partitions; partition++) {
      const owner = owners[partition];
      const known = this.#away.get(partition);
      if (known?.id === owner && addresses.has(known?.id ?? "")) continue;
      // Who waits for an answer of the one who had it would wait for ever.
      known?.door.close();
      this.#away.delete(partition);
      const address = owner === me ? undefined : addresses.get(owner ?? "");
      if (owner === undefined || address === undefined) continue;
      const door = new RemoteDoor({ ...this.#options.line, address }, partition);
      this.#away.set(partition, { id: owner, address, door });
    }
    this.#news?.tell();
  }

  /** Nobody is let through any more. */
  close(): void {
    this.#isClosed = true;
    for (const { door } of this.#away.values()) door.close();
    this.#away.clear();
    this.#news?.tell();
  }

  #way(partition: number): Door | undefined {
    if (this.#isClosed) throw Failure.plain(503, "the server is shutting down");
    return this.#options.here(partition) ?? this.#away.get(partition)?.door;
  }

  #astray(): void {
    const { stopwatch, look } = this.#options;
    const now = stopwatch.now();
    if (now - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = now;
    look();
  }

  #nextNews(): Promise<void> {
    this.#news ??= this.#awaitNews();
    return this.#news.promise;
  }

  #awaitNews(): { promise: Promise<void>; tell: () => void } {
    let resolve = (): void => {};
    const promise = new Promise<void>((done) => resolve = done);
    const tell = (): void => {
      this.#news = undefined;
      forget();
      resolve();
    };
    const forget = this.#options.stopwatch.after(NEWS_MS, tell);
    return { promise, tell };
  }
}
