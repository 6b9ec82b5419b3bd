import type { RecordPart } from "../../src/engine/event.ts";
import type { RecordsOfSource, Trail } from "../../src/placement/router.ts";
import type { PartitionClient, PartTaken } from "../../src/ports.ts";
import { ask, type Asking, isRefusal } from "./asking.ts";
import type { PartitionOwner } from "./partition_owner.ts";
import type { System } from "./system.ts";
import type { Topic } from "./topic.ts";

export interface SidecarOptions extends Asking {
  readonly topic: Topic;
  readonly partitions: number;
  readonly Router: System["Router"];
  /** The owner to send a request for a partition to, if there is one. */
  readonly ownerOf: (partition: number) => PartitionOwner | undefined;
}

type Batch = Omit<RecordsOfSource, "source">;

/** Stands for a part whose answer did not come. */
export class Unanswered extends Error {}

/**
 * Those who consume a partition of a topic, one after the other: each may die, or be taken for dead and
 * go on. The broker knows what was committed to it, which is some time ago.
 */
export class Consumers {
  readonly #options: SidecarOptions;
  #generation = 0;
  #committed = 0;
  /** How far the last of them has come. */
  #position = 0;
  /** Whether an owner that was overtaken has answered. What it knows may be of before that. */
  #hasMetStale = false;

  constructor(options: SidecarOptions) {
    this.#options = options;
    this.#join();
  }

  /** Whether all is acknowledged, and none of them is at work. */
  get isDone(): boolean {
    const { topic } = this.#options;
    return topic.isComplete && this.#position >= topic.end;
  }

  /** Sends all records once more. None of them may become anything. */
  again(): void {
    this.#committed = 0;
    this.#join();
  }

  #join(): void {
    const generation = ++this.#generation;
    this.#position = this.#committed;
    this.#consume(generation).catch((cause) => this.#options.failed(cause));
  }

  async #consume(generation: number): Promise<void> {
    const { world, topic, faults } = this.#options, { chance } = world;
    let position = this.#committed, isDead = false;
    const known = await this.#learned(generation);
    if (known === undefined) return;
    for (let since = 0; !isDead;) {
      // Of two of them the older one learns of it in a while.
      if (generation !== this.#generation && (since ||= world.mono) + 1_500 < world.mono) return;
      if (topic.isComplete && position >= topic.end) return;
      if (position >= topic.end) await world.sleep(chance.int(5, 60));
      else if (chance.happens(faults().poison)) {
        position = await this.#setAside(position);
        if (generation === this.#generation) this.#position = position;
      } else {
        const batch = topic.batch(position, chance.int(1, 8), known);
        if (generation === this.#generation && chance.happens(faults().sidecarLost)) {
          isDead = chance.happens(0.5);
          world.after(chance.int(0, 300), () => this.#replace());
        }
        const taken = await this.#sendTwo(batch, known);
        if (taken) {
          topic.acknowledged(taken.next);
          position = taken.next;
          this.#acknowledged(generation, position);
        }
        if (!taken || taken.isFull) await world.sleep(chance.int(10, 200));
      }
    }
  }

  /** The next record can become nothing now, so it leaves it out, unless the server is beyond it. */
  async #setAside(position: number): Promise<number> {
    const { topic } = this.#options;
    const known = await this.#known();
    if (known === undefined) return position;
    if (known > position) return Math.min(known, topic.end);
    topic.setAside(position);
    const told = await this.#send({ next: position + 1, records: [] });
    if (!told) return position;
    topic.noted = Math.max(topic.noted, position + 1);
    return position + 1;
  }

  /**
   * As `#known`. Before there is an answer it sends nothing, as the real one does: it would send records
   * that were set aside. Undefined: another one has taken its place.
   */
  async #learned(generation: number): Promise<number | undefined> {
    const { world } = this.#options;
    for (;;) {
      const known = await this.#known();
      if (known !== undefined || generation !== this.#generation) return known;
      await world.sleep(world.chance.int(10, 200));
    }
  }

  /** All before it is done with, as the servers say. Undefined: there is no answer. */
  async #known(): Promise<number | undefined> {
    const { topic } = this.#options, { noted } = topic;
    this.#hasMetStale = false;
    const known = (await this.#send({ next: 0, records: [] }))?.next;
    if (known !== undefined) topic.isKnown(known, this.#hasMetStale ? 0 : noted);
    return known;
  }

  /** Another one begins, from what was committed, or from before that by an operator's hand. */
  #replace(): void {
    const { world: { chance }, faults } = this.#options;
    if (chance.happens(faults().rewound)) this.#committed = chance.int(0, this.#committed);
    this.#join();
  }

  /** What is committed later by a sidecar that was replaced is refused by the broker. */
  #acknowledged(generation: number, position: number): void {
    const { world } = this.#options;
    if (generation !== this.#generation) return;
    this.#position = position;
    world.after(world.chance.int(0, 500), () => {
      if (generation !== this.#generation) return;
      this.#committed = Math.max(this.#committed, position);
    });
  }

  /** Sends the batch that comes next before this one is answered. It counts once this one is whole. */
  async #sendTwo(batch: Batch, known: number): Promise<PartTaken | undefined> {
    const { topic, world: { chance } } = this.#options;
    const [first] = batch.records;
    if (!first || batch.next >= topic.end || chance.happens(0.5)) return await this.#send(batch);
    const trail: Trail = { settled: first.offset, ends: new Map() };
    const behind = topic.batch(batch.next, chance.int(1, 8), known);
    const [one, two] = await Promise.all([
      this.#send({ ...batch, trail }),
      behind.records.length > 0 ? this.#send({ ...behind, trail }) : undefined,
    ]);
    return one?.next === batch.next && two && two.next > batch.next ? two : one;
  }

  async #send(batch: Batch): Promise<PartTaken | undefined> {
    const { topic: { source }, Router, partitions } = this.#options;
    const partitionClient = (partition: number) => (
      { ingest: (part: RecordPart) => this.#part(partition, part) } as unknown as PartitionClient
    );
    const router = new Router({ partitions, partitionClient });
    try {
      return await router.ingest({ source, ...batch });
    } catch (cause) {
      if (cause instanceof Unanswered) return undefined;
      throw cause;
    }
  }

  async #part(partition: number, part: RecordPart): Promise<PartTaken> {
    const { world, faults, ownerOf } = this.#options;
    if (world.chance.happens(faults().requestTwice)) void this.#twice(partition, part);
    const put = (client: PartitionClient) => client.ingest(part);
    const owner = ownerOf(partition);
    const taken = await ask(this.#options, owner, put);
    this.#hasMetStale ||= owner?.mayBeStale === true;
    if (!taken) throw new Unanswered();
    return taken;
  }

  /** The network brings it once more, maybe after later ones. */
  async #twice(partition: number, part: RecordPart): Promise<void> {
    const { world, ownerOf, failed } = this.#options;
    await world.sleep(world.chance.int(0, 1_000));
    try {
      await ask(this.#options, ownerOf(partition), (client) => client.ingest(part));
    } catch (cause) {
      if (!isRefusal(cause)) failed(cause);
    }
  }
}
