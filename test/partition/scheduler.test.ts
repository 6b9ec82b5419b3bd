import { expect, test } from "vitest";
import { countedOf, Desk } from "./_desk.ts";

const BLUE = { path: "blue:greeter/hi" } as const;
const ONE_AT_A_TIME = { rules: { blue: { concurrency: 1 } } } as const;
const counted = countedOf(BLUE);

/** What is reserved and held, of counters where anything is. */
function countsOf({ scheduler }: Desk): Record<string, readonly [used: number, reserved: number]> {
  const found = [...scheduler.counts()].filter(([, { used, reserved }]) => used + reserved > 0);
  return Object.fromEntries(found.map(([name, { used, reserved }]) => [name, [used, reserved]]));
}

test("a grant reserves a slot of each counter, until its turn has run", () => {
  const desk = new Desk({ rules: { "blue/*": { concurrency: 1 } } });
  const waiting = { ...BLUE, limitKey: "a/b" };
  desk.hold(countedOf(waiting));
  desk.wait("i1", waiting);
  expect(desk.grants).toEqual([]);
  desk.release(countedOf(waiting));
  expect(desk.grants).toEqual([{
    type: "granted",
    id: "i1",
    seq: 0,
    reserved: ["service:greeter", "scope:blue/a/b", "scope:blue/a", "scope:blue"],
  }]);
  expect(countsOf(desk)).toEqual({
    "service:greeter": [0, 1],
    "scope:blue/a/b": [0, 1],
    "scope:blue/a": [0, 1],
    "scope:blue": [0, 1],
  });
  expect(desk.scheduler.grants).toEqual([0]);
  desk.turn();
  expect(desk.scheduler.grants).toEqual([]);
  expect(countsOf(desk)).toEqual({
    "service:greeter": [1, 0],
    "handler:greeter/hi": [1, 0],
    "scope:blue/a/b": [1, 0],
    "scope:blue/a": [1, 0],
    "scope:blue": [1, 0],
  });
  desk.release(countedOf(waiting));
  expect([...desk.scheduler.counts()].filter(([name]) => name !== "grants")).toEqual([]);
});

test("the queue of a void grant goes on", () => {
  const desk = new Desk(ONE_AT_A_TIME);
  desk.hold(counted);
  for (const id of ["i1", "i2"]) desk.wait(id, BLUE);
  desk.release(counted);
  expect(desk.turn({ isVoid: true })).toBe("i1");
  expect(desk.turn()).toBe("i2");
  expect(desk.turn()).toBeUndefined();
});

test("a grant that no turn can take gives its slots back", () => {
  const desk = new Desk(ONE_AT_A_TIME);
  desk.hold(counted);
  for (const id of ["i1", "i2"]) desk.wait(id, BLUE);
  desk.release(counted);
  desk.scheduler.refused(desk.grants.shift()!);
  expect(desk.run()).toEqual(["i2"]);
  expect(countsOf(desk)).toEqual({});
});

test("queues of one counter take turns, however long each is", () => {
  const desk = new Desk(ONE_AT_A_TIME);
  desk.hold(counted);
  const keys = ["a", "b", "c"];
  for (const limitKey of keys) {
    for (let n = 0; n < 20; n++) desk.wait(`${limitKey}${n}`, { ...BLUE, limitKey });
  }
  desk.release(counted);
  const order = desk.run();
  expect(order.slice(0, 7)).toEqual(["a0", "b0", "c0", "a1", "b1", "c1", "a2"]);
  expect(order).toHaveLength(60);
});

test("a queue that needs another counter does not hold up those that do not", () => {
  const desk = new Desk({ rules: { blue: { concurrency: 2 }, "blue/a": { concurrency: 1 } } });
  const a = { ...BLUE, limitKey: "a" }, b = { ...BLUE, limitKey: "b" };
  desk.hold(countedOf(a));
  desk.hold(countedOf(b));
  desk.wait("a1", a);
  desk.wait("b1", b);
  desk.release(countedOf(b));
  expect(desk.turn()).toBe("b1");
  desk.release(countedOf(a));
  expect(desk.turn()).toBe("a1");
});

