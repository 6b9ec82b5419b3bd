import { once } from "node:events";
import { expect, test } from "vitest";
import { dial, exchange, hello, http2, listener, start } from "./_node_http.ts";

/** More than any of these may take, and less than the time that requests would be given. */
const SOON_MS = 4_000;
const DRAIN_MS = 8_000;

/** Whether the server is gone long before requests in flight would be cut. */
async function closesSoon(): Promise<boolean> {
  const pending = new Promise<false>((resolve) =>
    setTimeout(() => resolve(false), SOON_MS).unref()
  );
  return await Promise.race([listener!.close(DRAIN_MS).then(() => true), pending]);
}

test("an idle HTTP/2 connection does not hold up the end", async () => {
  const session = http2(await start(hello));
  expect((await exchange(session, { ":path": "/" })).text).toBe("hello");
  expect(await closesSoon()).toBe(true);
}, 20_000);

test("an idle HTTP/1.1 connection does not hold up the end", async () => {
  const socket = dial(await start(hello));
  socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  await expect.poll(() => socket.text).toContain("hello");
  expect(await closesSoon()).toBe(true);
}, 20_000);

test("a connection that has not said anything does not hold up the end", async () => {
  const socket = dial(await start(hello));
  await once(socket, "connect");
  // The server has it, too, once it has answered a later one.
  await (await fetch(listener!.url)).text();
  expect(await closesSoon()).toBe(true);
}, 20_000);

test("an answer that ends while the server stops takes its connection along", async () => {
  let answer: ((response: Response) => void) | undefined;
  const url = await start(() => new Promise<Response>((resolve) => answer = resolve));
  const socket = dial(url);
  socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  await expect.poll(() => answer).toBeDefined();
  const closed = closesSoon();
  answer?.(new Response("late"));
  expect(await closed).toBe(true);
  await expect.poll(() => socket.text).toMatch(/connection: close[^]*late/i);
}, 20_000);

test("so does one that had begun before: its connection is idle once it has ended", async () => {
  let body: ReadableStreamDefaultController | undefined;
  const stream = new ReadableStream({ start: (controller) => void (body = controller) });
  const socket = dial(await start(() => new Response(stream)));
  socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  body?.enqueue(new TextEncoder().encode("one"));
  await expect.poll(() => socket.text).toContain("one");
  const closed = closesSoon();
  body?.enqueue(new TextEncoder().encode("two"));
  body?.close();
  expect(await closed).toBe(true);
  await expect.poll(() => socket.text).toContain("two");
}, 20_000);
