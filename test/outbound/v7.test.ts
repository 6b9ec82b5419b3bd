import { fromBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import {
  Behavior,
  NotificationSchema,
  ProposeRunCompletionAckSchema,
} from "../../src/wire/gen/service_pb.ts";
import { attempt, join } from "./_attempts.ts";
import { until } from "./_endpoint.ts";
import { ran, say, slept } from "./_scripts.ts";
import { respond, type Seen, stage, V6, watch } from "./_stage.ts";

const V7 = V6.replace("v6", "v7");
const ACK = 7;

/** An endpoint that sends these frames at once. */
const speaking = (...frames: Uint8Array[]) =>
  stage((stream) => {
    respond(stream, V7);
    stream.end(join(...frames));
  }, { protocolMax: 7 });

test.each([[6, 5, 7, 6], [7, 5, 7, 7], [7, 5, 6, 6], [6, 7, 7, 7], [6, 7, 9, 7]])(
  "the server prefers %i, the deployment speaks %i to %i: it is %i",
  async (protocolMax, minProtocol, maxProtocol, spoken) => {
    let contentType: string | undefined;
    const { bench } = await stage((_, headers) => contentType = headers["content-type"], {
      protocolMax,
      deploy: { minProtocol, maxProtocol },
    });
    const effect = attempt();
    bench.attempts.start(effect);
    await until(() => contentType);
    expect(contentType).toBe(V6.replace("v6", `v${spoken}`));
    expect(bench.attempts.status(effect.invocation.id)).toMatchObject({ protocol: spoken });
  },
);

test.each([[7, 7], [6, 6]])(
  "in a scope a deployment that speaks up to %i gets %i, though the server prefers 6",
  async (maxProtocol, spoken) => {
    const { bench } = await stage(() => {}, {
      protocolMax: 6,
      deploy: { minProtocol: 5, maxProtocol },
    });
    const { target } = attempt().invocation;
    const effect = attempt({ target: { ...target, scope: "blue" } });
    bench.attempts.start(effect);
    expect(bench.attempts.status(effect.invocation.id)).toMatchObject({ protocol: spoken });
  },
);

/**
 * What an endpoint receives after it has proposed the results of runs 1 and 2, and asked for an ack
 * of 1.
 */
async function told(protocolMax: number): Promise<Seen> {
  const seen: { frames?: Seen } = {};
  const { bench } = await stage((stream) => {
    seen.frames = watch(stream);
    respond(stream, V6.replace("v6", `v${protocolMax}`));
    const first = protocolMax < 7 ? say.ranTo(1, "a") : say.proposed(1, "a");
    stream.write(join(say.run(1), say.run(2), first, say.ranTo(2, "b")));
  }, { protocolMax });
  const effect = attempt();
  const { id } = effect.invocation;
  bench.attempts.start(effect);
  await until(() => bench.received.flatMap(({ frames }) => frames).length === 4);
  const entries = [slept(9), ran(2, "b"), ran(1, "a"), ran(3, "c"), slept(8)];
  for (const [at, entry] of entries.entries()) {
    bench.attempts.notify({ type: "notify", id, attempt: 1, index: 3 + at, entry });
  }
  await until(() => seen.frames?.types.length === 7);
  return seen.frames as Seen;
}

test("a result that this attempt proposed is acknowledged in its place", async () => {
  const { types, bodies } = await told(7);
  expect(types.slice(2)).toEqual([0x800c, 0x8011, ACK, 0x8011, 0x800c]);
  expect(fromBinary(ProposeRunCompletionAckSchema, bodies[4] as Uint8Array)).toMatchObject({
    completionId: 1,
  });
  expect(fromBinary(NotificationSchema, bodies[5] as Uint8Array).id.value).toBe(3);
});

test("before version 7 results are sent in full", async () => {
  const { types } = await told(6);
  expect(types.slice(2)).toEqual([0x800c, 0x8011, 0x8011, 0x8011, 0x800c]);
});

test("a result of an earlier attempt is sent in full, and so is one that was not proposed", async () => {
  const seen: { frames?: Seen } = {};
  const { bench } = await stage((stream) => {
    seen.frames = watch(stream);
    respond(stream, V7);
  }, { protocolMax: 7 });
  const effect = attempt();
  const { id } = effect.invocation;
  bench.attempts.start(effect);
  bench.attempts.notify({ type: "notify", id, attempt: 1, index: 1, entry: ran(1, "a") });
  await until(() => seen.frames?.types.length === 3);
  expect(seen.frames?.types[2]).toBe(0x8011);
});

test.each([
  [Behavior.PAUSE, "pause", undefined],
  [Behavior.FAIL, "fail", undefined],
  [Behavior.FAIL, "fail", 1234n],
])("an error may ask not to be tried again: %i is %s", async (behavior, name, nextRetryDelay) => {
  const error = { code: 503, message: "no", ...(nextRetryDelay && { nextRetryDelay }), behavior };
  const { bench } = await speaking(say.error(error));
  bench.attempts.start(attempt());
  await until(() => bench.ended.length > 0);
  expect(bench.ended[0]?.outcome).toEqual({
    kind: "failed",
    reached: true,
    behavior: name,
    ...(nextRetryDelay && { retryAfterMs: 1234 }),
    failure: { code: "RT0007", status: 503, message: "no" },
  });
});

test("an error that asks for a retry, or has an unknown behavior, is retried", async () => {
  for (const behavior of [undefined, 0, 9]) {
    const { bench } = await speaking(say.error({ code: 570, message: "jm", behavior } as object));
    bench.attempts.start(attempt());
    await until(() => bench.ended.length > 0);
    expect(bench.ended[0]?.outcome).toEqual({
      kind: "failed",
      reached: true,
      failure: { code: "RT0016", status: 570, message: "jm" },
    });
  }
});

test("a journal mismatch may ask to be paused", async () => {
  const { bench } = await speaking(say.error({ code: 570, message: "jm", behavior: 1 }));
  bench.attempts.start(attempt());
  await until(() => bench.ended.length > 0);
  expect(bench.ended[0]?.outcome).toMatchObject({
    behavior: "pause",
    failure: { code: "RT0016", status: 570 },
  });
});

test("before version 7 an error's behavior counts as well", async () => {
  const { bench } = await stage((stream) => {
    respond(stream);
    stream.end(say.error({ code: 500, message: "no", behavior: 1 }));
  });
  bench.attempts.start(attempt());
  await until(() => bench.ended.length > 0);
  expect(bench.ended[0]?.outcome).toHaveProperty("behavior", "pause");
});

test("futures that are nested too deep pause the invocation", async () => {
  const on = async (depth: number) => {
    const { bench } = await stage((stream) => {
      respond(stream, V7);
      stream.end(join(say.run(1), say.suspendDeep(depth)));
    }, { protocolMax: 7, futureDepthMax: 5 });
    bench.attempts.start(attempt());
    await until(() => bench.ended.length > 0);
    expect(bench.received).toHaveLength(1);
    return bench.ended[0]?.outcome;
  };
  expect(await on(6)).toMatchObject({ kind: "suspended" });
  expect(await on(7)).toEqual({
    kind: "failed",
    reached: true,
    behavior: "pause",
    failure: { code: "RT0025", status: 500, message: expect.stringMatching(/5/) },
  });
});
