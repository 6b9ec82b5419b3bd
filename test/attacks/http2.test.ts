import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { END_HEADERS, END_STREAM, frame, header, PREFACE, request, TYPE } from "./_frames.ts";
import { SCALE, tell, TEST_MS } from "./_scale.ts";
import { expectWell, portOf, startTarget, type Target } from "./_target.ts";

let target: Target;
beforeAll(async () => void (target = await startTarget()), 60_000);
afterAll(async () => await target?.close());

const CANCEL = Buffer.from([0, 0, 0, 8]);
const whole = END_HEADERS | END_STREAM;
const stream = (i: number) => 1 + 2 * i;
const get = request("GET", "/svc/health");
const post = request("POST", "/svc/call/Greeter/greet");
const frames = (...all: Buffer[]) => Buffer.concat(all);

/** What the client sends `i`th. */
type Flood = (i: number) => Buffer;

/** Floods that have exhausted memory or processors of HTTP/2 servers, by what they repeat. */
const FLOODS: Readonly<Record<string, Flood>> = {
  "requests that are reset at once": (i) =>
    frames(
      frame(TYPE.headers, whole, stream(i), get),
      frame(TYPE.reset, 0, stream(i), CANCEL),
    ),
  "bodies that are reset half way": (i) =>
    frames(
      frame(TYPE.headers, END_HEADERS, stream(i), post),
      frame(TYPE.data, 0, stream(i), Buffer.from(`"a`)),
      frame(TYPE.reset, 0, stream(i), CANCEL),
    ),
  "requests that make the server reset them": (i) =>
    frames(
      frame(TYPE.headers, END_HEADERS, stream(i), post),
      frame(TYPE.windowUpdate, 0, stream(i), Buffer.alloc(4)),
    ),
  "a head that goes on and on": (i) =>
    i === 0
      ? frame(TYPE.headers, 0, 1, get)
      : frame(TYPE.continuation, 0, 1, header(`x-${i}`, "y".repeat(1_000))),
  "a head that goes on with nothing": (i) =>
    i === 0 ? frame(TYPE.headers, 0, 1, get) : frame(TYPE.continuation, 0, 1),
  "headers that unpack to much more": (i) => {
    const kept = Buffer.concat([Buffer.from([0x40]), header("x", "v".repeat(3_900)).subarray(1)]);
    const more = i === 0 ? kept : Buffer.alloc(4_000, 0xbe);
    return frame(TYPE.headers, whole, stream(i), Buffer.concat([get, more]));
  },
  "pings": () => frame(TYPE.ping, 0, 0, Buffer.alloc(8)),
  "settings": (i) => frame(TYPE.settings, 0, 0, Buffer.from([0, 3, 0, 0, 0, i & 255])),
  "priorities": (i) => frame(TYPE.priority, 0, stream(i), Buffer.from([0, 0, 0, 0, 1])),
  "empty pieces of a body": (i) =>
    i === 0 ? frame(TYPE.headers, END_HEADERS, 1, post) : frame(TYPE.data, 0, 1),
  "windows beyond all bounds": () =>
    frame(TYPE.windowUpdate, 0, 0, Buffer.from([0x7f, 0xff, 0xff, 0xff])),
  "frames of unknown types": (i) => frame(0xf0 + i % 8, 0, 0, Buffer.alloc(64)),
};

const TIMES = 2_000 * SCALE;
const SEND_MS = 5_000 + 1_000 * SCALE;

function open(url: string): Socket {
  const socket = connect(portOf(url), "127.0.0.1");
  // The server may well end it, and should.
  return socket.on("error", () => {});
}

/** Sends a flood until it is over or the server has enough. Answers how much was sent. */
function send(socket: Socket, flood: Flood): Promise<number> {
  socket.resume();
  return new Promise((resolve) => {
    let sent = 0;
    const done = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(sent);
    };
    const timer = setTimeout(done, SEND_MS);
    const pump = () => {
      while (sent < TIMES && !socket.destroyed) {
        if (socket.write(flood(sent++))) continue;
        return void socket.once("drain", pump);
      }
      // The server's answer to a flood may be not to answer any more: its end is not waited for.
      socket.end(done);
    };
    socket.once("close", done);
    socket.write(PREFACE);
    pump();
  });
}

test.each(Object.entries(FLOODS))("survives %s, on both ports", async (name, flood) => {
  const { ingress, admin } = target.server;
  const began = performance.now();
  const sent = await Promise.all([ingress, admin].map((url) => send(open(url), flood)));
  tell({ name, sent, ms: Math.round(performance.now() - began) });
  expect(Math.min(...sent)).toBeGreaterThan(0);
  await expectWell(target);
}, TEST_MS);

test("answers others while many connections say nothing", async () => {
  const sockets = Array.from({ length: 100 * SCALE }, () => open(target.server.ingress));
  await Promise.all(
    sockets.map((socket) => new Promise((resolve) => socket.once("connect", resolve))),
  );
  await expectWell(target);
  for (const socket of sockets) socket.destroy();
}, TEST_MS);
