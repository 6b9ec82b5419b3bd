import { expect, test } from "vitest";
import type { Statement } from "../../src/ports.ts";
import { type Background, WriteScheduler } from "../../src/storage/log/write_scheduler.ts";

const settled = () => new Promise((resolve) => setImmediate(resolve));
const named = (sql: string): Statement[] => [{ sql, args: [] }];

/** A lane whose writes end when the test says so. `sent`: what is or was on its way, in order. */
function lane(overlaps = false) {
  const sent: string[] = [], ends = new Map<string, (cause?: unknown) => void>();
  const failures: unknown[] = [];
  const write = ([first]: readonly Statement[]) =>
    new Promise<void>((resolve, reject) => {
      sent.push(first!.sql);
      ends.set(first!.sql, (cause) => cause === undefined ? resolve() : reject(cause));
    });
  const made = new WriteScheduler({
    commit: write,
    write,
    put: write,
    soon: (call) => setImmediate(call),
    failed: (cause) => failures.push(cause),
    overlaps,
  });
  const end = async (name: string, cause?: unknown) => {
    ends.get(name)!(cause);
    await settled();
    await settled();
  };
  return { lane: made, sent, end, failures };
}

/** A fold of so many batches. `urgent`: whether it goes before commits that wait. */
function background(lane: () => WriteScheduler, batches: number, urgent = false): Background {
  let next = 0;
  return {
    isUrgent: () => urgent,
    next: () => named(`fold ${next++}`),
    done: () => void (next === batches && lane().finish()),
  };
}

test.each([false, true])(
  "commits go one at a time, in their order (overlaps: %s)",
  async (overlaps) => {
    const { lane: one, sent, end } = lane(overlaps);
    const done: string[] = [];
    for (const name of ["a", "b", "c"]) void one.commit(named(name)).then(() => done.push(name));
    await settled();
    expect(sent).toEqual(["a"]);
    for (const name of ["a", "b", "c"]) await end(name);
    expect([sent, done]).toEqual([["a", "b", "c"], ["a", "b", "c"]]);
  },
);

test.each([false, true])(
  "a fold waits for the commits it is made of (overlaps: %s)",
  async (overlaps) => {
    const { lane: one, sent, end } = lane(overlaps);
    for (const name of ["a", "b"]) void one.commit(named(name));
    one.begin(background(() => one, 1, true));
    await end("a");
    expect(sent).toEqual(["a", "b"]);
    await end("b");
    expect(sent).toEqual(["a", "b", "fold 0"]);
  },
);

test("an urgent fold goes before commits that wait, another one behind them", async () => {
  for (const urgent of [true, false]) {
    const { lane: one, sent, end } = lane();
    void one.commit(named("a"));
    one.begin(background(() => one, 1, urgent));
    void one.commit(named("b"));
    await end("a");
    expect(sent).toEqual(["a", urgent ? "fold 0" : "b"]);
  }
});

test("where the way is long, a commit and a fold are under way together", async () => {
  const { lane: one, sent, end } = lane(true);
  one.begin(background(() => one, 2));
  void one.commit(named("a"));
  void one.commit(named("b"));
  expect(sent).toEqual(["fold 0", "a"]);
  await end("fold 0");
  expect(sent).toEqual(["fold 0", "a", "fold 1"]);
});

test("a fold waits for reads that began before it, and for no later ones", async () => {
  const { lane: one, sent } = lane();
  let answer = () => {};
  const early = one.read(() => new Promise<void>((resolve) => answer = resolve));
  one.begin(background(() => one, 1));
  void one.read(() => new Promise<void>(() => {}));
  await settled();
  expect(sent).toEqual([]);
  answer();
  await early;
  await settled();
  await settled();
  expect(sent).toEqual(["fold 0"]);
});

test("after a failure everything that waits, and comes, is rejected with its cause", async () => {
  const { lane: one, sent, end, failures } = lane();
  const cause = new Error("disk full");
  const outcomes: unknown[] = [];
  for (const name of ["a", "b"]) one.commit(named(name)).catch((why) => outcomes.push(why));
  const idle = one.idle();
  await end("a", cause);
  await idle;
  expect([sent, outcomes, failures]).toEqual([["a"], [cause, cause], [cause]]);
  await expect(one.commit(named("c"))).rejects.toBe(cause);
  await expect(one.read(() => Promise.resolve())).rejects.toBe(cause);
});
