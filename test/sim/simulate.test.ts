import { expect, test } from "vitest";
import { Host } from "../../src/partition/host.ts";
import { explained, simulate } from "./simulate.ts";

const count = Number(process.env["SEEDS"] ?? 1_000);
const first = Number(process.env["SEED"] ?? Math.floor(Math.random() * 1e9));

test("seeds", async () => {
  console.log("first seed", first);
  let commits = 0, deaths = 0, failed = 0;
  const t = performance.now();
  const failures: string[] = [];
  for (let seed = first; seed < first + count; seed++) {
    const run = await simulate({ Host }, seed);
    commits += run.commits, deaths += run.deaths;
    if (run.reason) {
      failed++;
      failures.push(explained(run));
    }
  }
  console.log({ count, failed, commits, deaths, ms: performance.now() - t });
  const kinds = new Map<string, number>();
  for (const one of failures) {
    const k = one.split("\n")[0]!.replace(/^Seed \d+: /, "").replace(/"[^"]*"/g, "X").replace(
      /\d+/g,
      "N",
    ).slice(0, 120);
    kinds.set(k, (kinds.get(k) ?? 0) + 1);
  }
  console.log(kinds);
  expect(failures.slice(0, 2).join("\n\n")).toBe("");
}, 600_000);
