import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const README = new URL("../../README.md", import.meta.url);
const PARTITION = new URL("../../src/partition/partition.ts", import.meta.url);

/** The names of functions that a text calls, in the order in which they stand. */
function callsIn(text: string): string[] {
  const code = text.replaceAll(/\/\/.*/g, "");
  return [...code.matchAll(/(?:(\w+)\.)?(\w+)\(/g)].map(([, owner, name]) =>
    owner === undefined || owner === "runner" ? `${name}` : `${owner}.${name}`
  );
}

function between(text: string, from: string, to: string): string {
  const start = text.indexOf(from);
  expect(start, from).toBeGreaterThanOrEqual(0);
  return text.slice(start, text.indexOf(to, start));
}

test("a turn of a partition makes the calls of the five lines of README, in their order", () => {
  const excerpt = between(readFileSync(README, "utf8"), "const events = mailbox", "```");
  const source = readFileSync(PARTITION, "utf8");
  const run = between(source, "      const events = again", "      this.#ended");
  const lines = callsIn(excerpt);
  expect(lines).toHaveLength(5);
  expect(callsIn(run.replaceAll("this.#", "")).filter((call) => lines.includes(call)))
    .toEqual(lines);
});
