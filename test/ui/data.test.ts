import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseFilter, shortDurationMs, termText, withTerm } from "../../src/ui/data/filter.ts";
import { parseJson } from "../../src/ui/data/json.ts";
import { contains, name, sql, where } from "../../src/ui/data/sql.ts";
import { compileFilter, FIELD_NAMES } from "../../src/ui/pages/invocations/fields.ts";
import { type EntryRow, readable, stepsOf, valueOf } from "../../src/ui/pages/invocation/steps.ts";
import { timelineOf, viewIn, viewOf, viewText } from "../../src/ui/pages/invocation/timeline.ts";
import { durationMs, durationText } from "../../src/ui/widgets/duration.ts";

describe("JSON of the admin API", () => {
  test("keeps every digit of 64-bit numbers, and nothing else is changed", () => {
    const text = `{"a":17948366260488289750,"b":-9223372036854775808,"c":9007199254740991,
      "d":"17948366260488289750 \\" 12345678901234567890","e":1.2345678901234567,"f":[1e300]}`;
    expect(parseJson(text)).toEqual({
      a: "17948366260488289750",
      b: "-9223372036854775808",
      c: 9007199254740991,
      d: '17948366260488289750 " 12345678901234567890',
      e: 1.2345678901234567,
      f: [1e300],
    });
  });

  test("is what JSON.parse says for all values without large integers", () => {
    const large = (_: string, value: unknown) =>
      Number.isInteger(value) && !Number.isSafeInteger(value) ? 0 : value;
    fc.assert(fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify([value, "1234567890123456"], large);
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }));
  });
});

describe("SQL", () => {
  test("has its values escaped, lists and parts included", () => {
    const text = "it's \\ \u202e%";
    expect(sql`SELECT 1 WHERE a = ${text} AND b IN ${["x'", 2]} AND c = ${null}`.text)
      .toBe(`SELECT 1 WHERE a = 'it''s \\ \u202e%' AND b IN ('x''', 2) AND c = NULL`);
    expect(contains(name('a"b'), "50%_\\").text).toBe(`"a""b" ILIKE '%50\\%\\_\\\\%'`);
    expect(where([]).text).toBe("");
    expect(() => sql`${Number.NaN}`).toThrow(RangeError);
  });
});

describe("a filter line", () => {
  test("is terms: fields, alternatives, quoted values, what is left out, free text", () => {
    const terms = parseFilter(
      `status:retrying,paused -service:"a b",c error:"say \\"no\\"" x:y zz`,
      [
        ...FIELD_NAMES,
      ],
    );
    expect(terms.map(({ field, values, isNot }) => [field, values, isNot])).toEqual([
      ["status", ["retrying", "paused"], false],
      ["service", ["a b", "c"], true],
      ["error", [`say "no"`], false],
      [undefined, ["x:y"], false],
      [undefined, ["zz"], false],
    ]);
  });

  test("gives back any value that was written into it", () => {
    const texts = fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 3 });
    fc.assert(fc.property(texts, fc.boolean(), (values, isNot) => {
      const [term] = parseFilter(termText("key", values, isNot), ["key"]);
      expect([term?.values, term?.isNot]).toEqual([values, isNot]);
    }));
  });

  test("changes one field and leaves the others as they were typed", () => {
    const change = (values: string[]) =>
      withTerm(`a status:paused key:"x y"`, { field: "status", values, fields: FIELD_NAMES });
    expect(change(["failed"])).toBe(`a key:"x y" status:failed`);
    expect(change([])).toBe(`a key:"x y"`);
  });

  test("compiles to escaped conditions, and names what means nothing", () => {
    const now = Date.UTC(2026, 0, 2);
    const { conditions, problems } = compileFilter(
      `key:"o'brien" age:>1d retries:>5 status:asleep age:soon -status:paused`,
      now,
    );
    expect(conditions.map(({ text }) => text)).toEqual([
      `("target_service_key" = 'o''brien')`,
      `(created_at < '2026-01-01T00:00:00.000Z')`,
      `(retry_count > 5)`,
      `(status = 'paused') IS NOT TRUE`,
    ]);
    expect([...problems.keys()]).toEqual(["status:asleep", "age:soon"]);
    expect(compileFilter("status:paused zz", now, "status").conditions.length).toBe(1);
  });
});

describe("durations", () => {
  test("are read from SQL and from people, and written in two units", () => {
    expect([durationMs("PT86400S"), durationMs("P0D"), durationMs("P1DT1.5S"), durationMs("x")])
      .toEqual([86_400_000, 0, 86_401_500, undefined]);
    expect([shortDurationMs("90s"), shortDurationMs("1.5h"), shortDurationMs("1w")])
      .toEqual([90_000, 5_400_000, undefined]);
    expect([340, 1_250, 59_999, 65_000, 3_600_000, 90_000_000].map(durationText))
      .toEqual(["340 ms", "1.2 s", "59 s", "1 m 5 s", "1 h", "1 d 1 h"]);
  });
});

