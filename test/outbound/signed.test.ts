import { type Context, createEndpointHandler, service } from "@restatedev/restate-sdk";
import http from "node:http";
import http2, { type IncomingHttpHeaders } from "node:http2";
import { expect, test } from "vitest";
import { discover } from "../../src/outbound/discover.ts";
import type { Failed } from "../../src/outbound/failed.ts";
import type { Signer } from "../../src/outbound/identity/signer.ts";
import { attempt, Bench, deploymentAt, input, realClock } from "./_attempts.ts";
import { listen, until } from "./_endpoint.ts";
import { newKey, newSigner, parse } from "./_keys.ts";
import { slept } from "./_scripts.ts";
import { cleanups, type Seen, stage, suspending } from "./_stage.ts";

// The SDK needs it; Node has it from version 22 on.
(Promise as { withResolvers?: unknown }).withResolvers ??= () => {
  let resolve, reject;
  const promise = new Promise((yes, no) => [resolve, reject] = [yes, no]);
  return { promise, resolve, reject };
};

const tokenOf = (headers: IncomingHttpHeaders, dialect = "restate") =>
  parse(String(headers[`x-${dialect}-jwt-v1`]));

test("attempts are signed for their handler, and for the key of their object", async () => {
  const seen: IncomingHttpHeaders[] = [];
  const signer = await newSigner();
  const { bench } = await stage((_, headers) => void seen.push(headers), {
    signer,
    path: "base/",
    deploy: { additionalHeaders: { "x-restate-jwt-v1": "mine", "x-extra": "1" } },
  });
  const plain = attempt();
  bench.attempts.start(plain);
  bench.attempts.start(attempt({ service: "Obj", key: "k/ä" }));
  await until(() => seen.length === 2);
  const [first = {}, second = {}] = [...seen].sort((a, b) =>
    String(b[":path"]).localeCompare(String(a[":path"]))
  );
  expect(first).toMatchObject({
    ":path": "/base/invoke/Svc/run",
    "x-restate-signature-scheme": "v1",
    "x-restate-invocation-id": plain.invocation.id,
    "x-extra": "1",
  });
  expect(tokenOf(first)).toMatchObject({
    head: { kid: signer.publicKey },
    body: { aud: "/invoke/Svc/run" },
  });
  expect(tokenOf(first).body).not.toHaveProperty("sub");
  expect(tokenOf(second).body).toMatchObject({ aud: "/invoke/Obj/run", sub: "k/ä" });
  bench.attempts.start(attempt());
  await until(() => seen.length === 3);
  expect(seen[2]?.["x-restate-jwt-v1"]).toBe(first["x-restate-jwt-v1"]);
});

test("an endpoint of our own dialect gets headers in it", async () => {
  let seen: IncomingHttpHeaders = {};
  const deploy = { dialect: "svc" } as const;
  const { bench } = await stage((_, headers) => seen = headers, {
    signer: await newSigner(),
    deploy,
  });
  bench.attempts.start(attempt());
  await until(() => seen[":path"]);
  expect(seen["x-svc-signature-scheme"]).toBe("v1");
  expect(tokenOf(seen, "svc").body).toMatchObject({ aud: "/invoke/Svc/run" });
  expect(seen).not.toHaveProperty("x-restate-jwt-v1");
});

test("without a key nothing is signed", async () => {
  let seen: IncomingHttpHeaders = {};
  const { bench } = await stage((_, headers) => seen = headers);
  bench.attempts.start(attempt());
  await until(() => seen[":path"]);
  expect(Object.keys(seen).filter((name) => /signature|jwt/.test(name))).toEqual([]);
});

/** A signer whose tokens are made when the test calls `go`. */
function slow(): { readonly signer: Signer; readonly go: (cause?: Error) => void } {
  let go = (_?: Error) => {};
  const token = new Promise<string>((resolve, reject) => {
    go = (cause) => cause ? reject(cause) : resolve("token");
  });
  return { signer: { token: () => token } as unknown as Signer, go: (cause) => go(cause) };
}

test("while a token is made an attempt can do all that others can", async () => {
  const { signer, go } = slow();
  const seen: { frames?: Seen } = {};
  const { bench, endpoint } = await stage(suspending(seen), { signer });
  const value = new Uint8Array(300_000).fill(7);
  const effect = attempt({ entries: [input, { kind: "command", type: 0x40c, bytes: value }] });
  const { id } = effect.invocation;
  bench.attempts.start(effect);
  bench.attempts.notify({ type: "notify", id, attempt: 1, index: 2, entry: slept(1) });
  bench.attempts.yield({ type: "yield", id, attempt: 1 });
  bench.attempts.notify({ type: "notify", id, attempt: 1, index: 3, entry: slept(2) });
  expect(bench.attempts.status(id)).toMatchObject({ kind: "running" });
  expect(endpoint.connections()).toBe(0);
  go();
  await until(() => bench.ended.length > 0);
  expect(seen.frames?.types).toEqual([0, 0x400, 0x40c, 0x800c]);
  expect(seen.frames?.bodies[2]).toEqual(value);
  expect(bench.ended[0]?.outcome).toMatchObject({ kind: "suspended", delivered: 3 });
});

