import type { ServerHttp2Stream } from "node:http2";
import { expect, test } from "vitest";
import { attempt } from "./_attempts.ts";
import { until } from "./_endpoint.ts";
import { say } from "./_scripts.ts";
import { respond, type Seen, stage, watch } from "./_stage.ts";

// Two attempts of one invocation must not overlap: an outcome that permits the next one is sent
// when the stream of the one before is closed.

interface Held {
  seen?: Seen;
  stream?: ServerHttp2Stream;
}

/** Does `act` with each stream, and leaves the response open. */
function holding(held: Held, act: (stream: ServerHttp2Stream) => void) {
  return (stream: ServerHttp2Stream) => {
    if (held.stream) return;
    held.seen = watch(stream);
    held.stream = stream;
    act(stream);
  };
}

const saying = (bytes: Uint8Array) => (stream: ServerHttp2Stream) => {
  respond(stream);
  stream.write(bytes);
};

const OUTCOMES: Readonly<
  Record<string, readonly [(stream: ServerHttp2Stream) => void, kind: string, code?: string]>
> = {
  "an error of the SDK": [saying(say.error({ code: 500, message: "no" })), "failed", "RT0007"],
  "a suspension": [saying(say.suspend(1)), "suspended"],
  "a message of no known type": [
    saying(new Uint8Array([0x7f, 0xff, 0, 0, 0, 0, 0, 0])),
    "failed",
    "RT0012",
  ],
  "a message beyond the limit": [
    saying(new Uint8Array([4, 1, 0, 0, 0, 1, 0, 0])),
    "failed",
    "RT0003",
  ],
  "a status that is an error": [
    (stream) => (stream.respond({ ":status": 500 }), stream.write("no")),
    "failed",
    "RT0012",
  ],
};

for (const [name, [act, kind, code]] of Object.entries(OUTCOMES)) {
  test(`after ${name} the outcome is sent when the endpoint has ended its response`, async () => {
    const held: Held = {};
    const { bench } = await stage(holding(held, act), {
      concurrencyMax: 1,
      messageBytesMax: 1000,
      drainMs: 60_000,
    });
    const [first, second] = [attempt(), attempt()];
    bench.attempts.start(first);
    bench.attempts.start(second);
    await until(() => held.seen?.ended);
    expect(bench.events).toEqual([]);
    expect(bench.attempts.load).toEqual({ running: 1, waiting: 1 });
    held.stream?.end();
    await until(() => bench.events.length === 2);
    const { id } = first.invocation;
    expect(bench.ended).toMatchObject([{ id, attempt: 1, outcome: { kind } }]);
    const [{ outcome } = {}] = bench.ended;
    expect(outcome?.kind === "failed" ? outcome.failure.code : undefined).toBe(code);
    expect(bench.events[1]).toMatchObject({ type: "slotFree", id: second.invocation.id });
  });
}

test("an endpoint that does not end its response is reset, and then the outcome is sent", async () => {
  const held: Held = {};
  const act = saying(say.error({ code: 500, message: "no" }));
  const { bench } = await stage(holding(held, act), { drainMs: 500 });
  bench.attempts.start(attempt());
  await until(() => held.seen?.ended);
  expect(bench.ended).toEqual([]);
  await until(() => bench.ended.length > 0);
  await until(() => held.seen?.closed !== undefined);
  expect(held.seen?.closed).toBe(8);
});

test("one that is aborted while its stream drains is reset and sends no outcome", async () => {
  const held: Held = {};
  const act = saying(say.error({ code: 500, message: "no" }));
  const { bench } = await stage(holding(held, act), { drainMs: 60_000 });
  const effect = attempt();
  const { id } = effect.invocation;
  bench.attempts.start(effect);
  await until(() => held.seen?.ended);
  bench.attempts.abort({ type: "abort", id, attempt: 1 });
  await until(() => held.seen?.closed !== undefined);
  expect(held.seen?.closed).toBe(8);
  expect(bench.attempts.load).toEqual({ running: 0, waiting: 0 });
  expect(bench.events).toEqual([]);
});

test("after an End the outcome is sent at once: the handler is done", async () => {
  const held: Held = {};
  const { bench } = await stage(holding(held, saying(say.end())), { drainMs: 60_000 });
  bench.attempts.start(attempt());
  await until(() => held.seen?.ended);
  expect(bench.ended).toMatchObject([{ outcome: { kind: "ended" } }]);
  expect(bench.attempts.load).toEqual({ running: 0, waiting: 0 });
});
