import { type Rows, shareOf } from "../../src/model/rows.ts";
import type { ShareRows } from "../../src/storage/share_rows.ts";

type Holding = Pick<Rows["share"], "partition" | "counter">;

/** Slots, by partition and counter. */
class Sums {
  readonly #sums = new Map<string, Holding & { slots: number }>();

  add({ partition, counter }: Holding, slots: number): void {
    const name = shareOf({ partition, counter });
    const sum = this.#sums.get(name);
    if (sum) sum.slots += slots;
    else this.#sums.set(name, { partition, counter, slots });
  }

  of(holding: Holding): number {
    return this.#sums.get(shareOf(holding))?.slots ?? 0;
  }

  values(): Iterable<Holding & { readonly slots: number }> {
    return this.#sums.values();
  }
}

/**
 * Compares what homes have given with what partitions have, and both with the limits (decision 051).
 * Yields a text for each counter and partition where they disagree, and for each counter of which
 * partitions have more than its limit. More is right after a limit was lowered, until what runs has ended:
 * the partitions then know that slots are wanted back.
 *
 * `limitOf`: how many of a counter may run at once. Undefined: any number.
 */
export function* shareProblems(
  rows: ShareRows,
  limitOf: (counter: string) => number | undefined,
): Generator<string> {
  const { given, owned, sent } = sumsOf(rows);
  const known = [...owned.values(), ...sent.values(), ...given.values()];
  const holdings = new Map(known.map((one) => [shareOf(one), one]));
  for (const [name, holding] of holdings) {
    const has = owned.of(holding), moves = sent.of(holding), wanted = given.of(holding);
    if (has + moves === wanted) continue;
    const more = moves === 0 ? "" : ` and ${moves} under way`;
    yield `share "${name}": it has ${has} slots${more}, and its bank has given it ${wanted}`;
  }
  for (const counter of new Set(known.map(({ counter }) => counter))) {
    const limit = limitOf(counter);
    const all = [...holdings.values()].filter((one) => one.counter === counter);
    const sum = all.reduce((sum, one) => sum + owned.of(one) + sent.of(one), 0);
    if (limit === undefined || sum <= limit) continue;
    const isUntold = all.some((one) => owned.of(one) > 0 && !isWanted(rows, one));
    if (isUntold) {
      yield `bank "${counter}": partitions have ${sum} slots, and the limit is ${limit}`;
    }
  }
}

function sumsOf(rows: ShareRows): Record<"given" | "owned" | "sent", Sums> {
  const given = new Sums(), owned = new Sums(), sent = new Sums();
  for (const { counter, given: slots } of rows.banks) {
    for (const [partition, one] of Object.entries(slots)) {
      given.add({ partition: Number(partition), counter }, one);
    }
  }
  for (const share of rows.shares) owned.add(share, share.slots);
  for (const message of rows.underWay()) {
    const { type, counter, slots } = message;
    const partition = type === "slotsGiven" ? message.to : message.from;
    // The home has not given yet what a partition has counted.
    sent.add({ partition, counter }, type === "slotsCounted" ? -slots : slots);
  }
  return { given, owned, sent };
}

/** Whether a partition knows, or will learn, that others wait for its slots. */
function isWanted(rows: ShareRows, { partition, counter }: Holding): boolean {
  const isTold = rows.bankOf(counter)?.told.includes(partition) === true;
  return isTold || rows.shareOf({ partition, counter })?.isWanted === true;
}
