import type { Rate } from "../../model/limits.ts";
import { holdsSlots, type InvocationDraft } from "../../model/invocation.ts";
import type { Turn } from "../turn.ts";
import { firstFull, type Full, isUncontrolled, limitsOf, pausedBy } from "./admission.ts";
import { burstOf, TOKEN, tokensAt, whenTokens } from "./bucket.ts";
import { type Counter, isShared } from "./counters.ts";
import { demandOf, queueNameOf } from "./queue.ts";
import { putShare, shareAt } from "./share.ts";
import { setStatus } from "./status.ts";

/**
 * Why an invocation may not start now. Undefined: it may. One that holds its slots only heeds pauses.
 * `isGranted`: it goes before all that wait.
 */
export function whyNot(
  turn: Turn,
  draft: InvocationDraft,
  { isGranted } = { isGranted: false },
): Full | undefined {
  const { controls } = turn.schema;
  if (isUncontrolled(draft.target, controls)) return undefined;
  const demand = demandOf(draft, turn.schema);
  if (holdsSlots(draft.status)) {
    const counter = pausedBy(demand, controls);
    return counter === undefined ? undefined : { counter, by: "paused" };
  }
  return firstFull(demand, controls, {
    hasSlot: (counter, limit) => {
      const most = isShared(counter, turn.range)
        ? Math.min(limit, shareAt(turn, counter).slots)
        : limit;
      // Slots that are reserved for others are of grants behind this one.
      const used = isGranted ? turn.slots.held(counter) : turn.slots.taken(counter);
      if (used >= most) return false;
      return isGranted || !turn.slots.isAwaited(counter);
    },
    hasToken: (counter, rate) => {
      if (!isGranted && turn.slots.isAwaited(counter)) return false;
      const others = isGranted ? 0 : turn.slots.reservedTokens(counter);
      return isShared(counter, turn.range)
        ? shareAt(turn, counter).starts > others
        : tokensOf(turn, counter, rate) >= (others + 1) * TOKEN;
    },
  });
}

/** Has an invocation wait. Its slots, if it has any, are given back. */
export function enqueue(turn: Turn, draft: InvocationDraft, { counter, by }: Full): void {
  const before = draft.status;
  const isSame = before.kind === "queued";
  const queue = queueNameOf(draft, turn.schema);
  const seq = isSame ? before.seq : turn.slots.nextSeq++;
  const since = isSame ? before.since : turn.now;
  setStatus(turn, draft, { kind: "queued", queue, seq, since, by: isSame ? before.by : by });
  turn.slots.wait({ id: draft.id, queue, seq }, counter);
}

/** Takes a token of every rate that an invocation needs for its first start. */
export function takeTokens(turn: Turn, draft: InvocationDraft): void {
  if (draft.runningAt !== undefined || isUncontrolled(draft.target, turn.schema.controls)) return;
  const demand = demandOf(draft, turn.schema);
  for (const { counter, limits: { rate } } of limitsOf(demand, turn.schema.controls)) {
    if (rate) takeToken(turn, counter, rate);
  }
}

function takeStart(turn: Turn, counter: Counter): void {
  const share = shareAt(turn, counter);
  putShare(turn, { ...share, starts: Math.max(0, share.starts - 1) });
}

function takeToken(turn: Turn, counter: Counter, rate: Rate): void {
  if (isShared(counter, turn.range)) return takeStart(turn, counter);
  const { now } = turn;
  const tokens = tokensOf(turn, counter, rate) - TOKEN;
  const fullAt = whenTokens(tokens, burstOf(rate), { rate, now });
  const row = { counter, tokens, at: now, fullAt };
  turn.put("bucket", row);
  turn.slots.buckets.set(counter, row);
}

function tokensOf(turn: Turn, counter: Counter, rate: Rate): number {
  const bucket = turn.find("bucket", counter);
  // The partition may not know it yet, after a restart.
  if (bucket) turn.slots.buckets.set(counter, bucket);
  return tokensAt(bucket, rate, turn.now);
}
