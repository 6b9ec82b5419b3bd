import type { DeploymentStore, Log, PartitionClient } from "../../src/ports.ts";
import type { PartitionRange } from "../../src/model/ring.ts";
import type { Deployment } from "../../src/model/schema.ts";
import { type Post, RemotePartitionClient } from "../../src/placement/partition_client.ts";

/** What an object offers the other objects of its installation. */
export interface Peer {
  fetch(request: Request): Promise<Response>;
  deployments(partition: number): Promise<string>;
  reload(partition: number): Promise<void>;
}

export interface PeersOptions {
  readonly range: PartitionRange;
  /** The object of a partition. */
  readonly at: (partition: number) => Peer;
  readonly log: Log;
}

/**
 * What objects show each other. It is no secret: only who has the binding can call an object's
 * `fetch`, and the Worker in front hands it nothing.
 */
export const INTERNAL_SECRET = "within-one-worker-script";
const ADDRESS = "http://object";
/** How often an object is told of a registration that does not answer. */
const ATTEMPTS_MAX = 3;

/** The other objects, as one of them sees them: partitions elsewhere, and who knows what is registered. */
export class Peers {
  readonly #options: PeersOptions;
  readonly #partitionClients = new Map<number, PartitionClient>();

  constructor(options: PeersOptions) {
    this.#options = options;
  }

  /** The way to a partition in another object. */
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
   * What is registered, which the object of partition 0 keeps for all. `own`: its store, in that
   * object: whatever it saves, the others know before whoever registered it is answered.
   */
  deployments(own: DeploymentStore): DeploymentStore {
    const { range: { partition, partitions } } = this.#options;
    if (partitions === 1) return own;
    if (partition !== 0) return this.#shared();
    return {
      load: () => own.load(),
      save: async (deployment) => {
        await own.save(deployment);
        await this.#announce();
      },
      drop: async (id) => {
        await own.drop(id);
        await this.#announce();
      },
    };
  }

  #shared(): DeploymentStore {
    const refuse = () => Promise.reject(new Error("Only the object of partition 0 registers"));
    return {
      load: async () => JSON.parse(await this.#options.at(0).deployments(0)) as Deployment[],
      save: refuse,
      drop: refuse,
    };
  }

  async #announce(): Promise<void> {
    const { partitions } = this.#options.range;
    const others = Array.from({ length: partitions - 1 }, (_, i) => i + 1);
    await Promise.all(others.map((partition) => this.#notify(partition)));
  }

  /** One that cannot be told is not awake, or will be told by its next start. */
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
