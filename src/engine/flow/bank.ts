import type { Rate, SharedLimits } from "../../model/limits.ts";
import type { ShareMessage } from "../../model/message.ts";
import type { Rows, ShareRequest } from "../../model/rows.ts";
import { deliver } from "../outbox.ts";
import type { Turn } from "../turn.ts";
import { limitsOfCounter } from "./admission.ts";
import { countedIn, isBehind, uncounted } from "./bank_count.ts";
import { burstOf, TOKEN, tokensAt, whenTokens } from "./bucket.ts";
import type { Counter } from "./counters.ts";

type Bank = Rows["bank"];

/** What a bank does with the requests that wait. */
interface Hand {
  readonly gifts: readonly ShareRequest[];
  /** More is given than the limit allows. */
  readonly isOver: boolean;
  readonly limits: SharedLimits;
  /** Partitions that have not counted what they run. */
  readonly missing: readonly number[];
}

/** A partition asks for slots, or starts, of a counter whose home is here. */
export function slotsWanted(
  turn: Turn,
  { counter, from, slots, starts }: ShareMessage & { type: "slotsWanted" },
): void {
  const bank = bankAt(turn, counter);
  const others = bank.waiting.filter((one) => one.from !== from);
  turn.put("bank", { ...bank, waiting: [...others, { from, slots, starts }] });
  serveBank(turn, counter);
}

/** A partition does not use these. */
export function slotsReturned(
  turn: Turn,
  { counter, from, slots, starts }: ShareMessage & { type: "slotsReturned" },
): void {
  const bank = bankAt(turn, counter);
  turn.put("bank", given(bank, from, -slots));
  returnStarts(turn, counter, starts);
  serveBank(turn, counter);
}

/** A partition has counted what it runs under limits that are new or lower (decision 079). */
export function slotsCounted(
  turn: Turn,
  { counter, from, slots, starts, since }: ShareMessage & { type: "slotsCounted" },
): void {
  const { partitions } = turn.range;
  turn.put(
    "bank",
    countedIn(given(bankAt(turn, counter), from, slots), { from, since, partitions }),
  );
  returnStarts(turn, counter, starts);
  serveBank(turn, counter);
}

/**
 * Hands the free slots and tokens of a counter to the partitions that have asked, in the order of their
 * requests. Partitions that hold slots are asked to return them when a request stays unanswered, and when
 * the limit is lower than what is handed out. No slot of a new limit is free before all partitions have
 * counted what they run (decision 079).
 */
export function serveBank(turn: Turn, counter: Counter): void {
  const before = bankAt(turn, counter);
  const limits = limitsOfCounter(counter, turn.schema.controls);
  // Without a limit nothing is needed, and by an old one too much is given. The requests stay for a new one.
  if (!limits || isBehind(before, limits)) return keep(turn, before);
  const { concurrency, rate } = limits;
  const missing = uncounted(before, limits, turn.range.partitions);
  let free = concurrency === undefined ? Infinity : concurrency - sumOf(before);
  if (missing.length > 0) free = Math.min(free, 0);
  let tokens = rate ? tokensIn(turn, counter, rate) : 0;
  const gifts: ShareRequest[] = [], waiting: ShareRequest[] = [];
  for (const request of before.waiting) {
    const slots = concurrency === undefined ? 0 : Math.max(0, Math.min(request.slots, free));
    const starts = rate ? Math.min(request.starts, tokens) : 0;
    free -= slots;
    tokens -= starts;
    const isShort = concurrency !== undefined && request.slots > 0 || rate && request.starts > 0;
    // A request for what is not limited any more is answered, too.
    if (slots + starts > 0 || !isShort) gifts.push({ from: request.from, slots, starts });
    else waiting.push(request);
  }
  const spent = gifts.reduce((sum, { starts }) => sum + starts, 0);
  if (rate && spent > 0) addTokens(turn, { counter, rate }, -spent);
  const after = gifts.reduce((bank, { from, slots }) => given(bank, from, slots), before);
  hand(turn, { ...after, waiting }, { gifts, isOver: free < 0, limits, missing });
}

/**
 * Compares what a bank has given to its own partition with what that has. The two change in one turn, so
 * they differ only if a row is damaged. The share is right then: what runs goes by it (decision 069).
 */
