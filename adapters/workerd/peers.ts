import type { DeploymentStore, Door, Log } from "../../src/ports.ts";
import type { Place } from "../../src/model/ring.ts";
import type { Deployment } from "../../src/model/schema.ts";
import { type Post, RemoteDoor } from "../../src/placement/partition_client.ts";

/** What an object offers the other objects of its installation. */
export interface Peer {
  fetch(request: Request): Promise<Response>;
  deployments(partition: number): Promise<string>;
  reload(partition: number): Promise<void>;
}

export interface PeersOptions {
  readonly place: Place;
  /** The object of a partition. */
  readonly at: (partition: number) => Peer;
  readonly log: Log;
}

/**
 * What objects show each other. It is no secret: only who has the binding can call an object's
 * `fetch`, and the Worker in front hands it nothing.
 */
export const WITHIN = "within-one-worker-script";
const ADDRESS = "http://object";
/** How often an object is told of a registration that does not answer. */
const TELLINGS_MAX = 3;

/** The other objects, as one of them sees them: partitions elsewhere, and who knows what is registered. */
export class Peers {
  readonly #options: PeersOptions;
  readonly #doors = new Map<number, Door>();

  constructor(options: PeersOptions) {
    this.#options = options;
  }

  /** The way to a partition in another object. */
  door(partition: number): Door {
    let door = this.#doors.get(partition);
    if (!door) {
      const { at } = this.#options;
      const post: Post = (url, request) => at(partition).fetch(new Request(url, request));
      door = new RemoteDoor({ post, secret: WITHIN, address: ADDRESS }, partition);
      this.#doors.set(partition, door);
    }
    return door;
  }

  /**
   * What is registered, which the object of partition 0 keeps for all. `own`: its store, in that
   * object: whatever it saves, the others know before whoever registered it is answered.
   */
  deployments(own: DeploymentStore): DeploymentStore {
    const { place: { partition, partitions } } = this.#options;
    if (partitions === 1) return own;
    if (partition !== 0) return this.#borrowed();
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

  #borrowed(): DeploymentStore {
    const refuse = () => Promise.reject(new Error("Only the object of partition 0 registers"));
    return {
      load: async () => JSON.parse(await this.#options.at(0).deployments(0)) as Deployment[],
      save: refuse,
      drop: refuse,
    };
  }

  async #announce(): Promise<void> {
    const { partitions } = this.#options.place;
    const others = Array.from({ length: partitions - 1 }, (_, i) => i + 1);
    await Promise.all(others.map((partition) => this.#tell(partition)));
  }

  /** One that cannot be told is not awake, or will be told by its next start. */
  async #tell(partition: number): Promise<void> {
    const { at, log } = this.#options;
    for (let telling = 1; telling <= TELLINGS_MAX; telling++) {
      try {
        return await at(partition).reload(partition);
      } catch (cause) {
        if (telling < TELLINGS_MAX) continue;
        log("warn", "Cannot tell a partition what is registered", {
          partition,
          cause: String(cause),
        });
      }
    }
  }
}
