import { execFileSync } from "node:child_process";
import path from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { denoCommand, denoProgram, nodeEntry } from "../support/build.ts";
import { node24 } from "../support/fetched_node.ts";

const TEST_MS = 60_000;
const GROWTH_MAX = 3;
const TRIES = 3;
const SOON = 1_000, LATE = 2_500;
const ROWS = path.join(import.meta.dirname, "_rows_in_turn.mjs");
const COMPILERS = path.join(import.meta.dirname, "_compilers.mjs");
const node = await node24("the test of its compilers");
const NODE = [process.execPath, "--expose-gc", "--max-semi-space-size=16", "--import", ROWS];

/** The largest heap of a program whose rows are replaced one after the other, to what is alive in it. */
function growth([program = "", ...args]: readonly string[]): number {
  const output = execFileSync(program, args, { encoding: "utf8" });
  return Number(/^([\d.]+) of \d+ rows$/m.exec(output)?.[1]);
}

/** The least of some tries: while other programs run, V8 may come late to collect. */
function leastGrowth(command: readonly string[]): number {
  let least = Infinity;
  for (let left = TRIES; left > 0 && least >= GROWTH_MAX; left--) {
    least = Math.min(least, growth(command));
  }
  return least;
}

/** `deno task serve`, with what `ROWS` needs. */
function denoWithRows(): readonly string[] {
  const [program, run, ...args] = denoCommand();
  const withGc = args.map((arg) => arg.replace(/^--v8-flags=/, "$&--expose-gc,"));
  return [program, run ?? "", "--preload", ROWS, ...withGc, "--version"];
}

/** What V8 does with the functions of a program on Node 24. */
function compilers(...args: readonly string[]): { maglev: string; callsBefore: number } {
  const flags = ["--allow-natives-syntax", "--no-concurrent-recompilation", "--import", COMPILERS];
  const output = execFileSync(node!, [...flags, ...args], { encoding: "utf8" });
  const [, maglev = "", calls] = /^Maglev: (\w+), optimized after (\d+)$/m.exec(output) ?? [];
  return { maglev, callsBefore: Number(calls) };
}

test("a server collects rows that were replaced before its heap has tripled", {
  timeout: TEST_MS,
}, () => {
  expect(leastGrowth([...NODE, nodeEntry(), "--version"])).toBeLessThan(GROWTH_MAX);
  expect(leastGrowth(denoWithRows())).toBeLessThan(GROWTH_MAX);
});

test.skipIf(node === undefined)("a server turns off the compiler Maglev, which V8 has on", () => {
  expect(compilers(nodeEntry(), "--version").maglev).toBe("false");
  expect(compilers("--eval", "0").maglev).toBe("true");
});

test.skipIf(node === undefined)("V8 optimizes a server's functions sooner than of itself", () => {
  expect(compilers(nodeEntry(), "--version").callsBefore).toBeLessThan(SOON);
  expect(compilers("--no-maglev", "--eval", "0").callsBefore).toBeGreaterThan(LATE);
});

// If this is no more, the server need not tell V8 anything.
test("V8 of itself lets the heap grow further", { timeout: TEST_MS }, () => {
  expect(growth([...NODE, "--eval", "0"])).toBeGreaterThan(GROWTH_MAX);
  expect(growth([denoProgram(), "run", "--allow-env", "--v8-flags=--expose-gc", ROWS]))
    .toBeGreaterThan(GROWTH_MAX);
});
