import { afterAll, beforeAll, expect, test } from "vitest";
import { expectWell, portOf, startTarget, statusesOf, talk, type Target } from "./_target.ts";

let target: Target;
beforeAll(async () => void (target = await startTarget()), 60_000);
afterAll(async () => await target?.close());

const HIDDEN = "GET /hidden HTTP/1.1\r\nhost: a\r\n\r\n";
const POST = "POST /svc/call/Greeter/greet HTTP/1.1\r\nhost: a\r\n";
const JSON_TYPE = "content-type: application/json\r\n";

/** Heads over which proxies and servers have disagreed where a request ends. */
const AMBIGUOUS: Readonly<Record<string, string>> = {
  "a length and chunks":
    `${POST}content-length: 6\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  "two lengths": `${POST}content-length: 5\r\ncontent-length: 6\r\n\r\n"abc"${HIDDEN}`,
  "two lengths in one header": `${POST}content-length: 5, 6\r\n\r\n"abc"${HIDDEN}`,
  "a length with a sign": `${POST}content-length: +5\r\n\r\n"abc"${HIDDEN}`,
  "a length below zero": `${POST}content-length: -5\r\n\r\n"abc"${HIDDEN}`,
  "a length in hexadecimal": `${POST}content-length: 0x5\r\n\r\n"abc"${HIDDEN}`,
  "an endless length": `${POST}content-length: ${"9".repeat(40)}\r\n\r\n"abc"${HIDDEN}`,
  "chunks that are not last":
    `${POST}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n${HIDDEN}`,
  "chunks said twice":
    `${POST}transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n${HIDDEN}`,
  "a space before the colon": `${POST}transfer-encoding : chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  "a vertical tab before a value": `${POST}transfer-encoding:\x0bchunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  "chunks by another name": `${POST}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  "a folded header": `${POST}x: a\r\n content-length: 5\r\n\r\n"abc"${HIDDEN}`,
  "a header before the first": `GET / HTTP/1.1\r\n host: a\r\n\r\n${HIDDEN}`,
  "a NUL in a header": `${POST}x: a\0b\r\n\r\n${HIDDEN}`,
  "a bare return in a header": `${POST}x: a\rcontent-length: 5\r\n\r\n${HIDDEN}`,
  "another version": `GET / HTTP/9.9\r\nhost: a\r\n\r\n${HIDDEN}`,
  "a chunk with a sign": `${POST}transfer-encoding: chunked\r\n\r\n-1\r\n"\r\n0\r\n\r\n${HIDDEN}`,
  "a chunk of endless size": `${POST}transfer-encoding: chunked\r\n\r\n${
    "f".repeat(20)
  }\r\n"\r\n0\r\n\r\n${HIDDEN}`,
  "a chunk longer than it says":
    `${POST}${JSON_TYPE}transfer-encoding: chunked\r\n\r\n2\r\n"abc"\r\n0\r\n\r\n${HIDDEN}`,
};

test.each(Object.entries(AMBIGUOUS))(
  "%s: nothing behind it is taken for a request",
  async (_, bytes) => {
    for (const url of [target.server.ingress, target.server.admin]) {
      const heard = await talk(portOf(url), bytes);
      // At most one answer, which refuses: a second one would be that of the hidden request.
      expect(statusesOf(heard), heard).toEqual([400]);
      expect(heard).toMatch(/connection: close/i);
    }
  },
);

test("requests whose ends are clear are answered one by one", async () => {
  const body = `"you"`;
  const plain = `${POST}${JSON_TYPE}content-length: ${body.length}\r\n\r\n${body}`;
  const last = plain.replace(JSON_TYPE, `${JSON_TYPE}connection: close\r\n`);
  const chunked = `${POST}${JSON_TYPE}transfer-encoding: chunked\r\n\r\n5\r\n${body}\r\n0\r\n\r\n`;
  const heard = await talk(portOf(target.server.ingress), plain + chunked + last);
  expect(statusesOf(heard)).toEqual([200, 200, 200]);
});

test.each([
  [
    "a request to another host",
    "GET http://127.0.0.1:1/deployments HTTP/1.1\r\nhost: b\r\nconnection: close\r\n\r\n",
  ],
  ["a tunnel", "CONNECT 127.0.0.1:22 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"],
  ["no resource in particular", "GET * HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"],
])("%s is never passed on", async (_, bytes) => {
  const heard = await talk(portOf(target.server.ingress), bytes);
  expect(statusesOf(heard).filter((status) => status < 400)).toEqual([]);
});

test("the server is as well as before", () => expectWell(target));
