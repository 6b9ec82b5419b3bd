// Imported by a program, at whose end it keeps rows, replaces each by another one many times, as the log does,
// and prints how large the heap was at most, in units of what is alive. Needs `--expose-gc`.
import process from "node:process";
import { getHeapStatistics } from "node:v8";

const ROWS = 200_000;
const ROUNDS = 15;

const row = (i) => ({ i, at: { sent: i, name: `value ${i}` }, entries: [i, i + 1, `${i}`] });
const heapBytes = () => getHeapStatistics().used_heap_size;

process.once("exit", () => {
  const rows = Array.from({ length: ROWS }, (_, i) => row(i));
  globalThis.gc();
  const alive = heapBytes();
  let most = alive;
  for (let i = 0; i < ROUNDS * ROWS; i++) {
    rows[i % ROWS] = row(i);
    if (i % 1_000 === 0) most = Math.max(most, heapBytes());
  }
  process.stdout.write(`${most / alive} of ${rows.length} rows\n`);
});
