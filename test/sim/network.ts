import type { OutboxBatch } from "../../src/ports.ts";
import { isRefusal } from "./asking.ts";
import { Injected } from "./connection.ts";
import type { Faults } from "./faults.ts";
import type { History } from "./history.ts";
import type { PartitionOwner } from "./partition_owner.ts";
import type { World } from "./world.ts";

export interface NetworkOptions {
  readonly world: World;
  readonly faults: () => Faults;
  readonly history: History;
  /** A process that says that it owns this partition. */
  readonly route: (partition: number) => PartitionOwner | undefined;
  readonly failed: (cause: unknown) => void;
}

/** When the sender of a batch gives up. */
const TIMEOUT_MS = 1_000;

/**
 * The way between partitions. It loses batches and answers, brings some of them late, twice and in
 * another order, and tells the sender only that it does not know.
 */
export class Network {
  readonly #options: NetworkOptions;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  carry(owner: PartitionOwner, to: number, batch: OutboxBatch): Promise<number> {
    const { world, failed } = this.#options, { process } = owner;
    const { outboxBatchLost, answerLost, outboxBatchTwice, outboxBatchMs } = this.#options.faults();
    const { chance } = world;
    const isLost = chance.happens(outboxBatchLost), isUnheard = chance.happens(answerLost);
    const out = chance.int(0, outboxBatchMs), home = chance.int(0, outboxBatchMs);
    const again = chance.happens(outboxBatchTwice) ? chance.int(0, 2_000) : undefined;
    if (!process.touch()) return new Promise(() => {});
    try {
      this.#options.history.deliveries.sent(to, batch);
    } catch (cause) {
      failed(cause);
    }
    world.log(`batch ${batch.from}/${to} ${batch.first}+${batch.messages.length}`);
    // Somebody who sends what it sends twice hears of the first answer, if of any.
    if (again !== undefined) world.after(out + again, () => void this.#bring(to, batch));
    return new Promise((resolve, reject) => {
      const back = (ms: number, call: () => void) => world.after(ms, () => process.run(call));
      const giveUp = back(TIMEOUT_MS, () => reject(new Injected("Nobody answered")));
      if (isLost) return;
      world.after(out, async () => {
        const heard = await this.#bring(to, batch);
        if (isUnheard) return;
        giveUp();
        back(home, () => {
          if (heard === undefined) reject(new Injected("It was not taken"));
          else resolve(heard);
        });
      });
    });
  }

  /** Undefined: the receiver has not taken it. */
  async #bring(to: number, { from, first, messages }: OutboxBatch): Promise<number | undefined> {
    const { route, history, failed } = this.#options;
    try {
      const batch = { from, first, messages: messages.map((one) => structuredClone(one)) };
      const heard = await route(to)?.ask((client) => client.deliver(batch));
      if (heard !== undefined) history.deliveries.acknowledges({ from, to }, heard);
      return heard;
    } catch (cause) {
      if (!isRefusal(cause)) failed(cause);
      return undefined;
    }
  }
}
