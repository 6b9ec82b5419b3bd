import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nodeReader } from "../../adapters/node/bridge.ts";

const CHUNK_BYTES = 70_000;
/** Node 20 cannot free a buffer. */
const lacksTransfer = !("transfer" in ArrayBuffer.prototype);

beforeAll(() => {
  if (!lacksTransfer) return;
  const transfer = function (this: ArrayBuffer) {
    structuredClone(this, { transfer: [this] });
  };
  Object.defineProperty(ArrayBuffer.prototype, "transfer", { value: transfer, configurable: true });
});
afterAll(() => {
  if (lacksTransfer) Reflect.deleteProperty(ArrayBuffer.prototype, "transfer");
});

/** Reads a body that arrives as these chunks. */
async function read(chunks: readonly Uint8Array[]): Promise<Uint8Array> {
  const runtime = { node: { req: Readable.from(chunks) } };
  const request = Object.assign(new Request("http://127.0.0.1/"), { runtime });
  const bytes = await nodeReader.body(request, { length: undefined, bytesMax: 2 * CHUNK_BYTES });
  if (!bytes) throw new Error("The body is said to be too long");
  return bytes;
}

test("the chunks of a body are freed once they are joined", async () => {
  const chunks = [new Uint8Array(CHUNK_BYTES).fill(1), new Uint8Array(3).fill(2)];
  const whole = await read(chunks);
  expect(whole.length).toBe(CHUNK_BYTES + 3);
  expect([whole[0], whole.at(-1)]).toEqual([1, 2]);
  expect(chunks.map(({ buffer }) => buffer.byteLength)).toEqual([0, 0]);
});

test("a chunk that shares its memory is left as it is, and one that is the whole body is kept", async () => {
  const pool = new Uint8Array(100).fill(3);
  await read([pool.subarray(0, 50), pool.subarray(50)]);
  expect(pool[99]).toBe(3);
  const only = new Uint8Array(CHUNK_BYTES).fill(4);
  expect(await read([only])).toBe(only);
  expect(only[0]).toBe(4);
});
