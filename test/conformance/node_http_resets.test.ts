import { expect, test } from "vitest";
import { type Handler, NO_LIMITS, type PortLimits } from "../../adapters/platform/listener.ts";
import { dial, exchange, hello, http2, log, startWith } from "./_node_http.ts";

const serve = (limits: Partial<PortLimits>, handler: Handler = hello) =>
  startWith({ limits: { ...NO_LIMITS, ...limits }, handler });

/** Sends a request, and takes it back when the server has begun to answer. */
function cancelled(session: ReturnType<typeof http2>): Promise<void> {
  const stream = session.request({ ":path": "/", ":method": "POST" });
  stream.on("error", () => {});
  return new Promise((resolve) => {
    stream.once("close", () => resolve());
    stream.once("response", () => stream.close(8));
  });
}

/** Answers with a head, and with a body that does not end. */
const endless: Handler = () =>
  new Response(new ReadableStream({ start: (body) => body.enqueue(new Uint8Array(1)) }));

test("streams that are answered are not counted, however many", async () => {
  const session = http2(await serve({ streamResetsMax: 5 }));
  for (let i = 0; i < 50; i++) {
    expect((await exchange(session, { ":path": "/" })).status).toBe(200);
  }
  expect(log.filter(({ message }) => message.includes("resets"))).toEqual([]);
});

test("a connection with too many resets is closed, and another one is not", async () => {
  const url = await serve({ streamResetsMax: 5 }, endless);
  const [session, other] = [http2(url), http2(url)];
  let code: number | undefined;
  session.on("goaway", (given) => code = given);
  for (let i = 0; i < 30 && !session.destroyed; i++) await cancelled(session);
  await expect.poll(() => session.destroyed).toBe(true);
  expect(code).toBe(11);
  await cancelled(other);
  expect(other.destroyed).toBe(false);
  expect(log.filter(({ message }) => message.includes("resets too many streams"))).toHaveLength(1);
});

test.each([[30, 200], [31, 431]])(
  "HTTP/1.1: of %i lines where 30 may be, the answer is %i",
  async (count, status) => {
    const socket = dial(await serve({ headLinesMax: 30 }));
    const lines = Array.from({ length: count }, (_, i) => `x-${i}: 1\r\n`).join("");
    socket.write(`GET / HTTP/1.1\r\n${lines}\r\n`);
    await expect.poll(() => socket.text).toMatch(new RegExp(`^HTTP/1.1 ${status}`));
  },
);

test.each([[2_000, 200], [9_000, 431]])(
  "of a header of %i bytes where 4 KiB may be, the answer is %i",
  async (size, status) => {
    const url = await serve({ headBytesMax: 4096 });
    const socket = dial(url);
    socket.write(`GET / HTTP/1.1\r\nx: ${"y".repeat(size)}\r\n\r\n`);
    await expect.poll(() => socket.text).toMatch(new RegExp(`^HTTP/1.1 ${status}`));
    const asked = exchange(http2(url), { ":path": "/", x: "y".repeat(size) })
      .then((answer) => answer.status, () => 431);
    expect(await asked).toBe(status);
  },
);
