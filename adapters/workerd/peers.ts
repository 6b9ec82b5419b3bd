import type { SessionKeyStore } from "../../src/auth/session_keys.ts";
import type { Catalog, DeploymentStore, Log, PartitionClient } from "../../src/ports.ts";
import type { PartitionRange } from "../../src/model/ring.ts";
import { announcedStore, readOnlyStore } from "../../src/placement/announced.ts";
import { type Post, RemotePartitionClient } from "../../src/placement/partition_client.ts";

/** The methods of an object for the other objects of its installation. */
export interface Peer {
  fetch(request: Request): Promise<Response>;
  deployments(partition: number): Promise<string>;
  reload(partition: number): Promise<void>;
  /** As `SessionKeyStore`. */
  readSessionKeys(partition: number, fresh: string): Promise<string>;
  replaceSessionKeys(partition: number, before: string, after: string): Promise<string>;
}

export interface PeersOptions {
  readonly range: PartitionRange;
  /** The object of a partition. */
  readonly at: (partition: number) => Peer;
  readonly log: Log;
}

/**
 * The fleet secret between objects. It needs not be secret: only code with the binding can call an
 * object's `fetch`, and the Worker forwards no requests of callers to it.
 */
export const INTERNAL_SECRET = "within-one-worker-script";
const ADDRESS = "http://object";
/** How often an object that does not answer is notified of new deployments. */
const ATTEMPTS_MAX = 3;

/** The other objects, as one of them sees them: the partitions, and the one with the deployments. */
export class Peers {
  readonly #options: PeersOptions;
  readonly #partitionClients = new Map<number, PartitionClient>();

  constructor(options: PeersOptions) {
    this.#options = options;
  }

  /** The client of a partition in another object. */
  partitionClient(partition: number): PartitionClient {
    let partitionClient = this.#partitionClients.get(partition);
    if (!partitionClient) {
      const { at } = this.#options;
      const post: Post = (url, request) => at(partition).fetch(new Request(url, request));
      partitionClient = new RemotePartitionClient({
        post,
        secret: INTERNAL_SECRET,
        address: ADDRESS,
      }, partition);
      this.#partitionClients.set(partition, partitionClient);
    }
    return partitionClient;
  }

  /**
   * The deployments and controls, which the object of partition 0 stores for all. `own`: the store of this object;
   * in that of partition 0, the other objects are notified of a change before it is acknowledged.
   */
  deployments(own: DeploymentStore): DeploymentStore {
    const { range: { partition, partitions } } = this.#options;
    if (partitions === 1) return own;
    if (partition === 0) return announcedStore(own, () => this.#announce());
    return readOnlyStore(async () =>
      JSON.parse(await this.#options.at(0).deployments(0)) as Catalog
    );
  }

  /** The keys of sessions, which the object of partition 0 stores for all. `own`: as above. */
  sessionKeys(own: SessionKeyStore): SessionKeyStore {
    const { range: { partition }, at } = this.#options;
    if (partition === 0) return own;
    return {
      read: (fresh) => at(0).readSessionKeys(0, fresh),
      replace: (before, after) => at(0).replaceSessionKeys(0, before, after),
    };
  }

  async #announce(): Promise<void> {
    const { partitions } = this.#options.range;
    const others = Array.from({ length: partitions - 1 }, (_, i) => i + 1);
    await Promise.all(others.map((partition) => this.#notify(partition)));
  }

  /** Notifies an object. One that cannot be reached reads the deployments at its next start. */
  async #notify(partition: number): Promise<void> {
    const { at, log } = this.#options;
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      try {
        return await at(partition).reload(partition);
      } catch (cause) {
        if (attempt < ATTEMPTS_MAX) continue;
        log("warn", "Cannot tell a partition what is registered", {
          partition,
          cause: String(cause),
        });
      }
    }
  }
}
