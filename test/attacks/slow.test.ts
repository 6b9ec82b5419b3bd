import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { NO_LIMITS } from "../../adapters/platform/listener.ts";
import { hello, http2, start, startWith } from "../conformance/_node_http.ts";
import { SCALE, TEST_MS } from "./_scale.ts";
import { portOf } from "./_target.ts";

const HEAD_MS = 300;
const MANY = 50 * SCALE;
const sockets: Socket[] = [];

afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

function open(url: string): Socket {
  const socket = connect(portOf(url), "127.0.0.1").resume().on("error", () => {});
  sockets.push(socket);
  return socket;
}

/** Writes a bit of something again and again, as a slow client does. Stops with the connection. */
function trickle(socket: Socket, first: string, bit: string): void {
  socket.write(first);
  const timer = setInterval(() => socket.writable && socket.write(bit), HEAD_MS / 10);
  socket.once("close", () => clearInterval(timer));
}

test.each([
  ["header lines", "GET / HTTP/1.1\r\nhost: a\r\n", "x: y\r\n"],
  ["a first line", "GET /", "k"],
  ["a second request", "GET / HTTP/1.1\r\nhost: a\r\n\r\nGET / HTTP/1.1\r\n", "x: y\r\n"],
])(
  "%s that trickle in are given up in time, and others are answered meanwhile",
  async (_, first, bit) => {
    const url = await start(hello, HEAD_MS);
    const slow = Array.from({ length: MANY }, () => open(url));
    for (const socket of slow) trickle(socket, first, bit);
    expect((await fetch(url)).status).toBe(200);
    await expect.poll(() => slow.every(({ closed }) => closed), { timeout: 20_000 }).toBe(true);
    expect((await fetch(url)).status).toBe(200);
  },
  TEST_MS,
);

test("a body may trickle in for longer than a head, for calls may be long", async () => {
  const url = await start(async (request) => new Response(await request.text()), HEAD_MS);
  const socket = open(url);
  let text = "";
  socket.on("data", (chunk) => text += chunk);
  trickle(socket, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 30\r\n\r\n", "z");
  await expect.poll(() => text, { timeout: 20_000 }).toContain("z".repeat(30));
}, TEST_MS);

const REQUEST_MS = 600;
const reading = () =>
  startWith({
    limits: { ...NO_LIMITS, headTimeoutMs: HEAD_MS, requestTimeoutMs: REQUEST_MS },
    handler: async (request) => new Response(await request.text()),
  });

test(
  "bodies that trickle in are given up in time over HTTP/1.1, and others are answered",
  async () => {
    const url = await reading();
    const texts = new Map<Socket, string>();
    for (let at = 0; at < MANY; at++) {
      const socket = open(url);
      socket.on("data", (chunk) => texts.set(socket, `${texts.get(socket) ?? ""}${chunk}`));
      trickle(socket, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10000\r\n\r\n", "z");
    }
    const answer = await fetch(url, { method: "POST", body: "whole" });
    expect(await answer.text()).toBe("whole");
    await expect.poll(() => sockets.every(({ closed }) => closed), { timeout: 20_000 }).toBe(true);
    expect([...texts.values()].every((text) => text.startsWith("HTTP/1.1 408"))).toBe(true);
    expect((await fetch(url)).status).toBe(200);
  },
  TEST_MS,
);

test("over HTTP/2 their streams are reset, and others of the connection go on", async () => {
  const session = http2(await reading());
  const codes: (number | undefined)[] = [];
  for (let at = 0; at < 50; at++) {
    const stream = session.request({ ":method": "POST", ":path": "/" }, { endStream: false });
    const timer = setInterval(() => stream.write("z"), HEAD_MS / 10);
    stream.on("error", () => {}).on("close", () => {
      clearInterval(timer);
      codes.push(stream.rstCode);
    });
  }
  const whole = session.request({ ":method": "POST", ":path": "/" });
  let text = "";
  whole.setEncoding("utf8").on("data", (chunk) => text += chunk);
  whole.end("whole");
  await expect.poll(() => codes.length, { timeout: 20_000 }).toBe(50);
  expect([text, new Set(codes)]).toEqual(["whole", new Set([8])]);
  expect(session.closed).toBe(false);
}, TEST_MS);

test("an answer may take longer than its request", async () => {
  const url = await startWith({
    limits: { ...NO_LIMITS, headTimeoutMs: HEAD_MS, requestTimeoutMs: HEAD_MS },
    handler: async (request) => {
      const text = await request.text();
      await new Promise((resolve) => setTimeout(resolve, 4 * HEAD_MS));
      return new Response(text);
    },
  });
  expect(await (await fetch(url, { method: "POST", body: "h1" })).text()).toBe("h1");
  const stream = http2(url).request({ ":method": "POST", ":path": "/" });
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk) => text += chunk);
  stream.end("h2");
  await expect.poll(() => text, { timeout: 20_000 }).toBe("h2");
}, TEST_MS);
