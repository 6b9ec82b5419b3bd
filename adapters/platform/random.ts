import type { Random } from "../../src/ports.ts";

const POOL_BYTES = 4096;
let pool = new Uint8Array(0);

/** Cryptographic random bytes, read from the system a page at a time: a few would cost as much. */
export const random: Random = (size) => {
  if (size > POOL_BYTES) return crypto.getRandomValues(new Uint8Array(size));
  if (pool.length < size) pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES));
  const bytes = pool.slice(0, size);
  pool = pool.subarray(size);
  return bytes;
};
