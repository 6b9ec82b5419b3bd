import type { ServerHttp2Stream } from "node:http2";
import { expect, test } from "vitest";
import { type Entry, entryType } from "../../src/model/journal.ts";
import { SlotPressure } from "../../src/outbound/slot_pressure.ts";
import { toSuspend } from "../../src/outbound/suspend_candidates.ts";
import { attempt, input } from "./_attempts.ts";
import { until } from "./_endpoint.ts";
import { ran, say } from "./_scripts.ts";
import { respond, type Seen, stage, watch } from "./_stage.ts";

const candidate = (
  name: string,
  activeAt: number,
  { askedAt, canSuspend = true }: {
    readonly askedAt?: number;
    readonly canSuspend?: boolean;
  } = {},
) => ({ name, canSuspend, inactivity: { activeAt, askedAt } });

const named = (chosen: readonly { readonly name: string }[]) => chosen.map(({ name }) => name);

test("those that are inactive longest are asked, and no more than others wait", () => {
  const all = [candidate("c", 300), candidate("a", 100), candidate("b", 200), candidate("d", 999)];
  expect(named(toSuspend(all, { queued: 2, now: 1_000 }))).toEqual(["a", "b"]);
  expect(named(toSuspend(all, { queued: 9, now: 1_000 }))).toEqual(["a", "b", "c"]);
  expect(toSuspend(all, { queued: 0, now: 1_000 })).toEqual([]);
});

test("one that cannot suspend, or moved a moment ago, is not asked", () => {
  const all = [candidate("steps", 0, { canSuspend: false }), candidate("fresh", 900)];
  expect(toSuspend(all, { queued: 5, now: 1_000 })).toEqual([]);
});

test("one that was asked counts for a slot, until it has shown that it is busy", () => {
  const asked = candidate("asked", 0, { askedAt: 1_000, canSuspend: false });
  const all = [asked, candidate("a", 100), candidate("b", 200)];
  expect(named(toSuspend(all, { queued: 2, now: 1_500 }))).toEqual(["a"]);
  expect(named(toSuspend(all, { queued: 2, now: 2_000 }))).toEqual(["a", "b"]);
});

test("slots that stay in use while others wait are logged, once a minute", () => {
  const lines: string[] = [];
  const pressure = new SlotPressure({ log: (level, message) => lines.push(`${level} ${message}`) });
  const check = (now: number, queued: number) =>
    pressure.check(now, [], { used: 10, limit: 10, queued });
  expect(check(5_000, 0)).toBe(Infinity);
  expect(check(6_000, 3)).toBe(6_100);
  expect(check(6_050, 3)).toBe(6_100);
  for (let now = 6_100; now <= 70_000; now += 100) check(now, 4);
  const line = "warn 10 of 10 slots for attempts are in use, 4 queued";
  expect(lines).toEqual([line, line]);
  // A short wait a while later says nothing.
  check(200_000, 1);
  check(200_100, 1);
  expect(lines).toHaveLength(2);
});

interface Open {
  readonly stream: ServerHttp2Stream;
  readonly seen: Seen;
}

/** An endpoint that sends `first` on each stream, and suspends when its input ends. */
function waiting(opened: Open[], first: (stream: ServerHttp2Stream, number: number) => void) {
  return (stream: ServerHttp2Stream) => {
    const seen = watch(stream);
    opened.push({ stream, seen });
    first(stream, opened.length);
    stream.on("end", () => stream.end(say.suspend(1)));
  };
}

test("an attempt that only waits frees its slot for one that is queued, and no other does", async () => {
  const opened: Open[] = [];
  const { bench } = await stage(
    waiting(opened, (stream, number) => {
      respond(stream);
      // A step of the first attempt runs, so the second one is the one that waits.
      stream.write(number === 1 ? say.run(1) : say.sleep(1));
    }),
    { concurrencyMax: 3 },
  );
  const effects = [attempt(), attempt(), attempt(), attempt()];
  for (const effect of effects.slice(0, 3)) {
    bench.attempts.start(effect);
    await until(() => opened.length === effects.indexOf(effect) + 1);
  }
  const [, second, , fourth] = effects;
  bench.attempts.start(effects[3]!);
  expect(bench.attempts.load).toEqual({ running: 3, waiting: 1 });
  await until(() => bench.ended.length === 1);
  expect(bench.ended[0]).toMatchObject({
    id: second?.invocation.id,
    outcome: { kind: "suspended" },
  });
  await until(() => bench.events.some(({ type }) => type === "slotFree"));
  expect(bench.events.at(-1)).toMatchObject({ type: "slotFree", id: fourth?.invocation.id });
  bench.attempts.start(effects[3]!);
  expect(bench.attempts.load).toEqual({ running: 3, waiting: 0 });
  expect(opened.map(({ seen }) => seen.ended).slice(0, 3)).toEqual([false, true, false]);
});

test("an attempt that its endpoint has not accepted is not asked", async () => {
  const opened: Open[] = [];
  const { bench } = await stage(
    waiting(opened, (stream, number) => number === 1 || respond(stream)),
    { concurrencyMax: 2 },
  );
  for (let i = 0; i < 3; i++) bench.attempts.start(attempt());
  await until(() => bench.ended.length === 1);
  expect(opened.map(({ seen }) => seen.ended)).toEqual([false, true]);
});

test("an attempt that executes a step of its replay again is not asked until that has a result", async () => {
  const opened: Open[] = [];
  const { bench } = await stage(waiting(opened, (stream) => respond(stream)), {
    concurrencyMax: 2,
  });
  const step: Entry = { kind: "command", type: entryType.run, bytes: new Uint8Array() };
  const busy = attempt({ entries: [input, step], commands: 2 });
  const done = attempt({ entries: [input, step, ran(1, "done")], commands: 2 });
  bench.attempts.start(busy);
  await until(() => opened.length === 1);
  bench.attempts.start(done);
  const next = attempt();
  bench.attempts.start(next);
  await until(() => bench.ended.length === 1);
  expect(bench.ended[0]?.id).toBe(done.invocation.id);
  await until(() => bench.events.some(({ type }) => type === "slotFree"));
  bench.attempts.start(next);
  opened[0]?.stream.write(say.ranTo(1, "done"));
  for (let i = 0; i < 2; i++) bench.attempts.start(attempt());
  await until(() => bench.ended.some(({ id }) => id === busy.invocation.id));
});

test("one that was asked early and does not suspend keeps both of its timeouts", async () => {
  const options = { inactivityTimeoutMs: 600, abortTimeoutMs: 60 };
  const { bench } = await stage((stream) => respond(stream), {
    concurrencyMax: 1,
    drainMs: 20,
    deploy: { options },
  });
  const begun = Date.now();
  bench.attempts.start(attempt());
  bench.attempts.start(attempt());
  await until(() => bench.ended.length === 1);
  expect(Date.now() - begun).toBeGreaterThanOrEqual(680);
  expect(bench.ended[0]?.outcome).toMatchObject({ failure: { code: "RT0001" } });
});
