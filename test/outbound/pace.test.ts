import type { ServerHttp2Stream } from "node:http2";
import { expect, test } from "vitest";
import { attempt, Bench, deploymentAt, input, join } from "./_attempts.ts";
import { h1Endpoint, h2Endpoint, until } from "./_endpoint.ts";
import { Frames, say, slept } from "./_scripts.ts";
import { cleanups, respond, type Seen, stage, suspending, timeouts, V6, watch } from "./_stage.ts";

test("after the inactivity timeout the request ends, and later notifications are not sent", async () => {
  const seen: { frames?: Seen } = {};
  let input: ServerHttp2Stream | undefined;
  const { bench } = await stage((stream) => {
    seen.frames = watch(input = stream);
    respond(stream);
  }, { deploy: { options: timeouts(100, 60_000) } });
  const effect = attempt();
  const { id } = effect.invocation;
  bench.attempts.start(effect);
  bench.attempts.notify({ type: "notify", id, attempt: 1, index: 1, entry: slept(1) });
  await until(() => seen.frames?.ended);
  bench.attempts.notify({ type: "notify", id, attempt: 1, index: 2, entry: slept(2) });
  input?.end(say.suspend(2));
  await until(() => bench.ended.length > 0);
  expect(seen.frames?.types).toHaveLength(3);
  expect(bench.ended[0]?.outcome).toMatchObject({ kind: "suspended", delivered: 2 });
});

test("an attempt that suspends unasked may have seen no more than the replay", async () => {
  const { bench } = await stage((stream) => {
    respond(stream);
    stream.once("data", () => setTimeout(() => stream.end(say.suspend(1)), 50));
  });
  const effect = attempt();
  const { id } = effect.invocation;
  bench.attempts.start(effect);
  bench.attempts.notify({ type: "notify", id, attempt: 1, index: 1, entry: slept(1) });
  await until(() => bench.ended.length > 0);
  expect(bench.ended[0]?.outcome).toMatchObject({ kind: "suspended", delivered: 1 });
});

test("an attempt that is asked to suspend sees its input end, and may end with any outcome", async () => {
  const seen: { frames?: Seen; stream?: ServerHttp2Stream } = {};
  const { bench } = await stage((stream) => {
    seen.frames = watch(seen.stream = stream);
    respond(stream);
  }, { drainMs: 20, deploy: { options: timeouts(60_000, 60_000) } });
  const effect = attempt();
  const { id } = effect.invocation;
  bench.attempts.start(effect);
  bench.attempts.notify({ type: "notify", id, attempt: 1, index: 1, entry: slept(1) });
  bench.attempts.yield({ type: "yield", id, attempt: 2 });
  await until(() => seen.frames?.types.length === 3);
  expect(seen.frames?.ended).toBe(false);
  bench.attempts.yield({ type: "yield", id, attempt: 1 });
  bench.attempts.yield({ type: "yield", id, attempt: 1 });
  bench.attempts.notify({ type: "notify", id, attempt: 1, index: 2, entry: slept(2) });
  await until(() => seen.frames?.ended);
  seen.stream?.end(join(say.run(3), say.suspend(2, 3)));
  await until(() => bench.ended.length > 0);
  expect(seen.frames?.types).toHaveLength(3);
  expect(bench.received).toHaveLength(1);
  expect(bench.ended[0]?.outcome).toMatchObject({ kind: "suspended", delivered: 2 });
  bench.attempts.yield({ type: "yield", id, attempt: 1 });
  expect(bench.ended).toHaveLength(1);
});

test("an attempt that is asked to suspend and does not is ended by the abort timeout", async () => {
  const { bench } = await stage((stream) => respond(stream), {
    drainMs: 20,
    deploy: { options: timeouts(60_000, 60) },
  });
  const effect = attempt();
  bench.attempts.start(effect);
  bench.attempts.yield({ type: "yield", id: effect.invocation.id, attempt: 1 });
  await until(() => bench.ended.length > 0);
  expect(bench.ended[0]?.outcome).toMatchObject({ failure: { code: "RT0001" } });
});

test("activity in either direction postpones the inactivity timeout", async () => {
  const seen: { frames?: Seen } = {};
  const { bench } = await stage(suspending(seen), { deploy: { options: timeouts(150, 60_000) } });
  const effect = attempt();
  const { id } = effect.invocation;
  const begun = Date.now();
  bench.attempts.start(effect);
  let index = 1;
  const timer = setInterval(() => {
    bench.attempts.notify({ type: "notify", id, attempt: 1, index, entry: slept(index++) });
  }, 30);
  await until(() => Date.now() - begun > 400);
  expect(seen.frames?.ended).toBe(false);
  clearInterval(timer);
  await until(() => bench.ended.length > 0);
  expect(bench.ended[0]?.outcome).toMatchObject({ kind: "suspended", delivered: index });
});

