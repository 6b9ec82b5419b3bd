import { describe, expect, test } from "vitest";
import type { EventRow } from "../../src/ui/pages/invocation/data.ts";
import { type EntryRow, stepsOf } from "../../src/ui/pages/invocation/steps.ts";
import {
  attemptText,
  awaitedAt,
  byEntry,
  failuresBefore,
  nameOf,
} from "../../src/ui/pages/invocation/travel/moments.ts";
import {
  beginningOf,
  type Sources,
  withBeginning,
} from "../../src/ui/pages/invocation/travel/beginning.ts";
import {
  contentOf,
  factsOf,
  type NamesByEntry,
  stateAt,
} from "../../src/ui/pages/invocation/travel/state_at.ts";

const rowsOf = (entries: readonly unknown[]): EntryRow[] =>
  entries.map((lite, index) => ({ index, entry_type: "X", entry_lite_json: JSON.stringify(lite) }));
const command = (type: string, fields: unknown = {}) => ({ Command: { [type]: fields } });
const done = (id: number, result = "Success") => ({
  Notification: { ty: { Completion: "X" }, id: { CompletionId: id }, result },
});

/** The state behind each entry, in words. */
function statesOf(entries: readonly unknown[], names: NamesByEntry = new Map()): string[] {
  const facts = factsOf(rowsOf(entries));
  return entries.map((_, at) => {
    const { known, isWhole } = stateAt(facts, at, names);
    const words = known.map((one) =>
      `${one.key}=${one.kind === "value" ? `#${one.valueIndex}` : one.kind}`
    );
    return `${words.join(" ")}${isWhole ? "." : "?"}`;
  });
}

describe("the state at an entry", () => {
  test("has what was written by then, and nothing that was not read before it was written", () => {
    expect(statesOf([
      command("Input"),
      command("SetState", { key: "a" }),
      command("SetState", { key: "a" }),
      command("ClearState", { key: "a" }),
    ])).toEqual(["a=unknown?", "a=#1?", "a=#2?", "a=absent?"]);
  });

  test("has what was read before it was written, from the beginning", () => {
    expect(statesOf([
      command("Input"),
      command("GetEagerState", { key: "a", result: "Success" }),
      command("GetEagerState", { key: "b", result: "Void" }),
      command("SetState", { key: "a" }),
    ])).toEqual([
      "a=#1 b=absent?",
      "a=#1 b=absent?",
      "a=#1 b=absent?",
      "a=#3 b=absent?",
    ]);
  });

  test("does not take what the handler wrote itself for the beginning", () => {
    expect(
      statesOf([
        command("Input"),
        command("SetState", { key: "a" }),
        command("GetEagerState", { key: "a", result: "Success" }),
      ])[0],
    ).toBe("a=unknown?");
  });

  test("has lazy reads as they were when they were asked for", () => {
    expect(statesOf([
      command("GetLazyState", { key: "a", completion_id: 1 }),
      command("SetState", { key: "a" }),
      done(1),
      command("GetLazyState", { key: "b", completion_id: 2 }),
    ])).toEqual(["a=#2?", "a=#1?", "a=#1?", "a=#1?"]);
  });

  test("is whole once everything was cleared", () => {
    expect(statesOf([
      command("GetEagerState", { key: "a", result: "Success" }),
      command("ClearAllState"),
      command("SetState", { key: "b" }),
    ])).toEqual(["a=#0 b=unknown?", "a=absent b=absent.", "a=absent b=#2."]);
  });

  test("is whole where all keys were listed, with the values that are not known", () => {
    const names = new Map([[1, ["a", "b"]]]);
    expect(statesOf([
      command("SetState", { key: "b" }),
      command("GetEagerStateKeys"),
      command("SetState", { key: "c" }),
    ], names)).toEqual([
      "a=present b=#0 c=absent.",
      "a=present b=#0 c=absent.",
      "a=present b=#0 c=#2.",
    ]);
  });

  test("does not take a list of what is left for a list of the beginning", () => {
    const entries = [command("Input"), command("ClearAllState"), command("GetEagerStateKeys")];
    expect(statesOf(entries, new Map([[2, []]]))).toEqual(["?", ".", "."]);
  });

  test("is read from entries of each kind, and from none that is damaged", () => {
    const completion = (result: unknown) =>
      JSON.stringify({ Notification: { Completion: { GetLazyState: { result } } } });
    expect(contentOf(JSON.stringify(command("SetState", { value: [1] })))).toEqual([1]);
    expect(contentOf(JSON.stringify(command("GetEagerState", { result: { Success: [2] } }))))
      .toEqual([2]);
    expect(contentOf(JSON.stringify(command("GetEagerStateKeys", { state_keys: ["a"] }))))
      .toEqual(["a"]);
    expect(contentOf(completion({ Success: [3] }))).toEqual([3]);
    expect(contentOf(completion({ StateKeys: ["b"] }))).toEqual(["b"]);
    for (const damaged of [undefined, "", "{", "null", "[]", '{"Command":1}']) {
      expect(contentOf(damaged)).toBeUndefined();
    }
  });
});