export function correctBank(turn: Turn, { partition, counter, slots }: Rows["share"]): void {
  const bank = bankAt(turn, counter);
  const { [partition]: known = 0 } = bank.given;
  if (known === slots) return;
  turn.put("bank", given(bank, partition, slots - known));
  turn.slots.corrected.push({ counter, given: known, slots });
}

/** Whole tokens in the bucket of a counter. */
function tokensIn(turn: Turn, counter: Counter, rate: Rate): number {
  const bucket = turn.find("bucket", counter);
  // The scheduler may not know it yet, after a restart.
  if (bucket) turn.slots.buckets.set(counter, bucket);
  return Math.floor(tokensAt(bucket, rate, turn.now) / TOKEN);
}

/**
 * Writes what is given, and tells the partitions that get it, those whose slots are wanted, and once those
 * that have not counted what they run, since they may sleep and not have heard of the limits.
 */
function hand(turn: Turn, bank: Bank, { gifts, isOver, limits, missing }: Hand): void {
  const { counter, waiting, asked: askedAt = 0 } = bank;
  const { limitedAt = 0, tightenedAt: since = 0 } = limits;
  const asked = waiting.length > 0 && askedAt < limitedAt ? missing : [];
  const isWantedOf = (partition: number) =>
    isOver || waiting.some(({ from, slots }) => from !== partition && slots > 0);
  const served = new Set(gifts.map(({ from }) => from));
  const holders = Object.keys(bank.given).map(Number);
  // A partition that gets slots in this turn learns from that message that others want them.
  const before = bank.told.filter((one) => !served.has(one) && holders.includes(one));
  const told = holders.filter((one) => before.includes(one) || isWantedOf(one));
  keep(turn, { ...bank, told, ...(asked.length > 0 && { asked: limitedAt }) });
  for (const { from: to, slots, starts } of gifts) {
    // Until all have counted, it is not known whether they run too many.
    const isWanted = isWantedOf(to) || missing.length > 0;
    const gift = { counter, to, slots, starts, isWanted, ...(since > 0 && { since }) };
    deliver(turn, { type: "slotsGiven", ...gift });
  }
  const recalled = told.filter((one) => !before.includes(one) && !served.has(one));
  for (const to of new Set([...recalled, ...asked])) {
    deliver(turn, { type: "slotsRecalled", counter, to });
  }
}

function bankAt(turn: Turn, counter: Counter): Bank {
  return turn.find("bank", counter) ?? { counter, given: {}, waiting: [], told: [] };
}

/** A bank that says nothing is not stored. */
function keep(turn: Turn, bank: Bank): void {
  const { waiting, given, since, counted, asked } = bank;
  const isEmpty = waiting.length === 0 && Object.keys(given).length === 0 &&
    since === undefined && counted === undefined && asked === undefined;
  if (!isEmpty) turn.put("bank", bank);
  else if (turn.find("bank", bank.counter)) turn.drop("bank", bank);
  turn.slots.banks.push(bank);
}

/** A partition has `slots` more, or fewer. */
function given(bank: Bank, partition: number, slots: number): Bank {
  const { [partition]: before = 0, ...others } = bank.given;
  const has = Math.max(0, before + slots);
  return { ...bank, given: has === 0 ? others : { ...others, [partition]: has } };
}

function sumOf(bank: Bank): number {
  return Object.values(bank.given).reduce((sum, one) => sum + one, 0);
}

/** Starts come back to the bucket that they are from. */
function returnStarts(turn: Turn, counter: Counter, starts: number): void {
  const rate = limitsOfCounter(counter, turn.schema.controls)?.rate;
  if (rate && starts > 0) addTokens(turn, { counter, rate }, starts);
}

/** Adds tokens to the bucket of a counter, or takes some that are there. */
function addTokens(
  turn: Turn,
  { counter, rate }: { readonly counter: Counter; readonly rate: Rate },
  count: number,
): void {
  const { now } = turn;
  const burst = burstOf(rate);
  const before = tokensAt(turn.find("bucket", counter), rate, now);
  const tokens = Math.min(burst, before + count * TOKEN);
  const row = { counter, tokens, at: now, fullAt: whenTokens(tokens, burst, { rate, now }) };
  turn.put("bucket", row);
  turn.slots.buckets.set(counter, row);
}