test("an endpoint that hangs is reset after the abort timeout", async () => {
  let seen: Seen | undefined;
  const { bench } = await stage((stream) => {
    seen = watch(stream);
    respond(stream);
  }, { drainMs: 30, deploy: { options: timeouts(30, 60) } });
  const begun = Date.now();
  bench.attempts.start(attempt());
  await until(() => bench.ended.length > 0);
  // Inactivity, abort, and the time to drain.
  expect(Date.now() - begun).toBeGreaterThanOrEqual(120);
  expect(bench.ended[0]?.outcome).toEqual({
    kind: "failed",
    reached: true,
    failure: {
      code: "RT0001",
      status: 500,
      message: "the invocation stream was closed after the 'abort timeout' (60ms) fired.",
    },
  });
  await until(() => seen?.closed !== undefined);
  expect(seen).toMatchObject({ ended: true, closed: 8 });
  expect(bench.ended).toHaveLength(1);
});

for (const httpVersion of ["HTTP/1.1", "HTTP/2.0"] as const) {
  test(`${httpVersion}: a slow reader gets a long journal at its own pace`, async () => {
    const frames = new Frames();
    let busy = 0;
    const read = (request: NodeJS.ReadableStream, done: () => void) => {
      request.on("data", (data: Uint8Array) => {
        frames.push(data);
        request.pause();
        busy++;
        setImmediate(() => request.resume());
      });
      request.on("end", done);
    };
    const endpoint = httpVersion === "HTTP/2.0"
      ? await h2Endpoint((stream) => {
        respond(stream);
        read(stream, () => stream.end(join(say.output("ok"), say.end())));
      })
      : await h1Endpoint((request, response) => {
        response.writeHead(200, { "content-type": V6 });
        read(request, () => response.end(join(say.output("ok"), say.end())));
      });
    const mode = "requestResponse";
    const bench = new Bench([deploymentAt(endpoint.uri, { httpVersion, mode })]);
    cleanups.push(() => endpoint.close(), () => bench.close());
    const large = { kind: "command", type: 0x40c, bytes: new Uint8Array(300_000).fill(7) } as const;
    const small = { kind: "command", type: 0x40c, bytes: new Uint8Array(300).fill(8) } as const;
    const entries = [input, ...Array(60).fill(large), ...Array(6000).fill(small), slept(1)];
    bench.attempts.start(attempt({ entries }));
    await until(() => bench.ended.length > 0);
    expect(bench.ended[0]?.outcome).toEqual({ kind: "ended" });
    expect(frames.types).toHaveLength(entries.length + 1);
    expect(frames.bodies[2]).toEqual(large.bytes);
    expect(frames.bodies[6061]).toEqual(small.bytes);
    expect(busy).toBeGreaterThan(100);
  });
}

test("the input of a reader that stops reading ends, and it gets what was taken before", async () => {
  const seen: { frames?: Seen; stream?: ServerHttp2Stream } = {};
  const { bench } = await stage((stream) => {
    seen.stream = stream;
    respond(stream);
  }, { unreadBytesMax: 100_000 });
  const effect = attempt();
  const { id } = effect.invocation;
  bench.attempts.start(effect);
  await until(() => seen.stream);
  const value = new Uint8Array(10_000);
  for (let index = 1; index <= 100; index++) {
    const entry = { ...slept(index), result: { kind: "value", value } } as const;
    bench.attempts.notify({ type: "notify", id, attempt: 1, index, entry });
  }
  const stream = seen.stream as ServerHttp2Stream;
  suspending(seen)(Object.assign(stream, { respond: () => {} }));
  await until(() => bench.ended.length > 0);
  const told = (seen.frames?.types.length ?? 0) - 2;
  expect(told).toBeGreaterThan(10);
  expect(told).toBeLessThan(50);
  expect(bench.ended[0]?.outcome).toMatchObject({ kind: "suspended", delivered: told + 1 });
});

test("an endpoint that writes faster than commits is paused", async () => {
  let sent = 0;
  const { bench } = await stage((stream) => {
    respond(stream);
    const frame = say.ranTo(1, "x".repeat(60_000));
    const more = () => {
      while (sent++ < 400) if (!stream.write(frame)) return stream.once("drain", more);
      return stream.end(say.end());
    };
    more();
  }, { unackedBytesMax: 200_000 });
  bench.attempts.start(attempt());
  const received = () => bench.received.reduce((sum, { frames }) => sum + frames.length, 0);
  await until(() => received() >= 3);
  const before = await new Promise<number>((resolve) => setTimeout(() => resolve(received()), 100));
  // Bytes that were sent before the pause: less than two windows of the stream.
  expect(before).toBeLessThan(60);
  expect(bench.ended).toEqual([]);
  await until(() => {
    bench.settle();
    return bench.ended.length > 0;
  });
  expect(received()).toBe(400);
});
