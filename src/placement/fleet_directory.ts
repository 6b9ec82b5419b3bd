import { Failure } from "../errors.ts";
import type { Unready } from "../model/readiness.ts";
import type { PartitionClient, Stopwatch } from "../ports.ts";
import type { Directory } from "./directory.ts";
import { Forwarder } from "./forwarder.ts";
import type { FleetView } from "./membership.ts";
import { type PeerTransport, RemotePartitionClient } from "./partition_client.ts";

export interface FleetDirectoryOptions {
  readonly partitions: number;
  /** A partition that lives in this process. */
  readonly local: (partition: number) => PartitionClient | undefined;
  readonly transport: PeerTransport;
  /** Has the database looked at soon: what is known here is out of date. */
  readonly look: () => void;
  /** What is wrong with this process itself, which may be why a partition is not found. */
  readonly unreadyReason?: () => Unready | undefined;
  readonly stopwatch: Stopwatch;
  /** How long a partition is looked for that nobody has. */
  readonly timeoutMs: number;
}

/** A partition in another process. */
interface RemotePartition {
  /** Of the process. */
  readonly id: string;
  readonly address: string;
  readonly client: RemotePartitionClient;
}

/** Whoever waits for news looks again after so long, in case that a partition here came to life. */
const CHANGE_MS = 25;
/** The database is looked at because of what went astray this often at most. */
const LOOK_MS = 100;

/** Where the partitions of a fleet are: some here, some in other processes, and all on the move. */
export class FleetDirectory implements Directory {
  readonly partitions: number;
  readonly #options: FleetDirectoryOptions;
  readonly #partitionClients: readonly PartitionClient[];
  readonly #remote = new Map<number, RemotePartition>();
  #change: { readonly promise: Promise<void>; readonly tell: () => void } | undefined;
  #lookedAt = -Infinity;
  #isClosed = false;

  constructor(options: FleetDirectoryOptions) {
    this.#options = options;
    this.partitions = options.partitions;
    const { stopwatch, timeoutMs } = options;
    this.#partitionClients = Array.from(
      { length: options.partitions },
      (_, partition) =>
        new Forwarder({
          resolve: () => this.#resolve(partition),
          misrouted: () => this.#misrouted(),
          change: () => this.#nextChange(),
          unreadyReason: () => this.#options.unreadyReason?.(),
          stopwatch,
          timeoutMs,
        }),
    );
  }

  partitionClient(partition: number): PartitionClient {
    const client = this.#partitionClients[partition];
    if (!client) throw new RangeError(`There is no partition ${partition}`);
    return client;
  }

  /** The address of the other process that has a partition, as far as is known. */
  addressOf(partition: number): string | undefined {
    return this.#remote.get(partition)?.address;
  }

  /** Takes note of who has what. `me`: this process. */
  seen({ nodes, owners }: FleetView, me: string): void {
    const addresses = new Map(nodes.map(({ id, address }) => [id, address]));
    for (let partition = 0; partition < this.partitions; partition++) {
      const owner = owners[partition];
      const known = this.#remote.get(partition);
      if (known?.id === owner && addresses.has(known?.id ?? "")) continue;
      // Who waits for an answer of the one who had it would wait for ever.
      known?.client.close();
      this.#remote.delete(partition);
      const address = owner === me ? undefined : addresses.get(owner ?? "");
      if (owner === undefined || address === undefined) continue;
      const client = new RemotePartitionClient({ ...this.#options.transport, address }, partition);
      this.#remote.set(partition, { id: owner, address, client });
    }
    this.#change?.tell();
  }

  /** Nobody is let through any more. */
  close(): void {
    this.#isClosed = true;
    for (const { client } of this.#remote.values()) client.close();
    this.#remote.clear();
    this.#change?.tell();
  }

  #resolve(partition: number): PartitionClient | undefined {
    if (this.#isClosed) throw Failure.plain(503, "the server is shutting down");
    return this.#options.local(partition) ?? this.#remote.get(partition)?.client;
  }

  #misrouted(): void {
    const { stopwatch, look } = this.#options;
    const now = stopwatch.now();
    if (now - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = now;
    look();
  }

  #nextChange(): Promise<void> {
    this.#change ??= this.#awaitChange();
    return this.#change.promise;
  }

  #awaitChange(): { promise: Promise<void>; tell: () => void } {
    let resolve = (): void => {};
    const promise = new Promise<void>((done) => resolve = done);
    const tell = (): void => {
      this.#change = undefined;
      forget();
      resolve();
    };
    const forget = this.#options.stopwatch.after(CHANGE_MS, tell);
    return { promise, tell };
  }
}
