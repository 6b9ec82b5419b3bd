import net from "node:net";
import { createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { afterEach, expect, test } from "vitest";
import { nodeDial } from "../../adapters/dial/dial.ts";
import type { Failure } from "../../src/errors.ts";
import { discover, type DiscoverOptions } from "../../src/outbound/discover.ts";
import { realClock } from "./_attempts.ts";
import { type Endpoint, h1Endpoint, h2Endpoint, listen } from "./_endpoint.ts";

const V3 = "application/vnd.restate.endpointmanifest.v3+json";
const manifest = {
  protocolMode: "BIDI_STREAM",
  minProtocolVersion: 5,
  maxProtocolVersion: 7,
  services: [{ name: "Svc", ty: "SERVICE", handlers: [{ name: "run" }] }],
};

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function started(endpoint: Promise<Endpoint>): Promise<Endpoint> {
  const running = await endpoint;
  cleanups.push(() => running.close());
  return running;
}

function ask(
  uri: string,
  { useHttp11 = false, additionalHeaders = {}, ...options }: Partial<DiscoverOptions> & {
    readonly useHttp11?: boolean;
    readonly additionalHeaders?: Record<string, string>;
  } = {},
) {
  const dial = nodeDial();
  cleanups.push(() => dial.close());
  return discover({ uri, useHttp11, additionalHeaders }, {
    dial,
    clock: realClock,
    clusterName: "here",
    connectTimeoutMs: 1000,
    timeoutMs: 2000,
    bodyBytesMax: 10_000,
    partsMax: 1000,
    ...options,
  });
}

const failure = (discovery: Promise<unknown>): Promise<Failure> =>
  discovery.then(() => Promise.reject(new Error("it was accepted")), (cause: Failure) => cause);

const answer =
  (body: unknown, contentType: string | undefined = V3, status = 200) =>
  (stream: ServerHttp2Stream) => {
    stream.respond({ ":status": status, ...(contentType && { "content-type": contentType }) });
    stream.end(typeof body === "string" ? body : JSON.stringify(body));
  };

test("a manifest of many services is read with pauses, so that others are served meanwhile", async () => {
  const services = Array.from(
    { length: 300 },
    (_, i) => ({ ...manifest.services[0], name: `S${i}` }),
  );
  const endpoint = await started(h2Endpoint(answer({ ...manifest, services })));
  let pauses = 0;
  const clock: typeof realClock = {
    ...realClock,
    soon: (call) => {
      pauses++;
      realClock.soon(call);
    },
  };
  const found = await ask(endpoint.uri, { bodyBytesMax: 100_000, clock });
  expect(found.manifest.services).toHaveLength(300);
  expect(pauses).toBeGreaterThan(10);
});

test("an endpoint is asked for its manifest in both dialects", async () => {
  let headers: IncomingHttpHeaders = {};
  const endpoint = await started(h2Endpoint((stream, received) => {
    headers = received;
    stream.respond({
      ":status": 200,
      "content-type": V3,
      "x-restate-server": "restate-sdk-typescript/1.17.2",
    });
    stream.end(JSON.stringify(manifest));
  }));
  const found = await ask(`${endpoint.uri}base?q=1`, {
    additionalHeaders: { "X-Key": "k", "x-restate-cluster-name": "other" },
  });
  expect(headers).toMatchObject({
    ":method": "GET",
    ":path": "/base/discover?q=1",
    "x-key": "k",
    "x-restate-cluster-name": "other",
    "x-svc-cluster-name": "here",
  });
  expect(headers.accept).toContain(V3);
  expect(found).toMatchObject({
    httpVersion: "HTTP/2.0",
    dialect: "restate",
    sdkVersion: "restate-sdk-typescript/1.17.2",
    manifest: { mode: "bidi", minProtocol: 5, maxProtocol: 7, services: [{ name: "Svc" }] },
  });
});

test("HTTP/1.1 when asked for, and an endpoint of our own dialect", async () => {
  const endpoint = await started(h1Endpoint((_, response) => {
    response.writeHead(200, {
      "content-type": V3.replace("restate", "svc"),
      "x-svc-server": "s/1",
    });
    response.end(JSON.stringify(manifest));
  }));
  expect(await ask(endpoint.uri, { useHttp11: true })).toMatchObject({
    httpVersion: "HTTP/1.1",
    dialect: "svc",
    sdkVersion: "s/1",
  });
});

/**
 * Fault · response of the endpoint · code · status · message
 * (docs/spec/service-protocol.md#registration-errors).
 */
const refusals: [string, (stream: ServerHttp2Stream) => void, string | null, number, RegExp][] = [
  [
    "not found",
    answer('{"message":"nope"}', "text/plain", 404),
    "META0003",
    500,
    /'404 Not Found'\. Make sure .* mounted\. Body: {"message":"nope"}$/,
  ],
  [
    "a long answer",
    answer("x".repeat(5000), "text/plain", 401),
    "META0003",
    500,
    /'401 Unauthorized'\. Body: x{1024}…$/,
  ],
  [
    "an empty answer",
    answer("", "text/plain", 415),
    "META0003",
    500,
    /'415 Unsupported Media Type'$/,
  ],
  ["no content type", answer(manifest, ""), "META0013", 500, /No content type header/],
  [
    "another content type",
    answer(manifest, "application/json"),
    "META0013",
    500,
    /"application\/json"/,
  ],
  ["a parameter", answer(manifest, `${V3}; charset=utf-8`), "META0013", 500, /Bad content type/],
  ["too long", answer("x".repeat(20_000)), "META0013", 500, /larger than the limit of 10000 bytes/],
  ["no JSON", answer("{"), null, 500, /Cannot decode the manifest/],
  [
    "no mode",
    answer({ ...manifest, protocolMode: undefined }),
    "META0013",
    500,
    /missing protocol mode/,
  ],
  [
    "old versions",
    answer({ ...manifest, minProtocolVersion: 1, maxProtocolVersion: 4 }),
    "META0012",
    500,
    /\[1, 4\]/,
  ],
  ["swapped versions", answer({ ...manifest, minProtocolVersion: 8 }), "META0013", 500, /minimum/],
];

test.each(refusals)("refused: %s", async (_, play, code, status, message) => {
  const endpoint = await started(h2Endpoint(play));
  const refused = await failure(ask(endpoint.uri));
  expect(refused).toMatchObject({ name: "Failure", code, status });
  expect(refused.message).toMatch(message);
});

test("an endpoint that is busy is asked again", async () => {
  for (const status of [408, 429, 500, 502, 503, 504]) {
    let asked = 0;
    const endpoint = await started(h2Endpoint((stream) => {
      if (asked++ === 0) answer("later", "text/plain", status)(stream);
      else answer(manifest)(stream);
    }));
    await ask(endpoint.uri);
    expect(asked).toBe(2);
  }
});

test("five failed requests end discovery", async () => {
  let asked = 0;
  const endpoint = await started(h2Endpoint((stream) => {
    asked++;
    answer("later", "text/plain", 503)(stream);
  }));
  const begun = Date.now();
  expect((await failure(ask(endpoint.uri))).message).toMatch(/503 Service Unavailable/);
  expect(asked).toBe(5);
  expect(Date.now() - begun).toBeGreaterThanOrEqual(1500);
});

test("an endpoint that starts a moment later is found", async () => {
  const early = await h2Endpoint(answer(manifest));
  await early.close();
  const discovery = ask(early.uri);
  setTimeout(() => {
    void started(listen(createServer().on("stream", answer(manifest)), early.port));
  }, 150);
  expect((await discovery).manifest.mode).toBe("bidi");
});

test.each([{ "a b": "x" }, { "": "x" }, { a: "x\ny" }, { a: "☃" }, { "Transfer-Encoding": "x" }])(
  "headers that cannot be sent: %j",
  async (headers) => {
    const additionalHeaders: Record<string, string> = { fine: "yes\tÿ", ...headers };
    const refused = await failure(ask("http://127.0.0.1:9/", { additionalHeaders }));
    expect(refused).toMatchObject({ code: null, status: 400 });
  },
);

test("an address without a server", async () => {
  const gone = await h1Endpoint(() => {});
  await gone.close();
  const begun = Date.now();
  const refused = await failure(ask(gone.uri));
  expect(refused.code).toBe("META0003");
  expect(refused.message).toMatch(/error when calling 'http:.*ECONNREFUSED/);
  expect(Date.now() - begun).toBeLessThan(4000);
});

test("an HTTP/1.1 server where HTTP/2 was spoken", async () => {
  const endpoint = await started(h1Endpoint((_, response) => response.end()));
  const refused = await failure(ask(endpoint.uri));
  expect(refused.code).toBe("META0014");
  expect(refused.message).toMatch(/possibly supports only HTTP1.1.*--use-http1.1/);
  expect(refused.message).toContain('"use_http_11": true');
});

test("a URI with https where plain HTTP is spoken", async () => {
  const endpoint = await started(h1Endpoint((_, response) => response.end()));
  const refused = await failure(ask(endpoint.uri.replace("http:", "https:")));
  expect(refused.code).toBe("META0003");
  expect(refused.message).toMatch(/the URI says https, and the endpoint seems to speak plain HTTP/);
});

test("an HTTP/2 server where HTTP/1.1 was spoken", async () => {
  const endpoint = await started(h2Endpoint(answer(manifest)));
  expect((await failure(ask(endpoint.uri, { useHttp11: true }))).code).toBe("META0003");
});

test("an endpoint that never answers", async () => {
  const endpoint = await started(h2Endpoint(() => {}));
  const refused = await failure(ask(endpoint.uri, { timeoutMs: 50 }));
  expect(refused.code).toBe("META0003");
  expect(refused.message).toMatch(/no complete answer within 50 ms$/);
});

test("HTTP/1.0 has no bidirectional mode", async () => {
  const reply = (mode: string) => {
    const body = JSON.stringify({ ...manifest, protocolMode: mode });
    return `HTTP/1.0 200 OK\r\ncontent-type: ${V3}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  };
  let mode = "BIDI_STREAM";
  const endpoint = await started(listen(net.createServer((socket) => {
    socket.once("data", () => socket.end(reply(mode)));
  })));
  expect((await failure(ask(endpoint.uri, { useHttp11: true }))).code).toBe("META0015");
  mode = "REQUEST_RESPONSE";
  expect((await ask(endpoint.uri, { useHttp11: true })).httpVersion).toBe("HTTP/1.1");
});
