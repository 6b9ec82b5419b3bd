import http2 from "node:http2";
import net from "node:net";
import { Duplex } from "node:stream";
import { afterEach, expect, test } from "vitest";
import { workerdDial } from "../../adapters/workerd/dial.ts";
import type { Connect, Socket } from "../../adapters/workerd/socket_stream.ts";
import { parseEgressRule } from "../../src/config/egress_rule.ts";
import type { Dial } from "../../src/dial.ts";
import { Egress } from "../../src/outbound/egress/egress.ts";
import { type Endpoint, h1Endpoint, h2Endpoint, listen, until } from "../outbound/_endpoint.ts";
import { bytes, cleanups, open, over, started } from "../outbound/_talk.ts";

/** Errors that nobody has handled: none may be left after a test. */
const bugs: unknown[] = [];
afterEach(() => expect(bugs.splice(0)).toEqual([]));

/** `connect` of workerd, as its documentation describes it, on a socket of Node. */
const connect: Connect = ({ hostname: host, port }) => {
  const socket = net.connect({ host, port, allowHalfOpen: false });
  const opened = new Promise((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  const { readable, writable } = Duplex.toWeb(socket) as unknown as Socket;
  const close = () => Promise.resolve(void socket.destroy());
  return { readable, writable, opened, close };
};

function dialer(connecting = connect, egress = new Egress()): Dial {
  const onBug = (cause: unknown) => bugs.push(cause);
  const dial = workerdDial({ connect: connecting, onBug, streamsMax: 100, egress });
  cleanups.push(() => dial.close());
  return dial;
}

const echo = (): Promise<Endpoint> =>
  started(h2Endpoint((stream) => {
    stream.respond({ ":status": 200 });
    stream.pipe(stream);
  }));

test("both bodies flow at once", async () => {
  const { uri } = await echo();
  const talk = open(dialer(), uri);
  talk.exchange.write(bytes("one"));
  await until(() => talk.received.length === 2);
  talk.exchange.write(bytes("two"));
  await until(() => talk.received.length === 3);
  talk.exchange.end();
  await until(() => over(talk));
  expect(talk.received).toEqual(["200 HTTP/2.0", "one", "two", "end"]);
});

test("more than any buffer takes arrives, at the pace of the reader", async () => {
  let read = 0;
  const { uri } = await started(h2Endpoint((stream) => {
    stream.respond({ ":status": 200 });
    stream.on("data", (data) => read += data.length);
    stream.on("end", () => stream.end(String(read)));
    stream.pause();
    setTimeout(() => stream.resume(), 50);
  }, { initialWindowSize: 8 * 1024 * 1024 }));
  const talk = open(dialer(), uri);
  const piece = new Uint8Array(64 * 1024);
  for (let i = 0; i < 200; i++) talk.exchange.write(piece);
  expect(talk.exchange.write(piece)).toBe(false);
  await until(() => talk.drained > 0);
  talk.exchange.end();
  await until(() => over(talk));
  expect(talk.received).toEqual(["200 HTTP/2.0", String(201 * piece.length), "end"]);
});

test("tells what is wrong with an endpoint", async () => {
  const old = await started(h1Endpoint((_, response) => response.end()));
  const silent = await started(listen(net.createServer(() => {})));
  const gone = await h1Endpoint(() => {});
  await gone.close();
  const dial = dialer();
  const talks = [
    open(dial, old.uri),
    open(dial, gone.uri),
    open(dial, silent.uri, { connectTimeoutMs: 30 }),
    open(
      dialer(() => {
        throw new TypeError("not allowed");
      }),
      old.uri,
    ),
  ];
  await until(() => talks.every(over));
  expect(talks.map(({ received }) => received)).toEqual([
    ["failed http1"],
    ["failed unreachable"],
    ["failed unreachable"],
    ["failed unreachable"],
  ]);
});

test("a connection that breaks is a reset, and the next exchange has another one", async () => {
  const server = http2.createServer();
  const sockets: net.Socket[] = [];
  server.on("connection", (socket: net.Socket) => sockets.push(socket));
  server.on("stream", (stream, { ":path": path }) => {
    stream.on("error", () => {});
    stream.respond({ ":status": 200 });
    if (path === "/lost") stream.write("part", () => sockets[0]?.destroy());
    else stream.end("fine");
  });
  const { uri } = await started(listen(server));
  const dial = dialer();
  const lost = open(dial, `${uri}lost`);
  await until(() => over(lost));
  expect(lost.received.at(-1)).toBe("failed reset");
  const fine = open(dial, uri, { method: "GET" });
  await until(() => over(fine));
  expect(fine.received).toEqual(["200 HTTP/2.0", "fine", "end"]);
});

test("an unused connection is closed soon, because it keeps an object in memory", async () => {
  let closed = 0;
  const server = http2.createServer();
  server.on("session", (session) => session.on("close", () => closed++));
  server.on("stream", (stream) => stream.respond({ ":status": 200 }, { endStream: true }));
  const { uri } = await started(listen(server));
  const talk = open(dialer(), uri, { method: "GET" });
  await until(() => over(talk));
  await until(() => closed === 1);
});

test("only cleartext HTTP/2 is full duplex", () => {
  const halfDuplex = (url: string, version: "h1" | "h2") =>
    dialer().isHalfDuplex?.({ url, version, method: "POST", headers: {}, connectTimeoutMs: 1 });
  expect([
    halfDuplex("http://a/", "h2"),
    halfDuplex("http://a/", "h1"),
    halfDuplex("https://a/", "h2"),
  ]).toEqual([false, true, true]);
});

test("connects to no address and no name that is refused", async () => {
  const { uri, port, connections } = await echo();
  const dial = dialer(
    connect,
    new Egress({ deny: ["127.0.0.1", "localhost"].map(parseEgressRule) }),
  );
  for (const url of [uri, `http://localhost:${port}/`, "http://169.254.169.254/"]) {
    const talk = open(dial, url);
    await until(() => over(talk));
    expect([url, ...talk.received]).toEqual([url, "failed forbidden"]);
  }
  expect(connections()).toBe(0);
});
