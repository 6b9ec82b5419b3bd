import { isShareMessage, type Message } from "../../src/model/message.ts";
import type { Rows } from "../../src/model/rows.ts";
import type { Controllers } from "./controllers.ts";
import type { Disks } from "./disks.ts";
import { must } from "./must.ts";
import { levelsOf, limitsAt, type SlotCheck, type SlotCommit, unchangedSince } from "./slots.ts";

export interface StartsOptions {
  readonly controllers: Pick<Controllers, "at">;
  readonly disks: Disks;
  /** Messages that were written and not applied yet. */
  readonly underWay: () => Iterable<Message>;
  /** Whether all clocks are right: only then is known what a rate allows. */
  readonly isPunctual: boolean;
}

/** What is known of a counter since its rate is what it is. */
interface Known {
  /** The change of the controls since which it has this rate. */
  readonly from: number;
  /** First starts. */
  started: number;
  /** These and the starts that partitions have and have not used, after the last commit. */
  given: number;
  /** The same after each commit of its home that wrote the bucket, and the time of that. */
  readonly gifts: { readonly given: number; readonly at: number }[];
}

/**
 * Checks the rates of counters that all partitions share (decision 051). A start comes from the bucket at
 * the home of the counter, and from nowhere else: what partitions have used, what they have, and what is in
 * messages grows with the bucket only, and in no window by more than the burst and what the rate gives in
 * that time. So in no window do all partitions together start more than that and what they had at its begin.
 */
export class StartCheck {
  readonly #options: StartsOptions;
  readonly #known = new Map<string, Known>();

  constructor(options: StartsOptions) {
    this.#options = options;
  }

  /** Takes a commit of a partition whose slots were counted already. */
  commit(commit: SlotCommit, slots: SlotCheck): void {
    const controls = this.#options.controllers.at(commit.until);
    // A partition that knows that a rate has ended drops its starts, while others may know it still.
    for (const counter of this.#known.keys()) {
      if (!limitsAt(controls, counter)?.rate) this.#known.delete(counter);
    }
    for (const [service, { limits, handlers = {} }] of controls.services) {
      if (limits?.rate) this.#review(`service:${service}`, { commit, slots });
      for (const [handler, { rate }] of Object.entries(handlers)) {
        if (rate) this.#review(`handler:${service}/${handler}`, { commit, slots });
      }
    }
  }

  #review(
    counter: string,
    { commit: { since, until, writes }, slots }: {
      readonly commit: SlotCommit;
      readonly slots: SlotCheck;
    },
  ): void {
    const { controllers } = this.#options;
    const { rate } = limitsAt(controllers.at(until), counter) ?? {};
    const known = this.#known.get(counter), unused = this.#unused(counter);
    if (!rate) return;
    const from = unchangedSince(controllers, counter, { rate, until });
    // What began before may have needed no token, and what had another rate before may have had none since.
    if (known?.from !== from || since < from) {
      this.#known.set(counter, { from, started: 0, given: unused, gifts: [] });
      return;
    }
    known.started += slots.started.filter((row) => levelsOf(row).includes(counter)).length;
    const given = known.started + unused;
    const written = writes.find(({ table, row }) =>
      table === "bucket" && (row as Rows["bucket"]).counter === counter
    );
    if (written) {
      this.#mustAllow(counter, { known, given, row: written.row as Rows["bucket"], rate });
    } else {
      must(
        given === known.given,
        () => `"${counter}" has ${given} starts, and its bucket has given ${known.given}`,
      );
    }
    known.given = given;
  }

  #mustAllow(
    counter: string,
    { known: { gifts }, given, row: { at }, rate: { count, periodMs, burst = count } }: {
      readonly known: Known;
      readonly given: number;
      readonly row: Rows["bucket"];
      readonly rate: { readonly count: number; readonly periodMs: number; readonly burst?: number };
    },
  ): void {
    for (const first of this.#options.isPunctual ? gifts : []) {
      const ms = Math.max(0, at - first.at), allowed = burst + ms * count / periodMs;
      must(
        given - first.given <= allowed + 1e-6,
        () => `${given - first.given} starts of "${counter}" in ${ms} ms, and ${allowed} may be`,
      );
    }
    gifts.push({ given, at });
  }

  /** Starts that partitions have, and those in messages. */
  #unused(counter: string): number {
    const { disks, underWay } = this.#options;
    const shares = disks.all("share").filter((one) => one.counter === counter);
    let sum = shares.reduce((all, { starts }) => all + starts, 0);
    for (const message of underWay()) {
      if (!isShareMessage(message) || message.counter !== counter) continue;
      if (message.type !== "slotsWanted" && "starts" in message) sum += message.starts;
    }
    return sum;
  }
}