test("a higher priority goes first, and each lower one after as much waiting as it is worth", () => {
  const agingMs = 100;
  const desk = new Desk(ONE_AT_A_TIME, { priorityAgingMs: agingMs });
  desk.hold(counted);
  for (let n = 0; n < 400; n++) {
    for (const priority of [0, 5, 9]) desk.wait(`p${priority} ${n}`, { ...BLUE, priority });
  }
  desk.release(counted);
  const last = new Map<string, number>();
  let longest = 0;
  for (let n = 0; n < 300; n++) {
    const [id = ""] = desk.run(1), name = id.slice(0, 2);
    if (name === "p0") longest = Math.max(longest, desk.now - (last.get(name) ?? 1_000_000));
    last.set(name, desk.now);
    desk.pass(10);
  }
  // Nine levels, and one turn of each other lane.
  expect(longest).toBeGreaterThan(9 * agingMs - 30);
  expect(longest).toBeLessThanOrEqual(9 * agingMs + 30);
});

test("what has run before goes first, and needs no token", () => {
  const desk = new Desk({ rules: { blue: { concurrency: 1, rate: { count: 1, periodMs: 100 } } } });
  desk.bucket("scope:blue", 0);
  desk.hold(counted);
  desk.wait("new", BLUE);
  desk.wait("old", { ...BLUE, hasRun: true });
  desk.release(counted);
  expect(desk.run()).toEqual(["old"]);
  desk.pass(99);
  expect(desk.run()).toEqual([]);
  desk.pass(1);
  expect(desk.run()).toEqual(["new"]);
});

test("a token is reserved by a grant, and the next is waited for", () => {
  const desk = new Desk({ rules: { blue: { rate: { count: 2, periodMs: 100 } } } });
  desk.bucket("scope:blue", 0);
  for (const id of ["i1", "i2", "i3"]) desk.wait(id, BLUE);
  expect(desk.alarms).toBe(1);
  desk.pass(50);
  expect(desk.grants.map(({ id }) => id)).toEqual(["i1"]);
  expect(desk.scheduler.reservedTokens("scope:blue")).toBe(1);
  // Its turn has not run: the token is not there a second time.
  desk.pass(49);
  expect(desk.grants).toHaveLength(1);
  desk.pass(1);
  expect(desk.grants.map(({ id }) => id)).toEqual(["i1", "i2"]);
});

test("a clock that was set back does not ring without end", () => {
  const desk = new Desk({ rules: { blue: { rate: { count: 1, periodMs: 1_000 } } } });
  desk.bucket("scope:blue", 0.999999);
  desk.now -= 60_000;
  let passes = 0;
  desk.wait("i1", BLUE);
  for (; desk.grants.length === 0 && passes < 1_000; passes++) desk.pass(100);
  expect(desk.run()).toEqual(["i1"]);
  expect(passes).toBe(601);
});

test("a rate that is taken away sets those free who wait for a token", () => {
  const desk = new Desk({ rules: { blue: { rate: { count: 1, periodMs: 60_000 } } } });
  desk.bucket("scope:blue", 0);
  desk.wait("i1", BLUE);
  desk.set({});
  expect(desk.run()).toEqual(["i1"]);
});

test("a limit that is raised, lowered, disabled and deleted has effect at once", () => {
  const limit = (concurrency: number, disabled = false) => ({
    rules: { blue: { concurrency, disabled } },
  });
  const desk = new Desk(limit(1));
  desk.hold(counted);
  for (let n = 0; n < 9; n++) desk.wait(`i${n}`, BLUE);
  desk.set(limit(3));
  expect(desk.grants.map(({ id }) => id)).toEqual(["i0", "i1"]);
  while (desk.turn());
  desk.set(limit(2));
  desk.release(counted);
  expect(desk.grants).toEqual([]);
  desk.release(counted);
  expect(desk.turn()).toBe("i2");
  desk.set(limit(2, true));
  expect(desk.grants).toHaveLength(6);
});

