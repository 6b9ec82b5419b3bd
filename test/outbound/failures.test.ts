import type { ServerHttp2Stream } from "node:http2";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Failed } from "../../src/outbound/failed.ts";
import { encodeFrame } from "../../src/wire/frame.ts";
import { attempt, Bench, deploymentAt, join } from "./_attempts.ts";
import { type Endpoint, h1Endpoint, h2Endpoint, until } from "./_endpoint.ts";
import { say } from "./_scripts.ts";

const V6 = "application/vnd.restate.invocation.v6";
const NOTHING = new Uint8Array(0);

let script: (stream: ServerHttp2Stream) => void = () => {};
let endpoint: Endpoint;
let bench: Bench;
beforeEach(async () => {
  endpoint = await h2Endpoint((stream) => script(stream));
  bench = new Bench([deploymentAt(endpoint.uri)], { messageBytesMax: 1000, drainMs: 20 });
});
afterEach(async () => {
  await bench.close();
  await endpoint.close();
});

const status =
  (code: number, headers: Record<string, string> = {}) => (stream: ServerHttp2Stream) => {
    stream.respond({ ":status": code, ...headers });
    stream.end('{"message":"boo"}');
  };
const answer = (...frames: Uint8Array[]) => (stream: ServerHttp2Stream) => {
  stream.respond({ ":status": 200, "content-type": V6 });
  stream.end(join(...frames));
};
const body = (...numbers: number[]) => new Uint8Array(numbers);

/**
 * Fault · response of the endpoint · code · status · message
 * (docs/spec/service-protocol.md#failures-of-attempts).
 */
