import { Failure } from "../errors.ts";
import type { Unready } from "../model/readiness.ts";
import type { PartitionClient, Stopwatch } from "../ports.ts";
import type { Directory } from "./directory.ts";
import { Forwarder } from "./forwarder.ts";
import type { FleetView } from "./membership.ts";
import { type PeerTransport, RemotePartitionClient } from "./partition_client.ts";

export interface FleetDirectoryOptions {
  readonly partitions: number;
  /** The client of a partition that this process serves. */
  readonly local: (partition: number) => PartitionClient | undefined;
  readonly transport: PeerTransport;
  /** Makes the membership agent read the membership soon, because the directory is out of date. */
  readonly refresh: () => void;
  /** Why this process is not ready, which may be the reason that a partition is not found. */
  readonly unreadyReason?: () => Unready | undefined;
  readonly stopwatch: Stopwatch;
  /** How long a request waits for a partition without an owner, in milliseconds. */
  readonly timeoutMs: number;
}

/** A partition in another process. */
interface RemotePartition {
  /** The member id of its owner. */
  readonly id: string;
  readonly address: string;
  readonly client: RemotePartitionClient;
}

/** A request that waits for a change checks again after this time: a local partition may have opened. */
const CHANGE_MS = 25;
/** The least time between two reads of the membership because of misrouted requests. */
const REFRESH_MS = 100;

/** The clients of all partitions of a fleet: in this process or in others. Partitions may move. */
export class FleetDirectory implements Directory {
  readonly partitions: number;
  readonly #options: FleetDirectoryOptions;
  readonly #partitionClients: readonly PartitionClient[];
  readonly #remote = new Map<number, RemotePartition>();
  #change: { readonly promise: Promise<void>; readonly notify: () => void } | undefined;
  #refreshedAt = -Infinity;
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

  /** The address of the other member that owns a partition, as far as it is known. */
  addressOf(partition: number): string | undefined {
    return this.#remote.get(partition)?.address;
  }

  /** Records the owners of all partitions. `me`: the id of this member. */
  seen({ nodes, owners }: FleetView, me: string): void {
    const addresses = new Map(nodes.map(({ id, address }) => [id, address]));
    for (let partition = 0; partition < this.partitions; partition++) {
      const owner = owners[partition];
      const known = this.#remote.get(partition);
      if (known?.id === owner && addresses.has(known?.id ?? "")) continue;
      // A request that waits for a response of the former owner would wait for ever.
      known?.client.close();
      this.#remote.delete(partition);
      const address = owner === me ? undefined : addresses.get(owner ?? "");
      if (owner === undefined || address === undefined) continue;
      const client = new RemotePartitionClient({ ...this.#options.transport, address }, partition);
      this.#remote.set(partition, { id: owner, address, client });
    }
    this.#change?.notify();
  }

  /** Nobody is let through any more. */
  close(): void {
    this.#isClosed = true;
    for (const { client } of this.#remote.values()) client.close();
    this.#remote.clear();
    this.#change?.notify();
  }

  #resolve(partition: number): PartitionClient | undefined {
    if (this.#isClosed) throw Failure.plain(503, "the server is shutting down");
    return this.#options.local(partition) ?? this.#remote.get(partition)?.client;
  }

  #misrouted(): void {
    const { stopwatch, refresh } = this.#options;
    const now = stopwatch.now();
    if (now - this.#refreshedAt < REFRESH_MS) return;
    this.#refreshedAt = now;
    refresh();
  }

  #nextChange(): Promise<void> {
    this.#change ??= this.#awaitChange();
    return this.#change.promise;
  }

  #awaitChange(): { promise: Promise<void>; notify: () => void } {
    let resolve = (): void => {};
    const promise = new Promise<void>((done) => resolve = done);
    const notify = (): void => {
      this.#change = undefined;
      forget();
      resolve();
    };
    const forget = this.#options.stopwatch.after(CHANGE_MS, notify);
    return { promise, notify };
  }
}
