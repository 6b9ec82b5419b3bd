import type { Write } from "../../src/model/rows.ts";
import { DeadLetters } from "./dead_letters.ts";
import type { Disks } from "./disks.ts";
import type { Limits } from "./faults.ts";
import { Consumers, type SidecarOptions } from "./sidecar.ts";
import { mustFit, Topic } from "./topic.ts";

export interface TopicsOptions extends Omit<SidecarOptions, "topic" | "partitions"> {
  readonly limits: Limits;
  readonly disks: Disks;
}

/** All partitions of a topic, and who consumes them. */
export class Topics {
  readonly #options: TopicsOptions;
  readonly #topics: Topic[] = [];
  readonly #consumers: Consumers[] = [];
  #letters: DeadLetters | undefined;

  constructor(options: TopicsOptions) {
    this.#options = options;
  }

  /** One partition or two, written within `ms`. */
  feed(ms: number): void {
    const { world, limits: { partitions } } = this.#options;
    this.#letters = new DeadLetters({ ...this.#options, partitions });
    for (let n = world.chance.int(0, 1); n >= 0; n--) {
      const topic = new Topic(world, n);
      this.#topics.push(topic);
      void topic.write(ms);
      this.#consumers.push(new Consumers({ ...this.#options, topic, partitions }));
    }
  }

  /** Sends all records once more. */
  again(): void {
    for (const one of this.#consumers) one.again();
  }

  /** Whether all records are acknowledged. */
  get isConsumed(): boolean {
    return this.#consumers.every(({ isDone }) => isDone);
  }

  /** A commit of a partition of ours has reached its disk. */
  commit(writes: readonly Write[], partition: number): void {
    const { disks, limits: { inboxMax, partitions } } = this.#options, disk = disks.of(partition);
    for (const topic of this.#topics) topic.commit(writes, disk);
    this.#letters?.commit(writes);
    mustFit(disk, Math.ceil(inboxMax / partitions));
  }

  /** Every record has become what it had to. */
  mustBeMade(): void {
    for (const topic of this.#topics) topic.mustBeMade(this.#options.history);
  }
}
