import type { SharedLimits } from "../../model/limits.ts";
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

/** What the partition has of a shared counter under the limits of this turn. Throws `miss`. */
export function shareAt(turn: Turn, counter: Counter): Rows["share"] {
  const share = storedShare(turn, counter);
  const limits = limitsOfCounter(counter, turn.schema.controls);
  const { since = 0 } = share, { tightenedAt = 0 } = limits ?? {};
  if (limits && since < tightenedAt) return countedShare(turn, share, limits);
  // The scheduler may not know it yet, after a restart.
  turn.slots.shares.push(share);
  return share;
}

function storedShare(turn: Turn, counter: Counter): Rows["share"] {
  const { partition } = turn.range;
  return turn.find("share", shareOf({ partition, counter })) ??
    { partition, counter, ...NOTHING };
}

/**
 * Under limits that are new or lower, the partition has as many slots as it runs, and no starts: the home
 * hears of the difference, and gives what is left (decision 079). Together partitions may run too many, so
 * each one gives back what becomes free until the home gives it more.
 */
function countedShare(
  turn: Turn,
  share: Rows["share"],
  { concurrency, tightenedAt: since = 0 }: SharedLimits,
): Rows["share"] {
  const { partition: from, partitions } = turn.range;
  const { counter, starts } = share;
  const slots = concurrency === undefined ? share.slots : turn.slots.held(counter);
  const isWanted = share.isWanted || slots > 0;
  putShare(turn, { ...share, slots, starts: 0, isWanted, since });
  const to = partitionOfCounter(counter, partitions);
  const more = slots - share.slots;
  deliver(turn, { type: "slotsCounted", counter, to, from, slots: more, starts, since });
  // If the home is here, it may have given some already.
  return storedShare(turn, counter);
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
    // Even if one is reserved: what was reserved before the share was counted has no slot.
    const idle = share.slots - turn.slots.held(counter);
    if (share.isWanted) giveBack(turn, share, { slots: Math.min(1, idle), starts: 0 });
  }
}

/** Asks the home of a shared counter for more, gives back what is not used, or looks at both. */
export function balanceShare(turn: Turn, event: SharesEvent): void {
  turn.slots.reviewed.push(event.id);
  switch (event.type) {
    case "shortOfSlots":
      return shortOfSlots(turn, event);
    case "slotsIdle":
      return slotsIdle(turn, event);
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

/**
 * The home has answered. What it gave under limits that are tighter now goes back; it did not know then
 * that what is counted here is wanted.
 */
export function slotsGiven(
  turn: Turn,
  { counter, slots, starts, isWanted, since = 0 }: ShareMessage & { type: "slotsGiven" },
): void {
  const before = shareAt(turn, counter);
  const share = { ...before, asksSlots: false, asksStarts: false, isWanted };
  if (since >= (before.since ?? 0)) {
    return putShare(turn, { ...share, slots: share.slots + slots, starts: share.starts + starts });
  }
  putShare(turn, { ...share, isWanted: isWanted || before.isWanted });
  sendBack(turn, { counter, slots, starts });
}

/** Others wait for slots. The scheduler then has those given back that are not used. */
export function slotsRecalled(
  turn: Turn,
  { counter }: ShareMessage & { type: "slotsRecalled" },
): void {
  putShare(turn, { ...shareAt(turn, counter), isWanted: true });
}

/** Gives back at most what is neither held nor reserved. */
function slotsIdle(
  turn: Turn,
  { id, slots, starts }: SharesEvent & { type: "slotsIdle" },
): void {
  const share = shareAt(turn, id);
  giveBack(turn, share, { slots: Math.min(slots, share.slots - turn.slots.taken(id)), starts });
}

function giveBack(
  turn: Turn,
  share: Rows["share"],
  most: { readonly slots: number; readonly starts: number },
): void {
  const { counter } = share;
  const slots = Math.max(0, most.slots);
  const starts = Math.min(most.starts, share.starts);
  if (slots + starts === 0) return;
  putShare(turn, { ...share, slots: share.slots - slots, starts: share.starts - starts });
  sendBack(turn, { counter, slots, starts });
}

function sendBack(
  turn: Turn,
  { counter, slots, starts }: Pick<Rows["share"], "counter" | "slots" | "starts">,
): void {
  const { partition: from, partitions } = turn.range;
  const to = partitionOfCounter(counter, partitions);
  deliver(turn, { type: "slotsReturned", counter, to, from, slots, starts });
}
