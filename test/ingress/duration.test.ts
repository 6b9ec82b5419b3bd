import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  BadDuration,
  DURATION_MS_MAX,
  parseDuration,
  printDuration,
} from "../../src/model/duration.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

// docs/spec/ingress.md#durations, and what the reference server answered when asked.
const accepted: [text: string, ms: number][] = [
  ["1s", 1000],
  ["100ms", 100],
  ["500us", 1],
  ["1ns", 1],
  ["1.5s", 1500],
  ["1,5s", 1500],
  ["1.1s", 1100],
  ["1.5h", 1.5 * HOUR],
  ["1.5ms", 2],
  ["0s", 0],
  ["0", 0],
  ["0h0m0s", 0],
  ["-0s", 0],
  ["+5s", 5000],
  ["5d", 5 * DAY],
  ["1w", 7 * DAY],
  ["1day", DAY],
  ["2h30m", 2.5 * HOUR],
  ["1h 30m", 1.5 * HOUR],
  ["1h  30m", 1.5 * HOUR],
  ["1h, 30m", 1.5 * HOUR],
  ["1 h 30 m", 1.5 * HOUR],
  ["1 hour 30 minutes", 1.5 * HOUR],
  ["5 s", 5000],
  ["1s ", 1000],
  ["1h1.5s", HOUR + 1500],
  ["1s1ms1us1ns", 1002],
  ["1µs", 1],
  ["1 weeks 2 days 3 hours 4 minutes 5 seconds 6 milliseconds", 788_645_006],
  ["PT1S", 1000],
  ["PT0.5S", 500],
  ["PT0,5S", 500],
  ["PT1.5H", 1.5 * HOUR],
  ["PT1M1.5S", 61_500],
  ["P1D", DAY],
  ["P1W", 7 * DAY],
  ["P1W1D", 8 * DAY],
  ["P1DT2H", DAY + 2 * HOUR],
  ["P1WT1H", 7 * DAY + HOUR],
  ["PT36H", 36 * HOUR],
  ["pt1s", 1000],
  ["+PT5S", 5000],
  ["P0D", 0],
  ["7304484d", DURATION_MS_MAX],
];

const refused = [
  ..."10,00,0.0,abc,-5s,-PT5S,PT,P,P1DT,1month,1mo,1y,P1M,P1Y,1h1h,1m1h,1d1w,PT1M1M,PT1S1M".split(
    ",",
  ),
  ..."9999999d,7304485d,99999999999999999999s,1S,1H,1Day,1.5d,1.5w,P1.5D,1.5m30s,1.5ns".split(","),
  ..."1.1234567891s,.5s,1.s,1h and 30m,1e3s,0x1s,1_000s,1s2,s,1h30,P 1D,--1s,+ 5s,in 5s".split(","),
  ...["", " 1s", "\t1s", "1h,30m", "1h , 30m", "1h,", "1h, ", "PT5S ", "PT1.5H30M", "1s\n1x"],
];

describe("durations", () => {
  it.each(accepted)("%j is %d ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(refused)("%j is refused", (text) => {
    expect(() => parseDuration(text)).toThrow(BadDuration);
  });

  it("years and months are refused with what to do instead", () => {
    for (const text of ["1y", "2 months", "P1M", "P1Y"]) {
      expect(() => parseDuration(text)).toThrow("please use units of days or smaller");
    }
  });

  it.each([
    [0, "0s"],
    [DAY, "1d"],
    [60_000, "1m"],
    [600_000, "10m"],
    [500, "500ms"],
    [999_999_999_999, "11574d 1h 46m 39s 999ms"],
  ])("%d ms is printed %j", (ms, text) => {
    expect(printDuration(ms)).toBe(text);
  });

  it("what is printed is read back", () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: DURATION_MS_MAX }), (ms) => {
      expect(parseDuration(printDuration(ms))).toBe(ms);
    }));
  });

  it("no text takes long or fails in another way", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."0159.,PTYMWDHShms +-") }), (text) => {
        try {
          expect(parseDuration(text)).toBeGreaterThanOrEqual(0);
        } catch (cause) {
          expect(cause).toBeInstanceOf(BadDuration);
        }
      }),
    );
    const started = performance.now();
    for (const text of ["9".repeat(60_000), "1s ".repeat(20_000), `1s${" ".repeat(60_000)}x`]) {
      expect(() => parseDuration(text)).toThrow(BadDuration);
    }
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