describe("the state at the beginning", () => {
  const run = (id: string, entries: readonly unknown[]) => ({
    id,
    handler: id,
    rows: rowsOf(entries),
  });
  const set = (key: string) => command("SetState", { key });
  const state = (...keys: readonly string[]) => ({
    rows: keys.map((key) => ({ key, value_length: 1 })),
    isWhole: true,
  });
  const facts = factsOf(rowsOf([command("Input"), set("a"), set("b")]));
  const wordsOf = (sources: Sources, own = facts) => {
    const { known, isWhole } = withBeginning(
      stateAt(own, 0, new Map()),
      beginningOf(own, sources),
    );
    const words = known.map((one) => `${one.key}=${"run" in one ? one.run?.id : ""}:${one.kind}`);
    return `${words.join(" ")}${isWhole ? "." : "?"}`;
  };

  test("is what the newest run before left, which was not older than one that is unknown", () => {
    const runs = [
      run("r2", [set("a")]),
      run("r1", [set("a"), set("c"), command("ClearState", { key: "b" })]),
    ];
    expect(wordsOf({ runs: [] })).toBe("a=:unknown b=:unknown?");
    expect(wordsOf({ runs })).toBe("a=r2:run b=r1:void c=r1:run?");
  });

  test("is whole where a run before cleared everything, and where it has not changed since", () => {
    const cleared = run("r1", [command("ClearAllState"), set("a")]);
    expect(wordsOf({ runs: [cleared, run("r0", [set("c")])] })).toBe("a=r1:run b=r1:void.");
    expect(wordsOf({ runs: [], now: state("a", "x") })).toBe("a=:unknown b=:unknown x=:now.");
  });

  test("is not what is now, after its own run has cleared everything", () => {
    const own = factsOf(rowsOf([command("Input"), command("ClearAllState"), set("a")]));
    expect(wordsOf({ runs: [], now: state("a", "x") }, own)).toBe("a=:unknown?");
  });

  test("is empty for a workflow", () => {
    expect(wordsOf({ runs: [], isNew: true })).toBe("a=:void b=:void.");
  });
});

describe("an entry", () => {
  const rows = rowsOf([
    command("Input"),
    command("Run", { completion_id: 1, name: "a" }),
    command("Sleep", { completion_id: 2 }),
    done(1),
  ]);
  const entries = byEntry(stepsOf(rows));

  test("is a step or the result of one", () => {
    expect([0, 1, 2, 3, 4].map((at) => nameOf(entries.of.get(at), at)))
      .toEqual(["input()", 'run("a")', "sleep()", 'result of run("a")', "unreadable entry"]);
  });

  test("awaits what has no result by then", () => {
    const awaited = rows.map((_, at) => awaitedAt(entries.steps, at).map(({ index }) => index));
    expect(awaited).toEqual([[], [1], [1, 2], [2]]);
  });

  test("belongs to the first attempt, or to one behind the failures before it", () => {
    const event = (after: number, type: string, json = "{}"): EventRow => ({
      after_journal_entry_index: after,
      appended_at: "",
      event_type: type,
      event_json: json,
    });
    const events = [
      event(1, "TransientError"),
      event(1, "Paused"),
      event(2, "Paused", '{"last_failure":{}}'),
    ];
    const uncounted = { failed: undefined, isGivenUp: false, isCommand: true };
    const texts = [1, 2, 3].map((at) => attemptText(failuresBefore(events, at, uncounted)));
    expect(texts).toEqual([
      "first attempt",
      "attempt 2 or a later one, 1 failure before it",
      "attempt 3 or a later one, 2 failures before it",
    ]);
  });

  test("has the number of its attempt where the server counts those that failed", () => {
    const event = (after: number, type: string, failed: number, json = "{}"): EventRow => ({
      after_journal_entry_index: after,
      appended_at: "",
      event_type: type,
      event_json: json,
      failed_attempts: failed,
    });
    // Behind entry 1 it failed three times in the same way, and was paused; behind entry 4 once.
    const events = [
      event(4, "Paused", 4, '{"last_failure":{}}'),
      event(1, "Paused", 3),
      event(1, "TransientError", 1),
    ];
    const attemptOf = (at: number, more: object = {}) =>
      attemptText(failuresBefore(events, at, {
        ...{ failed: 5, isGivenUp: false, isCommand: true },
        ...more,
      }));
    expect([1, 2, 4, 5].map((at) => attemptOf(at)))
      .toEqual(["first attempt", "attempt 4", "attempt 4", "attempt 6"]);
    // A result may have come between two failures that are the same.
    expect(attemptOf(5, { isCommand: false })).toBe("attempt 5 or 6");
    expect(attemptText(failuresBefore(events.slice(2), 2, {
      ...{ failed: 4, isGivenUp: false, isCommand: false },
    }))).toBe("attempt 2 to 5");
    // The last failure may have ended it, and have come behind the entry.
    expect(attemptOf(5, { isGivenUp: true })).toBe("attempt 5 or 6");
  });
});
