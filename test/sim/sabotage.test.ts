import { expect, test } from "vitest";
import { sabotaged } from "./sabotage.ts";
import { SABOTAGES } from "./sabotages.ts";
import { simulate } from "./simulate.ts";

const only = process.env["SABOTAGE"];
test("all", async () => {
  for (const sabotage of SABOTAGES) {
    if (only && !sabotage.name.includes(only)) continue;
    const t0 = performance.now();
    let line: string;
    try {
      const system = await sabotaged(sabotage);
      const t1 = performance.now();
      let caught = 0, first: string | undefined, firstSeed = 0;
      const most = Number(process.env["SEEDS"] ?? 60);
      for (let seed = 1; seed <= most; seed++) {
        const run = await simulate(system, seed, sabotage.under ? { under: sabotage.under } : {});
        if (
          run.reason && process.env["STOP"] && (first = run.reason, firstSeed = seed, caught = 1)
        ) break;
        if (run.reason) {
          caught++;
          first ??= run.reason;
          firstSeed ||= seed;
        }
      }
      line = `${caught}/${most} first=${firstSeed} ${Math.round(t1 - t0)}+${
        Math.round(performance.now() - t1)
      }ms  ${sabotage.name}: ${first?.slice(0, 130).split("\n")[0]}`;
    } catch (cause) {
      line = `!! ${sabotage.name} ${cause}`;
    }
    process.stdout.write(line + "\n");
  }
  expect(1).toBe(1);
}, 900_000);
