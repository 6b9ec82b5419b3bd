import { fromBinary } from "@bufbuild/protobuf";
import type { IncomingHttpHeaders } from "node:http2";
import { expect, test } from "vitest";
import { NotificationSchema, StartSchema } from "../../src/wire/gen/service_pb.ts";
import { attempt, input, join } from "./_attempts.ts";
import { until } from "./_endpoint.ts";
import { Frames, say, slept } from "./_scripts.ts";
import { respond, type Seen, stage, suspending, timeouts, V6, watch } from "./_stage.ts";

test("an attempt sends its target and its invocation", async () => {
  let headers: IncomingHttpHeaders = {};
  const { bench } = await stage((_, received) => headers = received, {
    clusterName: "here",
    path: "base/?q=1",
    deploy: { additionalHeaders: { "X-Extra": "1", Accept: "mine" } },
  });
  const effect = attempt({ service: "Obj", key: "k/ä-._~(!'*)" });
  bench.attempts.start(effect);
  await until(() => headers[":path"]);
  expect(headers).toMatchObject({
    ":method": "POST",
    ":path": "/base/invoke/Obj/run?q=1",
    "content-type": V6,
    "accept": "mine",
    "x-extra": "1",
    "x-restate-invocation-id": effect.invocation.id,
    "x-restate-service-key": "k%2F%C3%A4-._~%28%21%27%2A%29",
    "x-restate-cluster-name": "here",
  });
});

test("an attempt writes Start and the replay before it receives anything", async () => {
  const frames = new Frames();
  const { bench } = await stage((stream) => {
    stream.on("data", (data: Uint8Array) => frames.push(data));
  });
  const effect = attempt({
    service: "Obj",
    key: "k/ä",
    entries: [input, { kind: "command", type: 0x40c, bytes: new Uint8Array([1]) }, slept(1)],
    state: { partial: false, pairs: [{ name: "v", value: new Uint8Array([3]) }] },
    failuresSinceCommand: 2,
  });
  bench.attempts.start(effect);
  await until(() => frames.types.length === 4);
  expect(frames.types).toEqual([0, 0x400, 0x40c, 0x800c]);
  expect(fromBinary(StartSchema, frames.bodies[0] as Uint8Array)).toMatchObject({
    debugId: effect.invocation.id,
    knownEntries: 3,
    key: "k/ä",
    partialState: false,
    retryCountSinceLastStoredEntry: 2,
    stateMap: [{ value: new Uint8Array([3]) }],
  });
  expect(frames.bodies[2]).toEqual(new Uint8Array([1]));
  expect(bench.events).toEqual([]);
});

test("a plain service gets partial state and no key", async () => {
  let headers: IncomingHttpHeaders = {};
  const frames = new Frames();
  const { bench } = await stage((stream, received) => {
    headers = received;
    stream.on("data", (data: Uint8Array) => frames.push(data));
  }, { deploy: { dialect: "svc", maxProtocol: 5 } });
  bench.attempts.start(attempt());
  await until(() => frames.types.length === 2);
  expect(headers["content-type"]).toBe("application/vnd.svc.invocation.v5");
  expect(headers).not.toHaveProperty("x-svc-service-key");
  expect(headers).toHaveProperty("x-svc-invocation-id");
  expect(fromBinary(StartSchema, frames.bodies[0] as Uint8Array)).toMatchObject({
    partialState: true,
    stateMap: [],
    key: "",
  });
});

test("the frames of one chunk are one event, and the end follows in the same tick", async () => {
  const { bench } = await stage((stream) => {
    respond(stream);
    stream.end(join(say.run(1), say.ranTo(1, "x"), say.output("ok"), say.end(), say.run(9)));
  }, { deploy: { id: "dp_7" } });
  const effect = attempt({ number: 4 });
  bench.attempts.start(effect);
  await until(() => bench.events.length > 0);
  const { id } = effect.invocation;
  const site = { startedAt: expect.any(Number), deployment: "dp_7" };
  expect(bench.events).toEqual([
    {
      type: "framesReceived",
      id,
      attempt: 4,
      first: 0,
      frames: [
        expect.objectContaining({ kind: "run", completion: 1 }),
        expect.objectContaining({ kind: "runCompletion", completion: 1 }),
        expect.objectContaining({ kind: "output" }),
      ],
      pin: { deployment: "dp_7", protocol: 6 },
      entropy: new Uint8Array(16),
      site,
    },
    {
      type: "attemptEnded",
      id,
      attempt: 4,
      outcome: { kind: "ended" },
      jitter: expect.any(Number),
      site,
    },
  ]);
});

