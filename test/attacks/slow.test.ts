import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { hello, start } from "../conformance/_node_http.ts";
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
