import { expect, test } from "vitest";
import type { Statement } from "../../src/ports.ts";
import type { Background } from "../../src/storage/fold/fold_scheduler.ts";
import { WriteScheduler } from "../../src/storage/log/write_scheduler.ts";

const settled = () => new Promise((resolve) => setImmediate(resolve));
const named = (sql: string): Statement[] => [{ sql, args: [] }];

/** A scheduler whose writes end when the test says so. `sent`: the writes so far, in their order. */
function controlled(overlaps = false) {
  const sent: string[] = [], ends = new Map<string, (cause?: unknown) => void>();
  const failures: unknown[] = [];
  const write = ([first]: readonly Statement[]) =>
    new Promise<void>((resolve, reject) => {
      sent.push(first!.sql);
      ends.set(first!.sql, (cause) => cause === undefined ? resolve() : reject(cause));
    });
  const scheduler = new WriteScheduler({
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
  return { scheduler, sent, end, failures };
}

/** A fold of `batches` batches. `urgent`: whether it is sent before waiting commits. */
function background(scheduler: WriteScheduler, batches: number, urgent = false): Background {
  let next = 0;
  return {
    isUrgent: () => urgent,
    next: () => named(`fold ${next++}`),
    done: () => void (next === batches && scheduler.finish()),
  };
}

test.each([false, true])(
  "commits go one at a time, in their order (overlaps: %s)",
  async (overlaps) => {
    const { scheduler, sent, end } = controlled(overlaps);
    const done: string[] = [];
    for (const name of ["a", "b", "c"]) {
      void scheduler.commit(named(name)).then(() => done.push(name));
    }
    await settled();
    expect(sent).toEqual(["a"]);
    for (const name of ["a", "b", "c"]) await end(name);
    expect([sent, done]).toEqual([["a", "b", "c"], ["a", "b", "c"]]);
  },
);

test.each([false, true])(
  "a fold waits for the commits that it moves (overlaps: %s)",
  async (overlaps) => {
    const { scheduler, sent, end } = controlled(overlaps);
    for (const name of ["a", "b"]) void scheduler.commit(named(name));
    scheduler.begin(background(scheduler, 1, true));
    await end("a");
    expect(sent).toEqual(["a", "b"]);
    await end("b");
    expect(sent).toEqual(["a", "b", "fold 0"]);
  },
);

test("an urgent fold is sent before waiting commits, any other one after them", async () => {
  for (const urgent of [true, false]) {
    const { scheduler, sent, end } = controlled();
    void scheduler.commit(named("a"));
    scheduler.begin(background(scheduler, 1, urgent));
    void scheduler.commit(named("b"));
    await end("a");
    expect(sent).toEqual(["a", urgent ? "fold 0" : "b"]);
  }
});

test("with overlaps, a commit and a fold are in flight at the same time", async () => {
  const { scheduler, sent, end } = controlled(true);
  scheduler.begin(background(scheduler, 2));
  void scheduler.commit(named("a"));
  void scheduler.commit(named("b"));
  expect(sent).toEqual(["fold 0", "a"]);
  await end("fold 0");
  expect(sent).toEqual(["fold 0", "a", "fold 1"]);
});

test("a fold waits for reads that began before it, and for no later ones", async () => {
  const { scheduler, sent } = controlled();
  let answer = () => {};
  const early = scheduler.read(() => new Promise<void>((resolve) => answer = resolve));
  scheduler.begin(background(scheduler, 1));
  void scheduler.read(() => new Promise<void>(() => {}));
  await settled();
  expect(sent).toEqual([]);
  answer();
  await early;
  await settled();
  await settled();
  expect(sent).toEqual(["fold 0"]);
});

test("after a failure waiting and later requests are rejected with its cause", async () => {
  const { scheduler, sent, end, failures } = controlled();
  const cause = new Error("disk full");
  const outcomes: unknown[] = [];
  for (const name of ["a", "b"]) scheduler.commit(named(name)).catch((why) => outcomes.push(why));
  const idle = scheduler.idle();
  await end("a", cause);
  await idle;
  expect([sent, outcomes, failures]).toEqual([["a"], [cause, cause], [cause]]);
  await expect(scheduler.commit(named("c"))).rejects.toBe(cause);
  await expect(scheduler.read(() => Promise.resolve())).rejects.toBe(cause);
});

test("between two pieces of a large value a waiting commit is sent", async () => {
  const { scheduler: one, sent, end } = controlled();
  for (const name of ["a", "b"]) void one.put({ sql: `piece ${name}`, args: [] });
  for (const name of ["c", "d"]) void one.commit(named(name));
  await settled();
  for (const name of ["piece a", "c", "piece b", "d"]) await end(name);
  expect(sent).toEqual(["piece a", "c", "piece b", "d"]);
});

test("where writes overlap, pieces go one at a time beside commits", async () => {
  const { scheduler: one, sent, end } = controlled(true);
  for (const name of ["a", "b"]) void one.put({ sql: `piece ${name}`, args: [] });
  void one.commit(named("c"));
  await settled();
  expect(sent).toEqual(["piece a", "c"]);
  await end("piece a");
  expect(sent).toEqual(["piece a", "c", "piece b"]);
});

test("a piece that cannot be written rejects all that waits, with its cause", async () => {
  const { scheduler: one, end, failures } = controlled();
  const outcomes = [one.put(named("a")[0]!), one.put(named("b")[0]!), one.commit(named("c"))]
    .map((write) => write.then(() => "durable", (cause) => cause));
  await end("a", "full");
  expect(await Promise.all(outcomes)).toEqual(["full", "full", "full"]);
  expect(failures).toEqual(["full"]);
});
