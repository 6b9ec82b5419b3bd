import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { Handler } from "../../adapters/platform/listener.ts";
import { data, get, PING, post, PREFACE, SETTINGS, SETTINGS_ACK } from "./_http2_bytes.ts";
import { hello, start } from "./_node_http.ts";

const REQUEST = get("/");
const POST = post("/");
const DATA = data("abc", { isLast: false });

interface Peer extends Socket {
  text: string;
  hasEnded: boolean;
}

const peers: Socket[] = [];
afterEach(() => peers.splice(0).forEach((peer) => peer.destroy()));

/** A caller that keeps reading after it has ended its own side, as TCP allows. */
async function halfOpen(url: string): Promise<Peer> {
  const options = { port: Number(new URL(url).port), host: "127.0.0.1", allowHalfOpen: true };
  const peer = Object.assign(connect(options), { text: "", hasEnded: false });
  peers.push(peer);
  peer.setEncoding("latin1").on("data", (chunk) => peer.text += chunk).on("error", () => {});
  peer.once("end", () => peer.hasEnded = true);
  await new Promise((resolve) => peer.once("connect", resolve));
  return peer;
}

const isAnswered = (peer: Peer) => peer.text.includes("hello");
const isGreeted = (peer: Peer) => peer.text.length >= 9;

/** What a caller sends, what it waits for, and what it sends before it ends its side. */
const SHAPES: Readonly<Record<string, readonly [string, ((peer: Peer) => boolean)?, string?]>> = {
  "nothing": [""],
  "the first letters of a preface": ["PR"],
  "half a preface": ["PRI * HTTP"],
  "a preface": [PREFACE],
  "a preface and settings": [PREFACE + SETTINGS],
  "a preface, and settings later": [PREFACE, isGreeted, SETTINGS],
  "settings that are acknowledged": [PREFACE + SETTINGS, isGreeted, SETTINGS_ACK],
  "a ping": [PREFACE + SETTINGS, isGreeted, SETTINGS_ACK + PING],
  "a request that was answered": [PREFACE + SETTINGS + REQUEST, isAnswered, SETTINGS_ACK],
  "a request that is not answered yet": [PREFACE + SETTINGS + REQUEST],
  "half a body": [PREFACE + SETTINGS + POST + DATA],
  "half a frame": [PREFACE + SETTINGS + POST + DATA.slice(0, 11)],
  "garbage after the preface": [`${PREFACE}garbage, garbage, garbage`],
  "half an HTTP/1.1 head": ["GET / HTTP/1.1\r\nhost"],
  "half an HTTP/1.1 body": ["POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nabc"],
};

describe("a connection whose caller ends its side", () => {
  test.each(Object.entries(SHAPES))("is released after %s", async (_, [first, isSeen, last]) => {
    const peer = await halfOpen(await start(hello));
    peer.write(first, "latin1");
    if (isSeen) await expect.poll(() => isSeen(peer)).toBe(true);
    peer.end(last ?? "", "latin1");
    await expect.poll(() => peer.hasEnded, { timeout: 5000 }).toBe(true);
  });

  test.each([["HTTP/1.1", "GET / HTTP/1.1\r\nhost: a\r\n\r\n"], [
    "HTTP/2",
    PREFACE + SETTINGS + REQUEST,
  ]])("is released while a handler works, which hears of it: %s", async (_, request) => {
    let aborted = false, waiting = false;
    const handler: Handler = (request) =>
      new Promise((resolve) => {
        waiting = true;
        request.signal.addEventListener("abort", () => {
          aborted = true;
          resolve(new Response("late"));
        });
      });
    const peer = await halfOpen(await start(handler));
    peer.write(request, "latin1");
    await expect.poll(() => waiting).toBe(true);
    peer.end();
    await expect.poll(() => [peer.hasEnded, aborted], { timeout: 5000 }).toEqual([true, true]);
  });

  test("gets what was answered at once, over HTTP/1.1", async () => {
    const peer = await halfOpen(await start(hello));
    peer.end("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    await expect.poll(() => peer.hasEnded, { timeout: 5000 }).toBe(true);
    expect(peer.text).toMatch(/^HTTP\/1.1 200[^]*hello$/);
  });
});