const matrix: [string, (stream: ServerHttp2Stream) => void, string, number, string | RegExp][] = [
  ["status 301", status(301), "RT0012", 500, "unexpected http status code: 301 Moved Permanently"],
  ["status 401", status(401), "RT0012", 500, "unexpected http status code: 401 Unauthorized"],
  [
    "status 404",
    status(404),
    "RT0012",
    500,
    "unexpected http status code: 404 Not Found; the endpoint does not know the service or the " +
    "handler: register the code that runs there (POST /deployments)",
  ],
  ["status 500", status(500), "RT0012", 500, /500 Internal Server Error$/],
  ["status 599", status(599), "RT0012", 500, "unexpected http status code: 599"],
  ["status 413", status(413), "RT0019", 500, "service replied with content too large"],
  ["status 415", status(415), "RT0015", 415, /doesn't support the protocol version '6' negotiated/],
  ["status 429", status(429), "RT0023", 500, /rate limited due to '429 Too Many Requests'$/],
  ["status 503", status(503), "RT0023", 500, /rate limited due to '503 Service Unavailable'$/],
  ["status 502", status(502), "RT0010", 500, "service is temporary unavailable '502 Bad Gateway'"],
  ["status 504", status(504), "RT0010", 500, /unavailable '504 Gateway Timeout'$/],
  [
    "no content type",
    status(200),
    "RT0012",
    500,
    `unexpected content type 'None'; expected content type '"${V6}"'`,
  ],
  [
    "another content type",
    status(200, { "content-type": "text/plain" }),
    "RT0012",
    500,
    `unexpected content type 'Some("text/plain")'; expected content type '"${V6}"'`,
  ],
  ["another version", status(200, { "content-type": V6.replace("6", "5") }), "RT0012", 500, /v5/],
  ["no terminal message", answer(say.run(1)), "RT0007", 500, "unknown"],
  ["no message", answer(), "RT0007", 500, "unknown"],
  ["half a message", answer(say.output("x").subarray(0, 9)), "RT0007", 500, "unknown"],
  ["half a header", answer(say.output("x").subarray(0, 3)), "RT0007", 500, "unknown"],
  ["a generic error", answer(say.error({ code: 500, message: "boo" })), "RT0007", 500, "boo"],
  ["journal mismatch", answer(say.error({ code: 570, message: "jm" })), "RT0016", 570, "jm"],
  ["protocol violation", answer(say.error({ code: 571, message: "pv" })), "RT0012", 571, "pv"],
  ["an unknown message", answer(encodeFrame(0x50, NOTHING)), "RT0012", 500, /0x0050/],
  ["a message of ours", answer(encodeFrame(0, NOTHING)), "RT0012", 500, /Start/],
  ["an acknowledgement", answer(encodeFrame(4, NOTHING)), "RT0012", 500, /CommandAck/],
  ["a run's acknowledgement", answer(encodeFrame(7, NOTHING)), "RT0012", 500, /CompletionAck/],
  ["an AwaitingOn of nothing", answer(encodeFrame(6, NOTHING)), "RT0012", 500, /AwaitingOn/],
  ["a notification", answer(encodeFrame(0x800c, NOTHING)), "RT0012", 500, /SleepCompletion/],
  ["an undecodable body", answer(encodeFrame(5, body(255, 255))), "RT0012", 500, /ProposeRun/],
  ["a suspension on nothing", answer(encodeFrame(1, NOTHING)), "RT0012", 500, /Suspension/],
  [
    "a message that is too large",
    answer(body(4, 1, 0, 0, 0, 0, 3, 232)),
    "RT0003",
    500,
    "message encoding error: hit message size limit: 1000 >= 1000",
  ],
  [
    "a reset stream",
    (stream) => {
      stream.respond({ ":status": 200, "content-type": V6 });
      setTimeout(() => stream.destroy(new Error("x")), 10);
    },
    "RT0010",
    500,
    /^error when calling 'http:.*INTERNAL_ERROR/,
  ],
  [
    "a reset before the head",
    (stream) => {
      stream.destroy(new Error("x"));
    },
    "RT0010",
    500,
    /^error when calling/,
  ],
  [
    "a lost connection",
    (stream) => {
      stream.session?.destroy();
    },
    "RT0010",
    500,
    /^error when calling/,
  ],
];

test.each(matrix)("%s", async (_, play, code, status, message) => {
  script = play;
  const effect = attempt();
  bench.attempts.start(effect);
  const [{ outcome, id, jitter: chance }] = await until(() =>
    bench.ended.length > 0 && bench.ended
  ) as [
    typeof bench.ended[0],
  ];
  expect(id).toBe(effect.invocation.id);
  expect(chance).toBeGreaterThanOrEqual(0);
  expect(chance).toBeLessThan(1);
  expect(outcome).toMatchObject({
    kind: "failed",
    // A version that the endpoint does not speak has run no handler.
    reached: status !== 415,
    failure: { code, status, message: typeof message === "string" ? message : {} },
  } as { kind: "failed" });
  if (message instanceof RegExp) expect((outcome as Failed).failure.message).toMatch(message);
  expect(outcome).not.toHaveProperty("retryAfterMs");
  await until(() => bench.attempts.load.running === 0);
  expect(bench.ended).toHaveLength(1);
});

test.each([["refused", 7], ["too busy", 11]])(
  "an endpoint that is %s reads nothing, and that uses up no attempt",
  async (_, code) => {
    script = (stream) => stream.close(code);
    bench.attempts.start(attempt());
    const [{ outcome }] = await until(() => bench.ended.length > 0 && bench.ended) as [
      typeof bench.ended[0],
    ];
    expect(outcome).toMatchObject(
      { kind: "failed", reached: false, retryAfterMs: 500, failure: { code: "RT0010" } } as {
        kind: "failed";
      },
    );
  },
);

test("an endpoint that is not there", async () => {
  await endpoint.close();
  bench.attempts.start(attempt());
  await until(() => bench.ended.length > 0);
  const { failure, reached } = bench.ended[0]?.outcome as Failed;
  expect(failure).toMatchObject({ code: "RT0010", status: 500 });
  expect(failure.message).toMatch(/^error when calling 'http:.*ECONNREFUSED/);
  expect(reached).toBe(true);
});

const inMs = (ms: number) => () => new Date(Date.now() + ms).toUTCString();

// A date is made when its test begins: a busy machine begins it seconds after this list.
test.each([
  ["7", () => "7", 7000, 7000],
  ["0", () => "0", 0, 0],
  ["of a date to come", inMs(100_000), 98_000, 100_000],
  ["of a date that is over", () => new Date(0).toUTCString(), 0, 0],
])("Retry-After %s is obeyed", async (_, headerOf, least, most) => {
  const header = headerOf();
  for (const code of [429, 503]) {
    script = status(code, { "retry-after": header });
    bench.attempts.start(attempt());
  }
  await until(() => bench.ended.length === 2);
  for (const { outcome } of bench.ended) {
    const { retryAfterMs, failure } = outcome as Failed;
    expect(retryAfterMs).toBeGreaterThanOrEqual(least);
    expect(retryAfterMs).toBeLessThanOrEqual(most);
    expect(failure.message).toMatch(/\(retry after: \d+ seconds\)$/);
  }
});

test.each(["soon", "-1", "1.5", ""])("Retry-After %j is no delay", async (header) => {
  script = status(429, { "retry-after": header });
  bench.attempts.start(attempt());
  await until(() => bench.ended.length > 0);
  expect(bench.ended[0]?.outcome).not.toHaveProperty("retryAfterMs");
});

test("every field of an SDK's error is kept", async () => {
  script = answer(say.error({
    code: 503,
    message: "later",
    stacktrace: "at here",
    relatedCommandIndex: 3,
    relatedCommandName: "pay",
    relatedCommandType: 0x411,
    nextRetryDelay: 1234n,
  }));
  bench.attempts.start(attempt());
  await until(() => bench.ended.length > 0);
  expect(bench.ended[0]?.outcome).toEqual({
    kind: "failed",
    reached: true,
    retryAfterMs: 1234,
    failure: {
      code: "RT0007",
      status: 503,
      message: "later",
      stacktrace: "at here",
      related: { index: 3, name: "pay", type: 0x411 },
    },
  });
});

test("messages before a bad one in the same chunk are sent as events", async () => {
  script = answer(say.run(1), say.ranTo(1, "x"), encodeFrame(0x50, NOTHING), say.run(2));
  bench.attempts.start(attempt());
  await until(() => bench.ended.length > 0);
  expect(bench.events.map(({ type }) => type)).toEqual(["framesReceived", "attemptEnded"]);
  expect(bench.received[0]?.frames.map(({ kind }) => kind)).toEqual(["run", "runCompletion"]);
});

test("HTTP/1.1: a status, a broken connection, half a chunk", async () => {
  const plays: Record<string, Parameters<typeof h1Endpoint>[0]> = {
    status: (_, response) => response.writeHead(404).end("x"),
    broken: (request) => request.socket.destroy(),
    half: (_, response) => {
      response.writeHead(200, { "content-type": V6 });
      response.write(say.run(1));
      setTimeout(() => response.destroy(), 10);
    },
    early: (_, response) => response.writeHead(200, { "content-type": V6 }).end(),
  };
  const h1 = await h1Endpoint((request, response) => {
    plays[String(request.headers["x-play"])]?.(request, response);
  });
  const outcomes: Record<string, unknown> = {};
  for (const play of Object.keys(plays)) {
    const additionalHeaders = { "x-play": play };
    const own = new Bench([
      deploymentAt(h1.uri, { httpVersion: "HTTP/1.1", additionalHeaders }),
    ]);
    own.attempts.start(attempt());
    await until(() => own.ended.length > 0);
    outcomes[play] = (own.ended[0]?.outcome as Failed).failure.code;
    await own.close();
  }
  expect(outcomes).toEqual({ status: "RT0012", broken: "RT0010", half: "RT0010", early: "RT0007" });
  await h1.close();
});