test("an attempt that is aborted before its token is made is never sent", async () => {
  const { signer, go } = slow();
  const { bench, endpoint } = await stage(() => {}, { signer });
  const effect = attempt();
  const { id } = effect.invocation;
  bench.attempts.start(effect);
  bench.attempts.abort({ type: "abort", id, attempt: 1 });
  bench.attempts.start(attempt());
  bench.attempts.close();
  go();
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect(endpoint.connections()).toBe(0);
  expect(bench.events).toEqual([]);
  expect(bench.attempts.load).toEqual({ running: 0, waiting: 0 });
});

test("a platform that cannot sign fails the attempt", async () => {
  const { signer, go } = slow();
  const { bench } = await stage(() => {}, { signer });
  bench.attempts.start(attempt());
  go(new Error("no"));
  await until(() => bench.ended.length > 0);
  expect((bench.ended[0]?.outcome as Failed).failure).toMatchObject({
    code: "RT0010",
    message: expect.stringMatching(/: the request cannot be signed$/),
  });
});

test("each discovery request is signed in both dialects", async () => {
  const seen: http.IncomingHttpHeaders[] = [];
  const endpoint = await listen(http.createServer((request, response) => {
    seen.push(request.headers);
    response.writeHead(seen.length === 1 ? 503 : 404).end();
  }));
  const bench = new Bench([]);
  cleanups.push(() => endpoint.close(), () => bench.close());
  await expect(ask(bench, endpoint.uri, { signer: await newSigner(), useHttp11: true })).rejects
    .toMatchObject({ code: "META0003" });
  expect(seen).toHaveLength(2);
  for (const headers of seen) {
    for (const dialect of ["svc", "restate"]) {
      expect(headers[`x-${dialect}-signature-scheme`]).toBe("v1");
      expect(tokenOf(headers, dialect).body).toMatchObject({ aud: "/discover" });
    }
  }
});

function ask(
  bench: Bench,
  uri: string,
  { signer, useHttp11 }: { readonly signer?: Signer; readonly useHttp11: boolean },
): ReturnType<typeof discover> {
  return discover({ uri, useHttp11, additionalHeaders: {} }, {
    dial: bench.dial,
    clock: realClock,
    clusterName: "c",
    connectTimeoutMs: 1000,
    timeoutMs: 5000,
    bodyBytesMax: 1_000_000,
    partsMax: 1000,
    signer,
  });
}

const svc = service({
  name: "Svc",
  handlers: { run: (_: Context, text: string) => Promise.resolve(text) },
});

async function sdkEndpoint(bidirectional: boolean, identityKeys: string[]) {
  const logger = () => {};
  const handler = createEndpointHandler({ services: [svc], bidirectional, identityKeys, logger });
  const endpoint = await listen(
    bidirectional
      ? http2.createServer(handler)
      : http.createServer(handler as unknown as http.RequestListener),
  );
  cleanups.push(() => endpoint.close());
  return endpoint;
}

for (const bidirectional of [true, false]) {
  const transport = bidirectional ? "HTTP/2" : "HTTP/1.1";
  test(`the TypeScript SDK over ${transport} accepts our key, and nothing else`, async () => {
    const [signer, next] = [await newSigner(), await newKey()];
    const endpoint = await sdkEndpoint(bidirectional, [next.publicKey, signer.publicKey]);
    const mode = bidirectional ? "bidi" : "requestResponse";
    const httpVersion = bidirectional ? "HTTP/2.0" : "HTTP/1.1";
    const deployment = deploymentAt(`${endpoint.uri}some/path/`, { mode, httpVersion });
    /** The outcomes of a discovery and of an attempt. */
    const outcomes = async (own?: Signer) => {
      const bench = new Bench([deployment], own && { signer: own });
      cleanups.push(() => bench.close());
      const options = { useHttp11: !bidirectional, ...(own && { signer: own }) };
      const asked = ask(bench, deployment.uri, options);
      const found = await asked.then(() => "found", (cause: Error) => cause.message);
      bench.attempts.start(attempt());
      await until(() => bench.ended.length > 0);
      const outcome = bench.ended[0]?.outcome;
      return [found, outcome?.kind === "failed" ? outcome.failure : outcome?.kind];
    };
    expect(await outcomes(signer)).toEqual(["found", "ended"]);
    signer.use(next);
    expect(await outcomes(signer)).toEqual(["found", "ended"]);
    const refused = [
      expect.stringMatching(/^\[META0003\] got status code '401 Unauthorized'/),
      {
        code: "RT0012",
        status: 500,
        message: "unexpected http status code: 401 Unauthorized",
      },
    ];
    expect(await outcomes()).toEqual(refused);
    expect(await outcomes(await newSigner())).toEqual(refused);
  });
}
