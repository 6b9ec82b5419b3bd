import type { Rate } from "../../model/limits.ts";
import type { Rows } from "../../model/rows.ts";

/** The unit in which buckets count, so that rows have whole numbers: a millionth of a token. */
export const TOKEN = 1_000_000;

/** What is in a token bucket at `at`, in milliseconds since the epoch. Absent bucket: it is full. */
export type BucketState = Pick<Rows["bucket"], "tokens" | "at">;

/** What a full bucket has, in millionths of a token. */
export function burstOf({ count, burst = count }: Rate): number {
  return burst * TOKEN;
}

/** Millionths of a token at `now`. A clock that was set back adds none, and takes none away. */
export function tokensAt(bucket: BucketState | undefined, rate: Rate, now: number): number {
  if (!bucket) return burstOf(rate);
  const elapsed = Math.max(0, now - bucket.at);
  return Math.min(
    burstOf(rate),
    bucket.tokens + Math.floor(elapsed * rate.count * TOKEN / rate.periodMs),
  );
}

/** When a bucket with `tokens` at `now` has `wanted`, both in millionths. Milliseconds since the epoch. */
export function whenTokens(
  tokens: number,
  wanted: number,
  { rate, now }: { readonly rate: Rate; readonly now: number },
): number {
  return now + Math.max(0, Math.ceil((wanted - tokens) * rate.periodMs / rate.count / TOKEN));
}
