import { describe, expect, test } from "vitest";
import {
  FileError,
  FORMAT,
  parseFile,
  VERSION,
} from "../../src/ui/pages/invocation/export/file.ts";
import { SVG_STEPS_MAX, waterfallSvg } from "../../src/ui/pages/invocation/export/svg.ts";
import type { Step } from "../../src/ui/pages/invocation/steps.ts";
import { timelineOf } from "../../src/ui/pages/invocation/timeline.ts";
import { BIDI, DEEP, MARKUP } from "./_hostile.ts";

const AT = "2026-01-01T00:00:00Z";
const ROW = {
  id: "inv_1abc",
  target: "Greeter/greet",
  target_service_name: "Greeter",
  target_handler_name: "greet",
  target_service_ty: "service",
  status: "completed",
  created_at: AT,
};
const ENTRY = {
  index: 0,
  entry_type: "Command: Input",
  appended_at: AT,
  entry_lite_json: `{"Command":{"Input":{}}}`,
};
const FILE = {
  format: FORMAT,
  version: VERSION,
  exported_at: AT,
  server: "1",
  has_values: true,
  invocation: ROW,
  journal: [ENTRY],
  events: [],
  state: [],
};

/** What is wrong with a file that differs so. */
function problemOf(changes: Readonly<Record<string, unknown>>): string {
  try {
    parseFile(JSON.stringify({ ...FILE, ...changes }));
    return "nothing";
  } catch (cause) {
    expect(cause).toBeInstanceOf(FileError);
    return (cause as Error).message.replace("Cannot open the file: ", "");
  }
}

const row = (more: unknown) => ({ invocation: { ...ROW, ...more as object } });
const entry = (more: unknown) => ({ journal: [{ ...ENTRY, ...more as object }] });

describe("a file of an invocation", () => {
  test("is read as it was written", () => {
    expect(parseFile(JSON.stringify(FILE))).toEqual(FILE);
    expect(problemOf({ server: MARKUP + BIDI })).toBe("nothing");
  });

  test("is refused with what is wrong, and where", () => {
    expect([
      problemOf({ format: "other" }),
      problemOf({ version: VERSION + 1 }),
      problemOf({ version: "1" }),
      problemOf({ exported_at: "soon" }),
      problemOf({ invocation: null }),
      problemOf(row({ id: "../../evil" })),
      problemOf(row({ target: 5 })),
      problemOf(row({ completed_at: "yesterday" })),
      problemOf(row({ completion_failure: { toString: 1 } })),
      problemOf({ journal: {} }),
      problemOf(entry({ index: 7 })),
      problemOf(entry({ entry_lite_json: `{"Command":{"Run":null}}` })),
      problemOf(entry({ entry_json: "{" })),
      problemOf(entry({ appended_at: "NaN" })),
      problemOf({ events: [{ after_journal_entry_index: -1 }] }),
      problemOf({ state: [{ key: "a", value_length: 1, value: "zz" }] }),
    ]).toMatchInlineSnapshot(`
      [
        "it is no perdure-invocation",
        "its version is 2, and this page knows 1",
        "its version is no number",
        "exported_at is no time",
        "invocation is no object",
        "invocation.id is no id",
        "invocation.target is no text",
        "invocation.completed_at is no time",
        "invocation.completion_failure is no text",
        "journal is no list",
        "journal[0].index is not 0",
        "journal[0].entry_lite_json is no entry",
        "journal[0].entry_json is no entry",
        "journal[0].appended_at is no time",
        "events[0].after_journal_entry_index is no number",
        "state[0].value is not hexadecimal",
      ]
    `);
  });

  test("is refused where it is no JSON, or JSON of another kind", () => {
    for (const text of ["", "{", "null", "[]", "5", DEEP, MARKUP, "\u0000"]) {
      expect(() => parseFile(text), text.slice(0, 10)).toThrow(FileError);
    }
  });
});

describe("a waterfall as SVG", () => {
  const step = (index: number, more: Partial<Step> = {}): Step => ({
    index,
    code: `run("${index}")`,
    type: "Run",
    result: "success",
    at: AT,
    endedAt: "2026-01-01T00:00:01Z",
    ...more,
  });
  const draw = (steps: readonly Step[], title = "Greeter/greet") => {
    const line = timelineOf([Date.parse(AT), Date.parse(AT) + 1_000], true);
    return waterfallSvg({
      title,
      steps,
      line,
      failures: new Map([[0, [{ at: Date.parse(AT), text: "" }]]]),
    });
  };

  test("has a bar, a label and a duration for each step, and marks of failed attempts", () => {
    const svg = draw([step(0), step(1, { result: "pending" }), step(2, { at: undefined })]);
    expect(svg).toContain(`0 run("0")`);
    expect(svg).toContain("1.0 s success");
    expect(svg).toContain("1.0 s pending");
    expect(svg.match(/height="18"/g)?.length).toBe(1);
    expect(svg.match(/height="10"/g)?.length).toBe(2);
    expect(svg).not.toMatch(/NaN|undefined/);
  });

  test("has everything that users wrote as text that XML allows", () => {
    const svg = draw([step(0, { code: `${MARKUP}\u0000\ud800` })], `${BIDI}\u0000${MARKUP}`);
    expect(svg).not.toMatch(/<img|<script/);
    expect(svg).not.toMatch(/\p{Cs}/u);
    for (const sign of ["\u0000", ...BIDI.replaceAll(/[a-z.]/g, "")]) {
      expect(svg.includes(sign)).toBe(false);
    }
  });

  test("draws a part of a journal that is very long, and says so", () => {
    const svg = draw(Array.from({ length: SVG_STEPS_MAX + 3 }, (_, at) => step(at)));
    expect(svg).toContain("and 3 more steps");
  });
});
