// Imported by a program, at whose end it prints whether V8 uses the compiler Maglev, and after how many
// calls V8 has optimized a function. Needs `--allow-natives-syntax` and `--no-concurrent-recompilation`.
import process from "node:process";

const MOST_CALLS = 20_000;
const OPTIMIZED = 1 << 6;
const isMaglevEnabled = new Function("return %IsMaglevEnabled()");
const statusOf = new Function("other", "return %GetOptimizationStatus(other)");

process.once("exit", () => {
  let calls = 0;
  const add = (a, b) => a + b;
  while (calls < MOST_CALLS && (statusOf(add) & OPTIMIZED) === 0) calls = add(calls, 1);
  process.stdout.write(`Maglev: ${isMaglevEnabled()}, optimized after ${calls}\n`);
});
