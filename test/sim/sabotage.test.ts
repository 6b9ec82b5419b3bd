import { expect, test } from "vitest";
import { Host } from "../../src/partition/host.ts";
import { sabotaged } from "./sabotage.ts";
import { SABOTAGES_JOURNAL } from "./sabotages_journal.ts";
import { SABOTAGES_LIFECYCLE } from "./sabotages_lifecycle.ts";
import { SABOTAGES_MESSAGES } from "./sabotages_messages.ts";
import { SABOTAGES_OPERATIONS } from "./sabotages_operations.ts";
import { SABOTAGES_PARTITION } from "./sabotages_partition.ts";
import { simulate, type SimulateOptions } from "./simulate.ts";
import type { System } from "./process.ts";

const SABOTAGES = [
  ...SABOTAGES_LIFECYCLE,
  ...SABOTAGES_OPERATIONS,
  ...SABOTAGES_JOURNAL,
  ...SABOTAGES_MESSAGES,
  ...SABOTAGES_PARTITION,
];
/** More than any sabotage needs: the rarest shows in one of two hundred. */
const SEEDS_MAX = 600;
const TIMEOUT_MS = 60_000;

/** The first seed that fails. Undefined: the simulation is blind to what was broken. */
async function caught(system: System, options: SimulateOptions): Promise<number | undefined> {
  for (let seed = 1; seed <= SEEDS_MAX; seed++) {
    const { reason } = await simulate(system, seed, options);
    if (reason !== undefined) return seed;
  }
  return undefined;
}

test.each(SABOTAGES.map((one) => [one.name, one] as const))(
  "is seen: %s",
  async (_, sabotage) => {
    const system = await sabotaged(sabotage);
    const { under } = sabotage;
    expect(await caught(system, under ? { under } : {})).toBeDefined();
  },
  TIMEOUT_MS,
);

test("is seen: the store lets every owner write", async () => {
  const under = { secondOwner: true };
  expect(await caught({ Host }, { isUnfenced: true, under })).toBeDefined();
}, TIMEOUT_MS);

test("a sabotage whose text is gone is an error", async () => {
  const gone = { name: "gone", file: "partition/host.ts", find: "no such text", replace: "" };
  await expect(sabotaged(gone)).rejects.toThrow("0 places");
});
