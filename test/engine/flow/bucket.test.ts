import fc from "fast-check";
import { expect, test } from "vitest";
import { burstOf, TOKEN, tokensAt, whenTokens } from "../../../src/engine/flow/bucket.ts";

const rates = fc.record({
  count: fc.integer({ min: 1, max: 1_000 }),
  periodMs: fc.integer({ min: 1, max: 100_000 }),
  burst: fc.integer({ min: 1, max: 50 }),
});

test("an absent bucket is full, and a bucket never has more than its burst", () => {
  const rate = { count: 10, periodMs: 1_000 };
  expect(burstOf(rate)).toBe(10 * TOKEN);
  expect(burstOf({ ...rate, burst: 3 })).toBe(3 * TOKEN);
  expect(tokensAt(undefined, rate, 0)).toBe(10 * TOKEN);
  expect(tokensAt({ tokens: 0, at: 0 }, rate, 100)).toBe(TOKEN);
  expect(tokensAt({ tokens: 0, at: 0 }, rate, 1e9)).toBe(10 * TOKEN);
  expect(tokensAt({ tokens: 5 * TOKEN, at: 1_000 }, rate, 0)).toBe(5 * TOKEN);
});

test("a token is there at the moment that was said, and not before", () => {
  fc.assert(fc.property(rates, fc.nat(TOKEN), fc.nat(1e6), (rate, tokens, now) => {
    const due = whenTokens(tokens, TOKEN, { rate, now });
    expect(tokensAt({ tokens, at: now }, rate, due)).toBeGreaterThanOrEqual(TOKEN);
    if (due > now) expect(tokensAt({ tokens, at: now }, rate, due - 1)).toBeLessThan(TOKEN);
  }));
});

test("tokens taken as fast as possible are at most the burst and the rate", () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 200 });
  fc.assert(fc.property(rates, gaps, (rate, gaps) => {
    let bucket: { tokens: number; at: number } | undefined;
    let now = 0, taken = 0;
    for (const gap of gaps) {
      now += gap;
      const tokens = tokensAt(bucket, rate, now);
      if (tokens < TOKEN) continue;
      bucket = { tokens: tokens - TOKEN, at: now };
      taken++;
      expect(taken).toBeLessThanOrEqual(rate.burst + now * rate.count / rate.periodMs);
    }
  }));
});
