import type { ShareMessage } from "../../model/message.ts";
import { partitionOfCounter } from "../../model/ring.ts";
import type { Rows } from "../../model/rows.ts";
import { shareOf } from "../../model/rows.ts";
import type { SharesEvent } from "../event.ts";
import { deliver } from "../outbox.ts";
import type { Turn } from "../turn.ts";
import { limitsOfCounter } from "./admission.ts";
import { correctBank, serveBank } from "./bank.ts";
import { type Counted, type Counter, countersOf, isShared } from "./counters.ts";

const NOTHING = { slots: 0, starts: 0, asksSlots: false, asksStarts: false, isWanted: false };

/** What the partition has of a shared counter. Throws `miss`. */
export function shareAt(turn: Turn, counter: Counter): Rows["share"] {
  const { partition } = turn.range;
  const share = turn.find("share", shareOf({ partition, counter })) ??
    { partition, counter, ...NOTHING };
  // The scheduler may not know it yet, after a restart.
  turn.slots.shares.push(share);
  return share;
}

/** Writes what the partition has. */
export function putShare(turn: Turn, share: Rows["share"]): void {
  turn.put("share", share);
  turn.slots.shares.push(share);
}

/**
 * An invocation has given back its slots. Those that other partitions wait for go to the home of their
 * counter at once: they are not for those that wait here, which ask for others and so take their turn.
 */
export function freed(turn: Turn, counted: Counted): void {
  const { range, schema: { controls } } = turn;
  if (range.partitions === 1 || !controls.services.has(counted.target.service)) return;
  for (const counter of countersOf(counted)) {
    if (!isShared(counter, range) || !limitsOfCounter(counter, controls)) continue;
    const share = shareAt(turn, counter);
    if (share.isWanted) giveBack(turn, share, { slots: 1, starts: 0 });
  }
}

/** Asks the home of a shared counter for more, gives back what is not used, or looks at both. */
export function balanceShare(turn: Turn, event: SharesEvent): void {
  turn.slots.reviewed.push(event.id);
  switch (event.type) {
    case "shortOfSlots":
      return shortOfSlots(turn, event);
    case "slotsIdle":
      return giveBack(turn, shareAt(turn, event.id), event);
    case "sharesDue":
      return sharesDue(turn, event);
  }
}

/** Asks for more, unless that has been done. */
function shortOfSlots(
  turn: Turn,
  { id: counter, slots, starts }: SharesEvent & { type: "shortOfSlots" },
): void {
  const share = shareAt(turn, counter);
  const asksSlots = slots > 0, asksStarts = starts > 0;
  const isNew = asksSlots && !share.asksSlots || asksStarts && !share.asksStarts;
  if (!isNew) return;
  putShare(turn, { ...share, asksSlots, asksStarts });
  const { partition: from, partitions } = turn.range;
  const to = partitionOfCounter(counter, partitions);
  deliver(turn, { type: "slotsWanted", counter, to, from, slots, starts });
}

/**
 * Looks at what the partition has and, at the home of the counter, whether something can be given. Every
 * boot does so: there the two rows of the home are compared first.
 */
function sharesDue(turn: Turn, { id }: SharesEvent & { type: "sharesDue" }): void {
  const { partition, partitions } = turn.range;
  const share = shareAt(turn, id);
  if (partitionOfCounter(id, partitions) !== partition) return;
  correctBank(turn, share);
  serveBank(turn, id);
}

/** The home has answered. */
export function slotsGiven(
  turn: Turn,
  { counter, slots, starts, isWanted }: ShareMessage & { type: "slotsGiven" },
): void {
  const share = shareAt(turn, counter);
  putShare(turn, {
    ...share,
    slots: share.slots + slots,
    starts: share.starts + starts,
    asksSlots: false,
    asksStarts: false,
    isWanted,
  });
}

/** Others wait for slots. The scheduler then has those given back that are not used. */
export function slotsRecalled(
  turn: Turn,
  { counter }: ShareMessage & { type: "slotsRecalled" },
): void {
  putShare(turn, { ...shareAt(turn, counter), isWanted: true });
}

/** At most what is given, and what is neither held nor reserved. */
function giveBack(
  turn: Turn,
  share: Rows["share"],
  most: { readonly slots: number; readonly starts: number },
): void {
  const { counter } = share;
  const slots = Math.max(0, Math.min(most.slots, share.slots - turn.slots.taken(counter)));
  const starts = Math.min(most.starts, share.starts);
  if (slots + starts === 0) return;
  putShare(turn, { ...share, slots: share.slots - slots, starts: share.starts - starts });
  const { partition: from, partitions } = turn.range;
  const to = partitionOfCounter(counter, partitions);
  deliver(turn, { type: "slotsReturned", counter, to, from, slots, starts });
}
