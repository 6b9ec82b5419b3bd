import { expect, test } from "vitest";
import { dial, exchange, hello, http2, start } from "./_node_http.ts";

const lines = (count: number) => Array.from({ length: count }, (_, i) => [`x-${i}`, "1"] as const);

test.each([[100, 200], [101, 431]])(
  "HTTP/1.1: %i header lines are answered with %i",
  async (count, status) => {
    const socket = dial(await start(hello));
    const head = lines(count).map(([name, value]) => `${name}: ${value}\r\n`).join("");
    socket.write(`GET / HTTP/1.1\r\n${head}\r\n`);
    await expect.poll(() => socket.text).toMatch(/^HTTP\/1.1 \d{3}/);
    expect(socket.text).toMatch(new RegExp(`^HTTP/1.1 ${status}`));
  },
);

test("HTTP/2: 90 headers beside its own are answered, 101 are not", async () => {
  const session = http2(await start(hello));
  const statusOf = async (count: number) =>
    (await exchange(session, { ":path": "/", ...Object.fromEntries(lines(count)) })).status;
  expect([await statusOf(90), await statusOf(101)]).toEqual([200, 431]);
});
