import { type Context, createEndpointHandler, service } from "@restatedev/restate-sdk";
import http2 from "node:http2";
import { expect, test, vi } from "vitest";
import { entryType } from "../../src/model/journal.ts";
import { controlType } from "../../src/wire/message_type.ts";
import { attempt, Bench, deploymentAt, input } from "./_attempts.ts";
import { listen, until } from "./_endpoint.ts";
import { say, slept } from "./_scripts.ts";
import { cleanups, respond, type Seen, stage, timeouts, watch } from "./_stage.ts";

// Read when the SDK is loaded.
vi.hoisted(() => globalThis.process.env.RESTATE_LOGGING = "ERROR");

// The SDK needs it; Node has it from version 22 on.
(Promise as { withResolvers?: unknown }).withResolvers ??= () => {
  let resolve, reject;
  const promise = new Promise((yes, no) => [resolve, reject] = [yes, no]);
  return { promise, resolve, reject };
};

/** An endpoint that reads, and what it has read of each request. */
async function reading(options: Parameters<typeof stage>[1] = {}) {
  const seen: Seen[] = [];
  const staged = await stage((stream) => {
    respond(stream);
    seen.push(watch(stream));
  }, options);
  return { ...staged, seen };
}

test("the end of an early request is written once the attempt starts", async () => {
  const { bench: { attempts }, seen } = await reading();
  const effect = attempt();
  attempts.openEarly(effect);
  await until(() => seen[0]?.types.length === 1);
  expect(seen[0]?.types).toEqual([controlType.start]);
  attempts.start(effect);
  await until(() => seen[0]?.types.length === 2);
  expect(seen[0]?.types).toEqual([controlType.start, entryType.input]);
  expect(seen.length).toBe(1);
});

test("it is the last entry of a long journal that is held back", async () => {
  const { bench: { attempts }, seen } = await reading();
  const effect = attempt({
    entries: [input, ...Array.from({ length: 99 }, (_, at) => slept(at + 1))],
  });
  attempts.openEarly(effect);
  await until(() => (seen[0]?.types.length ?? 0) >= 100);
  expect(seen[0]?.types.length).toBe(100);
  attempts.start(effect);
  await until(() => seen[0]?.types.length === 101);
});

test("a notification is written after the entry that is held back", async () => {
  const { bench: { attempts }, seen } = await reading();
  const effect = attempt();
  attempts.openEarly(effect);
  const { invocation: { id } } = effect;
  attempts.notify({ type: "notify", id, attempt: 1, index: 1, entry: slept(1) });
  await until(() => seen[0]?.types.length === 1);
  attempts.start(effect);
  await until(() => seen[0]?.types.length === 3);
  expect(seen[0]?.types.at(-1)).toBe(entryType.sleepCompletion);
});

test("an endpoint that fails before it has all of the request has failed the attempt", async () => {
  const seen: unknown[] = [];
  const { bench } = await stage((stream) => {
    seen.push(stream);
    respond(stream);
    stream.end(say.error({ code: 500, message: "no" }));
  });
  const { attempts } = bench;
  const effect = attempt();
  attempts.openEarly(effect);
  await until(() => bench.ended.length === 1);
  attempts.start(effect);
  const next = { ...effect, attempt: 2, invocation: { ...effect.invocation, attempt: 2 } };
  attempts.start(next);
  await until(() => bench.ended.length === 2);
  expect(seen.length).toBe(2);
});

test("the next attempt may be opened before the start of one that failed is told", async () => {
  const { bench: { attempts }, seen } = await reading();
  const first = attempt();
  attempts.openEarly(first);
  await until(() => seen.length === 1);
  attempts.abort({ type: "abort", id: first.invocation.id, attempt: 1 });
  const second = { ...first, attempt: 2 };
  attempts.openEarly(second);
  attempts.start(first);
  await until(() => seen.length === 2);
  expect(attempts.load.running).toBe(1);
  attempts.start(second);
  await until(() => seen[1]?.types.length === 2);
  expect(seen[0]?.types).toEqual([controlType.start]);
});

test("an attempt without a free slot is not opened", async () => {
  const { bench: { attempts }, seen } = await reading({ concurrencyMax: 1 });
  const [a, b] = [attempt(), attempt()];
  attempts.openEarly(a);
  attempts.openEarly(b);
  attempts.start(a);
  attempts.start(b);
  await until(() => seen[0]?.types.length === 2);
  expect(attempts.load).toEqual({ running: 1, waiting: 1 });
  expect(seen.length).toBe(1);
});

test("an attempt that nothing can run is refused by its start alone", async () => {
  const { bench } = await reading();
  const effect = attempt({ service: "Nobody" });
  bench.attempts.openEarly(effect);
  expect(bench.events).toEqual([]);
  bench.attempts.start(effect);
  expect(bench.ended.length).toBe(1);
});

test("requests that were opened early are reset when their partition ends", async () => {
  const { bench: { attempts, events }, seen } = await reading();
  attempts.openEarly(attempt());
  await until(() => seen[0]?.types.length === 1);
  attempts.close();
  await until(() => seen[0]?.closed !== undefined);
  expect(seen[0]?.closed).toBe(http2.constants.NGHTTP2_CANCEL);
  expect(events).toEqual([]);
});

test("no deadline passes while a request is held back", async () => {
  const { bench, seen } = await reading({ deploy: { options: timeouts(60, 60_000) } });
  const [held, other] = [attempt(), attempt()];
  bench.attempts.openEarly(held);
  await until(() => seen.length === 1);
  bench.attempts.start(other);
  await until(() => seen[1]?.ended === true);
  expect(seen[0]?.ended).toBe(false);
  bench.attempts.start(held);
  await until(() => seen[0]?.ended === true);
  expect(seen[0]?.types).toEqual([controlType.start, entryType.input]);
});

test("the SDK begins no handler before the attempt starts", async () => {
  let begun = 0;
  const run = (_: Context) => Promise.resolve(++begun);
  const handler = createEndpointHandler({
    services: [service({ name: "Svc", handlers: { run } })],
  });
  let requests = 0;
  const endpoint = await listen(http2.createServer((request, response) => {
    requests++;
    handler(request, response);
  }));
  const bench = new Bench([deploymentAt(endpoint.uri)]);
  cleanups.push(() => endpoint.close(), () => bench.close());
  const [held, started] = [attempt(), attempt()];
  bench.attempts.openEarly(held);
  await until(() => requests === 1);
  bench.attempts.start(started);
  // It came later, and is over: the first one would be, too.
  await until(() => bench.ended.length === 1);
  expect(begun).toBe(1);
  bench.attempts.start(held);
  await until(() => bench.ended.length === 2);
  expect(bench.ended.map(({ outcome }) => outcome.kind)).toEqual(["ended", "ended"]);
  expect(begun).toBe(2);
});
