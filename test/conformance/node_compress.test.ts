import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { type IncomingMessage, request as ask } from "node:http";
import { expect, test } from "vitest";
import { compressing } from "../../adapters/node/compress.ts";
import { empty, reply } from "../../src/admin/reply.ts";
import { start } from "./_node_http.ts";

const VALUE = { rows: Array.from({ length: 100 }, (_, i) => ({ id: `inv_1${i}` })) };
const TEXT = JSON.stringify(VALUE);

interface Answer {
  readonly status: number | undefined;
  readonly coding: string | undefined;
  readonly vary: string | undefined;
  readonly length: string | undefined;
  readonly bytes: Buffer;
}

/** Asks without a client that would decode the answer. */
async function get(url: string, accepted: string | undefined, method = "GET"): Promise<Answer> {
  const headers = accepted === undefined ? {} : { "accept-encoding": accepted };
  return await new Promise((resolve, reject) => {
    ask(url, { method, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part) => parts.push(part));
      response.on("end", () =>
        resolve({
          status: response.statusCode,
          coding: response.headers["content-encoding"],
          vary: response.headers.vary,
          length: response.headers["content-length"],
          bytes: Buffer.concat(parts),
        }));
    }).on("error", reject).end();
  });
}

test("an answer is compressed as whoever asks likes it best", async () => {
  const url = await start(compressing(() => reply(200, VALUE)));
  for (const accepted of ["gzip", "GZIP", "gzip, deflate", "br;q=0.1, gzip;q=0.9", "br;q=0,gzip"]) {
    const { coding, vary, bytes } = await get(url, accepted);
    expect([coding, vary], accepted).toEqual(["gzip", "accept-encoding"]);
    expect(gunzipSync(bytes).toString()).toBe(TEXT);
    expect(bytes.length).toBeLessThan(TEXT.length / 2);
  }
  const { coding, bytes } = await get(url, "gzip, br");
  expect([coding, brotliDecompressSync(bytes).toString()]).toEqual(["br", TEXT]);
});

test("who names nothing that we know gets the answer as it is", async () => {
  const url = await start(compressing(() => reply(404, VALUE)));
  for (const accepted of [undefined, "", "identity", "*", "deflate", "gzip;q=0", "gzip;q=x"]) {
    const { status, coding, vary, bytes } = await get(url, accepted);
    expect([status, coding, vary, bytes.toString()], accepted)
      .toEqual([404, undefined, "accept-encoding", TEXT]);
  }
});

test("what has no body is left alone", async () => {
  const url = await start(compressing(() => empty(202)));
  expect(await get(url, "gzip")).toMatchObject({ status: 202, coding: undefined, length: "0" });
});

test("a body that breaks off breaks off compressed as well", async () => {
  const body = () =>
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(TEXT)),
      pull: () => Promise.reject(new Error("the disk is full")),
    });
  const headers = { "content-type": "application/json" };
  const url = await start(compressing(() => new Response(body(), { headers })));
  await expect(get(url, "gzip")).rejects.toThrow();
});

test("the length of the plain answer is not that of the compressed one", async () => {
  const headers = { "content-type": "application/json", "content-length": String(TEXT.length) };
  const url = await start(compressing(() => new Response(TEXT, { headers })));
  const { coding, length, bytes } = await get(url, "gzip");
  expect([coding, length]).toEqual(["gzip", undefined]);
  expect(gunzipSync(bytes).toString()).toBe(TEXT);
});

test("beyond sixteen that nobody reads, answers are sent as they are", async () => {
  // More than the system and the streams in between take for a client that reads nothing.
  const bytes = new Uint8Array(32 * 1024 * 1024).map((_, i) => (i * i * 31) >> (i % 13));
  const large = () => new Response(bytes, { headers: { "content-type": "application/x" } });
  const url = await start(
    compressing(({ url }) => url.endsWith("/large") ? large() : reply(200, VALUE)),
  );
  const waiting = await Promise.all(
    Array.from({ length: 16 }, () =>
      new Promise<IncomingMessage>((resolve, reject) => {
        const headers = { "accept-encoding": "gzip" };
        ask(`${url}/large`, { headers }, resolve).on("error", reject).end();
      })),
  );
  expect(waiting.map(({ headers }) => headers["content-encoding"])).toEqual(Array(16).fill("gzip"));
  const { coding, vary, bytes: plain } = await get(url, "gzip");
  expect([coding, vary, plain.toString()]).toEqual([undefined, "accept-encoding", TEXT]);
  for (const response of waiting) response.destroy();
  await expect.poll(async () => (await get(url, "gzip")).coding, { timeout: 20_000 }).toBe("gzip");
});
