import { execFileSync } from "node:child_process";
import path from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { nodeEntry } from "../support/build.ts";

const TEST_MS = 30_000;
const ROWS = path.join(import.meta.dirname, "_rows_in_turn.mjs");

/** The largest heap of a program whose rows are replaced one after the other, to what is alive in it. */
function growth(...program: string[]): number {
  const args = ["--expose-gc", "--max-semi-space-size=16", "--import", ROWS, ...program];
  const output = execFileSync(process.execPath, args, { encoding: "utf8" });
  return Number(/^([\d.]+) of \d+ rows$/m.exec(output)?.[1]);
}

test(
  "rows that were replaced are collected before the heap has tripled",
  { timeout: TEST_MS },
  () => {
    expect(growth(nodeEntry(), "--version")).toBeLessThan(3);
    // What V8 does of itself. If this is no more, the server need not tell it anything.
    expect(growth("--eval", "0")).toBeGreaterThan(3);
  },
);