test("pauses of a service, a deployment and a queue hold back, and let go", () => {
  const desk = new Desk({ services: { greeter: { paused: true } } });
  desk.wait("i1", BLUE);
  desk.set({});
  expect(desk.run()).toEqual(["i1"]);
  desk.set({ pausedDeployments: ["dp_1"] });
  desk.wait("i2", BLUE);
  expect(desk.grants).toEqual([]);
  desk.set({});
  expect(desk.run()).toEqual(["i2"]);
});

test("no more grants than allowed are given at once, and nobody takes what the next ones need", () => {
  const desk = new Desk({ rules: { blue: { concurrency: 100 } } }, { grantsMax: 4 });
  desk.set({ services: { greeter: { paused: true } }, rules: { blue: { concurrency: 100 } } });
  for (let n = 0; n < 10; n++) desk.wait(`i${n}`, BLUE);
  desk.set({ rules: { blue: { concurrency: 100 } } });
  expect(desk.grants).toHaveLength(4);
  expect(desk.scheduler.isAwaited("scope:blue")).toBe(true);
  desk.turn();
  expect(desk.grants).toHaveLength(4);
  expect(desk.run()).toHaveLength(9);
  expect(desk.scheduler.isAwaited("scope:blue")).toBe(false);
});

test("entries beyond the window are read, in their order, while others come", async () => {
  const desk = new Desk(ONE_AT_A_TIME, { queueWindow: 4 });
  desk.hold(counted);
  for (let n = 0; n < 30; n++) desk.wait(`i${n}`, BLUE);
  desk.release(counted);
  const order: string[] = [];
  for (let n = 30; n < 60; n++) {
    order.push(...desk.run(1));
    desk.wait(`i${n}`, BLUE);
    if (n % 3 === 0) await desk.read();
    if (order.length < n - 29) expect(desk.scheduler.isAwaited("scope:blue")).toBe(true);
  }
  while (desk.reads.length + desk.grants.length > 0) {
    await desk.read();
    order.push(...desk.run());
  }
  expect(order).toEqual(Array.from({ length: 60 }, (_, n) => `i${n}`));
});

test("a new life begins with those who hold slots and those who wait", async () => {
  const desk = new Desk(ONE_AT_A_TIME, { queueWindow: 2 });
  desk.hold(counted);
  for (let n = 0; n < 5; n++) desk.wait(`i${n}`, BLUE);
  desk.restart([counted]);
  expect(desk.grants).toEqual([]);
  expect(desk.wait("i5", BLUE).seq).toBe(5);
  desk.release(counted);
  const order = desk.run();
  while (desk.reads.length > 0) {
    await desk.read();
    order.push(...desk.run());
  }
  expect(order).toEqual(["i0", "i1", "i2", "i3", "i4", "i5"]);
});

test("ten thousand queues of one counter each get their turn, and nothing stays of them", () => {
  const desk = new Desk(ONE_AT_A_TIME);
  desk.hold(counted);
  for (let n = 0; n < 10_000; n++) desk.wait(`i${n}`, { ...BLUE, limitKey: `k${n}` });
  expect(desk.scheduler.waiting).toBe(10_000);
  const began = performance.now();
  desk.release(counted);
  const order = desk.run();
  expect(order).toEqual(Array.from({ length: 10_000 }, (_, n) => `i${n}`));
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(desk.scheduler.waiting).toBe(0);
  expect(countsOf(desk)).toEqual({});
});

test("a stopped scheduler proposes nothing", () => {
  const desk = new Desk(ONE_AT_A_TIME);
  desk.hold(counted);
  desk.wait("i1", BLUE);
  desk.scheduler.stop();
  desk.release(counted);
  desk.set({});
  expect(desk.grants).toEqual([]);
});