test("frames are numbered through the attempt, however they are cut", async () => {
  const { bench } = await stage((stream) => {
    respond(stream);
    const all = join(say.run(1), say.call(2), say.sleep(4), say.output("ok"), say.end());
    let at = 0;
    const next = () => {
      if (at === all.length) return stream.end();
      stream.write(all.subarray(at, ++at), () => setImmediate(next));
    };
    next();
  });
  bench.attempts.start(attempt());
  await until(() => bench.ended.length > 0);
  expect(bench.received.map(({ first }) => first)).toEqual([0, 1, 2, 3]);
  expect(bench.received.map(({ frames }) => frames.map(({ kind }) => kind))).toEqual([
    ["run"],
    ["call"],
    ["sleep"],
    ["output"],
  ]);
  const zero = new Uint8Array(16);
  expect(bench.received.map(({ entropy }) => entropy.every((byte) => byte === 0))).toEqual([
    true,
    false,
    true,
    true,
  ]);
  expect(bench.received[0]?.entropy).toEqual(zero);
  expect(bench.ended[0]?.outcome).toEqual({ kind: "ended" });
});

test("the request half is closed after a terminal message, and the SDK's end awaited", async () => {
  let seen: Seen | undefined;
  const { bench } = await stage((stream) => {
    seen = watch(stream);
    respond(stream);
    stream.write(join(say.output("ok"), say.end()));
    stream.on("end", () => stream.end());
  });
  bench.attempts.start(attempt());
  await until(() => seen?.closed !== undefined);
  expect(seen).toMatchObject({ ended: true, closed: 0 });
  expect(bench.events.map(({ type }) => type)).toEqual(["framesReceived", "attemptEnded"]);
});

test("an endpoint that does not end its response is reset, and later frames are ignored", async () => {
  let seen: Seen | undefined;
  const { bench } = await stage((stream) => {
    seen = watch(stream);
    respond(stream);
    stream.write(say.end());
    stream.on("end", () => stream.write(say.run(1)));
  }, { drainMs: 50 });
  bench.attempts.start(attempt());
  await until(() => seen?.closed !== undefined);
  expect(seen).toMatchObject({ ended: true, closed: 8 });
  expect(bench.events.map(({ type }) => type)).toEqual(["attemptEnded"]);
});

test("request-response: the request ends with the replay, and no notifications follow", async () => {
  let seen: Seen | undefined;
  const { bench } = await stage((stream) => {
    seen = watch(stream);
    respond(stream);
    stream.on("end", () => setTimeout(() => stream.end(say.suspend(1)), 20));
  }, { deploy: { mode: "requestResponse" } });
  const effect = attempt();
  bench.attempts.start(effect);
  bench.attempts.notify({
    type: "notify",
    id: effect.invocation.id,
    attempt: 1,
    index: 1,
    entry: slept(1),
  });
  await until(() => bench.ended.length > 0);
  expect(seen?.types).toEqual([0, 0x400]);
  expect(bench.ended[0]?.outcome).toEqual({
    kind: "suspended",
    awaiting: { kind: "unknown", completions: [1], signals: [], names: [] },
    delivered: 1,
  });
});

test("an inactivity timeout of zero means request-response, too", async () => {
  let seen: Seen | undefined;
  const { bench } = await stage((stream) => {
    seen = watch(stream);
  }, { deploy: { options: timeouts(0, 60_000) } });
  const effect = attempt();
  const { id } = effect.invocation;
  bench.attempts.start(effect);
  // Stored before any timeout can have ended the request: only the mode keeps it from the endpoint.
  bench.attempts.notify({ type: "notify", id, attempt: 1, index: 1, entry: slept(1) });
  await until(() => seen?.ended);
  expect(seen?.types).toEqual([0, 0x400]);
});

test("notifications are pushed in order, each once, and never a command", async () => {
  const seen: { frames?: Seen } = {};
  const { bench } = await stage(suspending(seen), { deploy: { options: timeouts(300, 60_000) } });
  const effect = attempt({ entries: [input, input] });
  const { id } = effect.invocation;
  const notify = (index: number, entry = slept(index), number = 1) =>
    bench.attempts.notify({ type: "notify", id, attempt: number, index, entry });
  bench.attempts.start(effect);
  notify(1);
  notify(3);
  notify(2);
  notify(3);
  notify(4, { kind: "command", type: 0x40c, bytes: new Uint8Array(1) });
  notify(5);
  notify(6, slept(6), 2);
  await until(() => seen.frames?.types.length === 5);
  const pushed = seen.frames?.bodies.slice(3).map((bytes) => fromBinary(NotificationSchema, bytes));
  expect(pushed?.map(({ id }) => id.value)).toEqual([3, 5]);
  await until(() => bench.ended.length > 0);
  expect(bench.ended[0]?.outcome).toMatchObject({ kind: "suspended", delivered: 6 });
});
