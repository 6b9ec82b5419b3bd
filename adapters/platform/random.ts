import type { Random } from "../../src/ports.ts";

const POOL_BYTES = 4096;
let pool = new Uint8Array(0);

/** Unpredictable bytes, drawn from the system many at a time: one draw costs as much as a page. */
export const random: Random = (size) => {
  if (size > POOL_BYTES) return crypto.getRandomValues(new Uint8Array(size));
  if (pool.length < size) pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES));
  const bytes = pool.slice(0, size);
  pool = pool.subarray(size);
  return bytes;
};
