import type { Message } from "../../src/model/message.ts";
import { shareOf } from "../../src/model/rows.ts";
import type { Rows } from "../../src/model/rows.ts";
import type { Controllers } from "./controllers.ts";
import type { Disks } from "./disks.ts";
import { must } from "./must.ts";
import { limitsAt, type SlotCheck, type SlotCommit } from "./slots.ts";

export interface SharesOptions {
  readonly controllers: Pick<Controllers, "at" | "schema" | "version">;
  readonly disks: Disks;
  /** What each partition has running. */
  readonly slots: readonly SlotCheck[];
  /** Messages that were written and not applied yet. */
  readonly underWay: () => Iterable<Message>;
}

/** The counter of a name by `shareOf`. */
const counterOf = (name: string) => name.slice(name.indexOf("/") + 1);

/**
 * Checks the slots of counters that all partitions share (decision 051). What a home has given to a
 * partition is what that has, and what is in messages between the two; the sum never grows beyond the limit;
 * no partition starts one with more running than it has slots, or with more in all partitions than the limit.
 */
export class ShareCheck {
  readonly #options: SharesOptions;
  /** The banks as they were last written, by counter. */
  readonly #banks = new Map<string, Rows["bank"]>();
  /** Counters whose bank was damaged at some time: it may have given too much. */
  readonly #suspect = new Set<string>();

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /** A bank that is damaged, and that every look at its counter should have corrected. */
  get uncorrected(): string | undefined {
    const { disks, controllers: { schema: { controls } } } = this.#options;
    const names = disks.each.flatMap(({ damaged }) => [...damaged]);
    return names.find((name) => limitsAt(controls, counterOf(name)) !== undefined);
  }

  /** Takes a commit of a partition whose slots were counted already. */
  commit(commit: SlotCommit, partition: number, slots: SlotCheck): void {
    for (const { table, row, drop } of commit.writes) {
      if (table !== "bank") continue;
      const { counter } = row as Rows["bank"];
      const gone = { counter, given: {}, waiting: [], told: [] };
      this.#mustFit(drop ? gone : row as Rows["bank"], { commit, partition });
    }
    for (const { damaged } of this.#options.disks.each) {
      for (const name of damaged) this.#suspect.add(counterOf(name));
    }
    this.#mustAgree();
    if (commit.since !== commit.until) return;
    for (const name of slots.taken) {
      this.#mustHave(name, { commit, partition, slots });
      this.#mustShare(name, commit);
    }
  }

  /** Who knows the limit of now starts nothing if as many run in all partitions together. */
  #mustShare(counter: string, { until }: SlotCommit): void {
    const { controllers, slots } = this.#options;
    if (counter.startsWith("scope:") || this.#suspect.has(counter)) return;
    if (until !== controllers.version) return;
    const { concurrency = Infinity } = limitsAt(controllers.at(until), counter) ?? {};
    const sum = slots.reduce((sum, one) => sum + one.held(counter), 0);
    must(sum <= concurrency, () => `${sum} run of "${counter}", of which ${concurrency} may`);
  }

  #mustFit(
    bank: Rows["bank"],
    { commit: { since, until }, partition }: {
      readonly commit: SlotCommit;
      readonly partition: number;
    },
  ): void {
    const { counter } = bank;
    const before = this.#banks.get(counter), sum = sumOf(bank);
    this.#banks.set(counter, bank);
    // What a partition counts, it runs already: the bank does not give it.
    const isCounted = JSON.stringify(countedOf(before)) !== JSON.stringify(countedOf(bank));
    if (isCounted || sum <= sumOf(before)) return;
    // A bank that is damaged may give too much before it is corrected.
    if (this.#isDamaged(shareOf({ partition, counter }))) return;
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
      } else if (message.type === "slotsCounted") {
        add(found, { partition: message.from, counter: message.counter }, -message.slots);
      }
    }
    for (const { damaged } of disks.each) {
      for (const name of damaged) {
        if ((found.get(name) ?? 0) === (expected.get(name) ?? 0)) damaged.delete(name);
      }
    }
    for (const name of new Set([...expected.keys(), ...found.keys()])) {
      const [has = 0, wanted = 0] = [found.get(name), expected.get(name)];
      if (this.#isDamaged(name)) continue;
      must(has === wanted, () => `${wanted} slots were given to "${name}", which has ${has}`);
    }
  }

  /** `name`: as `shareOf` gives it. */
  #isDamaged(name: string): boolean {
    return this.#options.disks.each.some(({ damaged }) => damaged.has(name));
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

function sumOf({ given = {} }: Partial<Rows["bank"]> = {}): number {
  return Object.values(given).reduce((sum, one) => sum + one, 0);
}

function countedOf({ since, counted }: Partial<Rows["bank"]> = {}): unknown {
  return [since, counted];
}
