import { expect, test } from "vitest";
import type { Event } from "../../src/engine/event.ts";
import type { Command } from "../../src/model/command.ts";
import { targetOf } from "../support/schema.ts";
import { Bench } from "./_bench.ts";

const NOTHING = new Uint8Array(0);
const OUTPUT: Command = {
  kind: "output",
  bytes: NOTHING,
  result: { kind: "value", value: NOTHING },
};

function invoke(id: string, path = "greeter/hi"): Event {
  return {
    type: "invoked",
    id,
    fresh: true,
    target: targetOf(path),
    headers: [],
    value: NOTHING,
    origin: { by: "ingress" },
    retention: { resultMs: 1e6, journalMs: 1e6 },
  };
}

function hear(id: string, frames: readonly Command[], entropy = new Uint8Array(16)): Event {
  const pin = { deployment: "dp_1", protocol: 6 };
  return { type: "framesReceived", id, attempt: 1, first: 0, frames, pin, entropy };
}

function call(completion: number): Command {
  const request = { service: "greeter", handler: "hi", key: "", headers: [], value: NOTHING };
  return {
    kind: "call",
    bytes: NOTHING,
    invocationIdCompletion: 2 * completion,
    completion: 2 * completion + 1,
    request,
  };
}

function kill(id: string): Event {
  return { type: "operated", id, operation: { kind: "kill" }, reply: 1 };
}

const isOver = (bench: Bench) =>
  bench.disk.all("invocation").every(({ status }) => status.kind === "completed");

test("a chain of calls that is deeper than any stack is killed to its end", () => {
  const bench = new Bench(1e9);
  bench.run(invoke("first"), 0);
  let last = "first";
  for (let depth = 1; depth <= 20_000; depth++) {
    const entropy = new Uint8Array(16);
    new DataView(entropy.buffer).setUint32(0, depth);
    const { effects } = bench.run(hear(last, [call(1)], entropy), depth);
    for (const effect of effects) if (effect.type === "attempt") last = effect.invocation.id;
  }
  bench.run(kill("first"), 30_000);
  expect(bench.disk.all("invocation")).toHaveLength(20_001);
  expect(isOver(bench)).toBe(true);
}, 60_000);

const MANY = 300;
/** Number of loads of one event: one per level at most, not one per invocation. */
const LOADS_MAX = 6;

function loadsOf(bench: Bench, event: Event): number {
  const before = bench.loads;
  bench.run(event, 1_000);
  return bench.loads - before;
}

test("many calls that are not in memory are killed without being loaded one by one", () => {
  const bench = new Bench(0);
  bench.run(invoke("first"), 0);
  bench.run(hear("first", Array.from({ length: MANY }, (_, i) => call(i))), 1);
  expect(loadsOf(bench, kill("first"))).toBeLessThanOrEqual(LOADS_MAX);
  expect(isOver(bench)).toBe(true);
});

test("many that wait for one result get it without being loaded one by one", () => {
  const bench = new Bench(0);
  bench.run(invoke("one"), 0);
  const subject = { by: "invocation", id: "one" } as const;
  for (let i = 0; i < MANY; i++) {
    bench.run(invoke(`waiter${i}`), 1);
    bench.run(hear(`waiter${i}`, [{ kind: "attach", bytes: NOTHING, completion: 1, subject }]), 2);
  }
  bench.run(hear("one", [OUTPUT]), 3);
  const ended = { kind: "ended" } as const;
  const end: Event = { type: "attemptEnded", id: "one", attempt: 1, outcome: ended, jitter: 0 };
  expect(loadsOf(bench, end)).toBeLessThanOrEqual(LOADS_MAX);
  expect(bench.disk.find("invocation", "waiter7")?.journal).toBe(3);
});

test("many that wait for one promise get it without being loaded one by one", () => {
  const bench = new Bench(0);
  for (let i = 0; i < MANY; i++) {
    bench.run(invoke(`waiter${i}`, "flow/a/ask"), 1);
    const get = { kind: "getPromise", bytes: NOTHING, key: "p", completion: 1 } as const;
    bench.run(hear(`waiter${i}`, [get]), 2);
  }
  bench.run(invoke("keeper", "flow/a/ask"), 3);
  const keep = { kind: "completePromise", bytes: NOTHING, key: "p", completion: 1 } as const;
  const event = hear("keeper", [{ ...keep, result: { kind: "value", value: NOTHING } }]);
  expect(loadsOf(bench, event)).toBeLessThanOrEqual(LOADS_MAX);
  expect(bench.disk.find("invocation", "waiter7")?.journal).toBe(3);
});