describe("the time of a waterfall", () => {
  const DAY_MS = 86_400_000;

  test("is linear, but for waits that would leave nothing of the rest", () => {
    const line = timelineOf([0, 10, 20, 30, 30 + DAY_MS, 40 + DAY_MS], true);
    expect(line.folds.map(({ ms }) => ms)).toEqual([DAY_MS]);
    expect(line.at(10)).toBeCloseTo((1 - 0.06) / 4);
    expect(line.at(30 + DAY_MS) - line.at(30)).toBeCloseTo(0.06);
    expect([line.at(-5), line.at(DAY_MS * 2)]).toEqual([0, expect.closeTo(1)]);
    const unfolded = timelineOf([0, 10, 20, 30, 30 + DAY_MS, 40 + DAY_MS], false);
    expect([unfolded.folds, unfolded.at(30)]).toEqual([[], expect.closeTo(0, 3)]);
  });

  test("never goes back, and stays on the line", () => {
    const moments = fc.array(fc.integer({ min: 0, max: 10 * DAY_MS }), { maxLength: 40 });
    fc.assert(fc.property(moments, fc.boolean(), (all, isFolding) => {
      const line = timelineOf(all, isFolding);
      const places = all.toSorted((a, b) => a - b).map((ms) => line.at(ms));
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      for (const place of places) {
        expect(place).toBeGreaterThanOrEqual(0);
        expect(place).toBeLessThanOrEqual(1 + 1e-9);
      }
    }));
  });
});

describe("the part of a waterfall that is shown", () => {
  const line = timelineOf([1_000, 1_002, 1_004, 1_006, 2_106], true);

  test("has an address in times, which stays right when the line grows or is unfolded", () => {
    expect(line.folds).toHaveLength(1);
    const text = viewText(line, viewOf(line.at(1_003), line.at(1_004) - line.at(1_002)));
    expect(text).toBe("2-4");
    for (const isFolding of [true, false]) {
      const later = timelineOf([1_000, 1_002, 1_004, 1_006, 2_106, 2_200], isFolding);
      const shown = viewIn(later, text).map((place) => later.momentAt(place));
      expect(shown).toEqual([expect.closeTo(1_002), expect.closeTo(1_004)]);
    }
    // Up to the end, which moves with the line.
    expect(viewText(line, [line.at(1_004), 1])).toBe("4-");
    expect(viewIn(line, "4-")).toEqual([expect.closeTo(line.at(1_004)), expect.closeTo(1)]);
  });

  test("is all of it for an empty text, and for one that means nothing", () => {
    expect(viewText(line, [0, 1])).toBe("");
    const nonsense = [
      "",
      "4-2",
      "2-2",
      "9e9-",
      "-5-3",
      "1-2-3",
      "all",
      "NaN-1",
      "20000-30000",
      "-",
    ];
    for (const text of nonsense) expect(viewIn(line, text), text).toEqual([0, 1]);
  });

  test("is what its address says", () => {
    const moments = fc.array(fc.integer({ min: 0, max: 10 ** 10 }), {
      minLength: 2,
      maxLength: 40,
    });
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(fc.property(moments, fc.boolean(), share, share, (all, isFolding, middle, width) => {
      const line = timelineOf(all, isFolding);
      // Moments of less than some ms are a part of a digit.
      fc.pre(line.to - line.from > 10_000);
      const view = viewOf(middle, width);
      const [from, to] = viewIn(line, viewText(line, view));
      const offset = (place: number) => line.momentAt(place);
      const isNear = (a: number, b: number) =>
        Math.abs(offset(a) - offset(b)) <= 0.02 + (line.to - line.from) * 0.001;
      expect([isNear(from, view[0]), isNear(to, view[1])]).toEqual([true, true]);
    }));
  });
});

describe("the steps of a journal", () => {
  const entry = (index: number, lite: unknown): EntryRow => ({
    index,
    entry_type: "Command: X",
    appended_at: `2026-01-01T00:00:0${index}.000Z`,
    entry_lite_json: JSON.stringify(lite),
  });

  test("are commands with what came of them, and signals", () => {
    const target = { VirtualObject: { name: "Cart", key: "a/b", handler: "add" } };
    const call = { invocation_id: "inv_1x", invocation_target: target, result_completion_id: 2 };
    const steps = stepsOf([
      entry(0, { Command: { Input: {} } }),
      entry(1, { Command: { Run: { completion_id: 1, name: `say "x"` } } }),
      entry(2, { Command: { Call: call } }),
      entry(3, {
        Notification: { ty: { Completion: "Run" }, id: { CompletionId: 1 }, result: "Failure" },
      }),
      entry(4, { Notification: { ty: "Signal", id: { SignalIndex: 17 }, result: "Success" } }),
      entry(5, { Command: { Output: { result: "Success" } } }),
      { index: 6, entry_type: "Unreadable", entry_lite_json: "{" },
    ]);
    expect(steps.map(({ index, code, result }) => [index, code, result])).toEqual([
      [0, "input()", "none"],
      [1, `run("say \\"x\\"")`, "failure"],
      [2, "call Cart/a/b/add()", "pending"],
      [4, "signal 17 arrives", "success"],
      [5, "return", "success"],
      [6, "Unreadable", "none"],
    ]);
    expect(steps[1]).toMatchObject({ resultIndex: 3, endedAt: "2026-01-01T00:00:03.000Z" });
    expect(steps[2]?.callee).toBe("inv_1x");
  });

  test("are not pending while their results may be among entries that are not read yet", () => {
    const run = entry(1, { Command: { Run: { completion_id: 1, name: "a" } } });
    const results = [true, false].map((isWhole) => stepsOf([run], isWhole)[0]?.result);
    expect(results).toEqual(["pending", "none"]);
  });

  test("have their values decoded: JSON, text, or digits", () => {
    const bytes = (text: string) => [...new TextEncoder().encode(text)];
    expect(valueOf(bytes(`{"a":1}`))).toEqual({ a: 1 });
    expect(valueOf(bytes("<b>"))).toBe("<b>");
    expect(valueOf([255, 0])).toBe("0xff00");
    expect(readable({ Command: { Input: { payload: bytes("1"), keys: [1, 2] } } }))
      .toEqual({ Command: { Input: { payload: 1, keys: [1, 2] } } });
  });
});
