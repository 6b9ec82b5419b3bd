import type { Message } from "../../src/model/message.ts";
import { shareOf } from "../../src/model/rows.ts";
import type { Rows } from "../../src/model/rows.ts";
import type { Controllers } from "./controllers.ts";
import type { Disks } from "./disks.ts";
import { must } from "./must.ts";
import { limitsAt, type SlotCheck, type SlotCommit } from "./slots.ts";

export interface SharesOptions {
  readonly controllers: Pick<Controllers, "at">;
  readonly disks: Disks;
  /** Messages that were written and not applied yet. */
  readonly underWay: () => Iterable<Message>;
}

/**
 * Checks the slots of counters that all partitions share (decision 051). What a home has given to a
 * partition is what that has, and what is in messages between the two; the sum never grows beyond the limit;
 * and no partition starts one with more running than it has slots.
 */
export class ShareCheck {
  readonly #options: SharesOptions;
  readonly #given = new Map<string, number>();

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /** Takes a commit of a partition whose slots were counted already. */
  commit(commit: SlotCommit, partition: number, slots: SlotCheck): void {
    for (const { table, row, drop } of commit.writes) {
      if (table === "bank") this.#mustFit(row as Rows["bank"], drop, commit);
    }
    this.#mustAgree();
    if (commit.since !== commit.until) return;
    for (const name of slots.taken) this.#mustHave(name, { commit, partition, slots });
  }

  #mustFit({ counter, given }: Rows["bank"], drop: boolean, { since, until }: SlotCommit): void {
    const before = this.#given.get(counter) ?? 0, sum = drop ? 0 : sumOf(Object.values(given));
    this.#given.set(counter, sum);
    if (sum <= before) return;
    let limit = 0;
    for (let version = since; version <= until; version++) {
      const controls = this.#options.controllers.at(version);
      limit = Math.max(limit, limitsAt(controls, counter)?.concurrency ?? Infinity);
    }
    must(sum <= limit, () => `Partitions have ${sum} slots of "${counter}", which has ${limit}`);
  }

  #mustAgree(): void {
    const { disks, underWay } = this.#options;
    const expected = new Map<string, number>(), found = new Map<string, number>();
    const add = (sums: Map<string, number>, of: Parameters<typeof shareOf>[0], slots: number) =>
      void sums.set(shareOf(of), (sums.get(shareOf(of)) ?? 0) + slots);
    for (const { counter, given } of disks.all("bank")) {
      for (const [partition, slots] of Object.entries(given)) {
        add(expected, { partition: Number(partition), counter }, slots);
      }
    }
    for (const share of disks.all("share")) add(found, share, share.slots);
    for (const message of underWay()) {
      if (message.type === "slotsGiven") {
        add(found, { partition: message.to, counter: message.counter }, message.slots);
      } else if (message.type === "slotsReturned") {
        add(found, { partition: message.from, counter: message.counter }, message.slots);
      }
    }
    for (const name of new Set([...expected.keys(), ...found.keys()])) {
      const [has = 0, wanted = 0] = [found.get(name), expected.get(name)];
      must(has === wanted, () => `${wanted} slots were given to "${name}", which has ${has}`);
    }
  }

  #mustHave(
    counter: string,
    { commit: { until }, partition, slots }: {
      readonly commit: SlotCommit;
      readonly partition: number;
      readonly slots: SlotCheck;
    },
  ): void {
    if (counter.startsWith("scope:")) return;
    const { controllers, disks } = this.#options;
    if (limitsAt(controllers.at(until), counter)?.concurrency === undefined) return;
    const share = disks.of(partition).find("share", shareOf({ partition, counter }));
    const held = slots.held(counter), { slots: has = 0 } = share ?? {};
    must(held <= has, () => `${held} run of "${counter}" in ${partition}, which has ${has} slots`);
  }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}
