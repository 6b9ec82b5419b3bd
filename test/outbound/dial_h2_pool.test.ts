import http2 from "node:http2";
import net from "node:net";
import tls from "node:tls";
import { describe, expect, test } from "vitest";
import { certificate } from "./_certificate.ts";
import { h2Endpoint, listen, until } from "./_endpoint.ts";
import { bytes, dialer, open, over, started } from "./_talk.ts";

/** The same promises of both clients: `src/http2` over cleartext, `node:http2` over TLS. */
describe.each(["cleartext", "TLS"])("over %s", (transport) => {
  const secure = transport === "TLS" ? certificate() : undefined;
  const dialing = (options: Parameters<typeof dialer>[0] = {}) =>
    dialer({ ...options, ...(secure && { tls: () => ({ ca: [secure.cert] }) }) });
  const serve = (script: Parameters<typeof h2Endpoint>[0], settings: http2.Settings = {}) =>
    started(h2Endpoint(script, settings, secure));

  test("a server that sends GOAWAY finishes its streams, and a new session is opened", async () => {
    const endpoint = await serve((stream) => {
      stream.respond({ ":status": 200 });
      stream.session?.close();
      stream.on("data", (data) => stream.end(data));
    });
    const dial = dialing();
    for (const round of [1, 2, 3]) {
      const talk = open(dial, endpoint.uri);
      talk.exchange.write(bytes("x"));
      await until(() => talk.received.length > 1);
      talk.exchange.end();
      await until(() => over(talk));
      expect(talk.received).toEqual(["200 HTTP/2.0", "x", "end"]);
      expect(endpoint.connections()).toBe(round);
    }
  });

  test("streams beyond what a session takes go to another session", async () => {
    const endpoint = await serve((stream) => {
      stream.respond({ ":status": 200 });
    }, { maxConcurrentStreams: 3 });
    const dial = dialing();
    const talks = Array.from({ length: 10 }, () => open(dial, endpoint.uri));
    await until(() => talks.every(({ received }) => received.length === 1));
    expect(endpoint.connections()).toBe(4);
    const more = Array.from({ length: 2 }, () => open(dial, endpoint.uri));
    await until(() => more.every(({ received }) => received.length === 1));
    expect(endpoint.connections()).toBe(4);
    for (const { exchange } of [...talks, ...more]) exchange.abort();
  });

  test("our own limit of streams holds where the server has none", async () => {
    const endpoint = await serve((stream) => stream.respond({ ":status": 200 }));
    const dial = dialing({ streamsMax: 4 });
    const talks = Array.from({ length: 9 }, () => open(dial, endpoint.uri));
    await until(() => talks.every(({ received }) => received.length === 1));
    expect(endpoint.connections()).toBe(3);
  });

  test("a session without streams is closed after a while", async () => {
    let closed = 0;
    const server = secure ? http2.createSecureServer(secure) : http2.createServer();
    server.on("session", (session) => session.on("close", () => closed++));
    server.on("stream", (stream) => {
      stream.respond({ ":status": 200 });
      stream.end();
    });
    const endpoint = await started(listen(server));
    const talk = open(dialing({ idleMs: 30 }), endpoint.uri, { method: "GET" });
    await until(() => over(talk));
    await until(() => closed === 1);
    expect(talk.received).toEqual(["200 HTTP/2.0", "end"]);
  });

  test("a session that does not answer a PING is closed", async () => {
    const listener = (socket: net.Socket) => {
      socket.on("error", () => {});
      socket.on("data", () => {});
      socket.write(new Uint8Array([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    };
    const server = secure
      ? tls.createServer({ ...secure, ALPNProtocols: ["h2"] }, listener)
      : net.createServer(listener);
    const endpoint = await started(listen(server));
    const talk = open(dialing({ pingMs: 20, pingTimeoutMs: 30 }), endpoint.uri);
    await until(() => over(talk));
    expect(talk.received).toEqual(["failed reset"]);
  });

  test("a refused stream was not taken, a stream reset in its middle has failed", async () => {
    const { NGHTTP2_REFUSED_STREAM } = http2.constants;
    const endpoint = await serve((stream, { ":path": path }) => {
      if (path === "/refused") return stream.close(NGHTTP2_REFUSED_STREAM);
      stream.respond({ ":status": 200 });
      return stream.write("x", () => stream.destroy(new Error("x")));
    });
    const dial = dialing();
    const refused = open(dial, `${endpoint.uri}refused`);
    const reset = open(dial, `${endpoint.uri}reset`);
    await until(() => over(refused) && over(reset));
    expect(refused.received).toEqual(["failed busy"]);
    expect(reset.received).toEqual(["200 HTTP/2.0", "x", "failed reset"]);
  });

  test("an aborted stream makes room, even if it was held back", async () => {
    const endpoint = await serve((stream) => {
      stream.respond({ ":status": 200 });
      stream.write(new Uint8Array(200_000));
    });
    const dial = dialing({ streamsMax: 1 });
    for (let i = 0; i < 5; i++) {
      const talk = open(dial, endpoint.uri);
      talk.exchange.write(bytes("x"));
      await until(() => talk.received.length > 1);
      talk.exchange.pause();
      await new Promise((resolve) => setTimeout(resolve, 10));
      talk.exchange.abort();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(endpoint.connections()).toBe(1);
  });

  test("a header that HTTP/2 does not allow leaves the session as it is", async () => {
    const endpoint = await serve((stream) => {
      stream.respond({ ":status": 200 });
      stream.end();
    });
    const dial = dialing();
    for (const headers of [{}, { connection: "close" }, {}]) {
      const talk = open(dial, endpoint.uri, { method: "GET", headers });
      await until(() => over(talk));
      const fine = Object.keys(headers).length === 0;
      expect(talk.received).toEqual(fine ? ["200 HTTP/2.0", "end"] : ["failed unreachable"]);
    }
    expect(endpoint.connections()).toBe(1);
  });
});
