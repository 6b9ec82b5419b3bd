import { Buffer } from "node:buffer";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { END_HEADERS, END_STREAM, frame, PREFACE, request, TYPE } from "../attacks/_frames.ts";
import { dial, exchange, hello, http2, start } from "./_node_http.ts";

const INACTIVITY_MS = 100;
const whole = END_HEADERS | END_STREAM;
/** A request that is reset at once. */
const reset = (i: number) =>
  Buffer.concat([
    frame(TYPE.headers, whole, 1 + 2 * i, request("GET", "/")),
    frame(TYPE.reset, 0, 1 + 2 * i, Buffer.from([0, 0, 0, 8])),
  ]);

test("a connection on which too many streams were reset is released", async () => {
  const url = await start(hello, undefined, INACTIVITY_MS);
  const options = { port: Number(new URL(url).port), host: "127.0.0.1", allowHalfOpen: true };
  const peer = connect(options).resume().on("error", () => {});
  // Node allows 1,000 at once, and then gives the session up without a word to us.
  peer.end(Buffer.concat([PREFACE, ...Array.from({ length: 2_000 }, (_, i) => reset(i))]));
  let hasEnded = false;
  peer.once("end", () => hasEnded = true).once("close", () => hasEnded = true);
  await expect.poll(() => hasEnded, { timeout: 10_000 }).toBe(true);
  expect((await fetch(url)).status).toBe(200);
});

test("a peer that answers no PING is given up", async () => {
  const socket = dial(await start(hello, undefined, INACTIVITY_MS));
  socket.write(PREFACE);
  await expect.poll(() => socket.closed, { timeout: 10_000 }).toBe(true);
});

test("a peer that waits for its answer for long, and answers PINGs, is kept", async () => {
  const slow = () =>
    new Promise<Response>((resolve) => setTimeout(() => resolve(new Response("late")), 1_000));
  const session = http2(await start(slow, undefined, INACTIVITY_MS));
  expect((await exchange(session, { ":path": "/" })).text).toBe("late");
  expect(session.destroyed).toBe(false);
});
