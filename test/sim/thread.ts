import type { ThreadPort } from "../../src/placement/thread_peers.ts";
import type { OutboxBatch } from "../../src/ports.ts";
import { type Controllers, HeardControls } from "./controllers.ts";
import type { History } from "./history.ts";
import { Broken } from "./must.ts";
import type { OwnersOptions } from "./owners.ts";
import { type Entrance, PartitionOwner } from "./partition_owner.ts";
import type { Process } from "./process.ts";
import type { System } from "./system.ts";

export interface ThreadOptions extends OwnersOptions {
  /** How many there are, at most one for each partition. */
  readonly threads: number;
  readonly ThreadPeers: System["ThreadPeers"];
  readonly history: History;
  readonly controllers: Controllers;
}

export interface ThreadPlace {
  readonly process: Process;
  /** To the others, by their numbers. */
  readonly ports: ReadonlyMap<number, ThreadPort>;
  readonly partitions: readonly number[];
  /** Where a request of a connection for a partition comes in. */
  readonly entrance: (connection: number, partition: number) => Entrance;
}

/** A thread of a process: a server for its partitions, which asks the others for theirs. */
export class Thread {
  readonly process: Process;
  /** Requests and batches for partitions of other threads. */
  readonly pending = new Set<object>();
  /** By partition. Empty: it has not begun. */
  readonly owners = new Map<number, PartitionOwner>();
  /** Whether all its partitions were opened. */
  isStarted = false;
  readonly #controls: HeardControls;
  readonly #options: ThreadOptions;
  readonly #place: ThreadPlace;
  readonly #peers: InstanceType<System["ThreadPeers"]>;

  constructor(options: ThreadOptions, place: ThreadPlace) {
    this.process = place.process;
    this.#options = options;
    this.#place = place;
    this.#controls = new HeardControls(options.controllers);
    this.#peers = new options.ThreadPeers({
      ports: place.ports,
      methods: {},
      soon: place.process.clock().soon,
      partitionClient: (partition) =>
        this.isStarted ? this.owners.get(partition)?.host.partitionClient : undefined,
      log: (level, message, fields) => {
        // A store that does not answer a read is an answer to that request alone.
        if (!this.process.isAlive || String(fields?.["cause"]).startsWith("Injected:")) return;
        const text = `${level} ${message}: ${JSON.stringify(fields)}`;
        options.failed(new Broken(`Thread ${this.process.name} says ${text}`));
      },
    });
  }

  /** Opens its partitions. Rejects when one cannot be opened; never settles when its process ends. */
  async start(): Promise<void> {
    const { world, ownerOf } = this.#options, { partitions, entrance } = this.#place;
    for (const partition of partitions) {
      world.log(`thread ${this.process.name} takes partition ${partition}`);
      const owner = new PartitionOwner(this.process, {
        ...ownerOf(partition),
        controllers: this.#controls,
        carry: (_, to, batch) => this.#carry(to, batch),
        entrance: (connection) => entrance(connection, partition),
      });
      this.owners.set(partition, owner);
    }
    await Promise.all([...this.owners.values()].map(({ host }) => host.open()));
    this.isStarted = true;
  }

  /** Hears of a change of the limits or pauses, of all since the last one. */
  controlsChanged(): void {
    this.process.run(() => {
      this.#controls.version = this.#options.controllers.version;
      for (const owner of this.owners.values()) owner.host.controlsChanged();
    });
  }

  /** Leaves its partitions in order. */
  async close(): Promise<void> {
    for (const owner of this.owners.values()) owner.close();
    await Promise.all([...this.owners.values()].map((owner) => owner.drained()));
  }

  /** How a request comes to a partition that enters here. */
  entrance(partition: number): Entrance {
    const { process, pending } = this;
    const here = this.owners.get(partition)?.here;
    return here ?? { process, pending, client: this.#peers.partitionClient(partition) };
  }

  async #carry(to: number, batch: OutboxBatch): Promise<number> {
    const { world, history: { deliveries } } = this.#options;
    if (!this.process.touch()) return await new Promise(() => {});
    this.#guard(() => deliveries.sent(to, batch));
    world.log(`batch ${batch.from}/${to} ${batch.first}+${batch.messages.length}`);
    const { client, pending } = this.entrance(to), token = {};
    pending.add(token);
    const heard = await client.deliver(batch).finally(() => pending.delete(token));
    this.#guard(() => deliveries.acknowledges({ from: batch.from, to }, heard));
    return heard;
  }

  #guard(check: () => void): void {
    try {
      check();
    } catch (cause) {
      this.#options.failed(cause);
    }
  }
}
