import { expect, test } from "vitest";
import { Attempts } from "../../src/outbound/attempts.ts";
import { Host } from "../../src/partition/host.ts";
import { type OutboundSystem, overlapOf } from "./overlap.ts";
import { sabotaged } from "./sabotage.ts";
import { SABOTAGES_OUTBOUND } from "./sabotages_outbound.ts";

/** As in `simulate.test.ts`; each seed costs more time and meets fewer things. */
const count = Math.ceil(Number(process.env["SEEDS"] ?? 1_000) / 4);
const first = Number(process.env["SEED"] ?? Math.floor(Math.random() * 1e9));
/** More than any sabotage needs. */
const SEEDS_MAX = 300;

console.log(`overlaps: seeds ${first} to ${first + count - 1}`);

test("no handler begins while another works that it must not meet", async () => {
  for (let seed = first; seed < first + count; seed++) {
    const reason = await overlapOf({ Host, Attempts }, seed);
    if (reason !== undefined) expect.fail(reason);
  }
}, 60_000 + 200 * count);

test.each(SABOTAGES_OUTBOUND.map((one) => [one.name, one] as const))(
  "is seen: %s",
  async (_, sabotage) => {
    expect(await caught(await sabotaged(sabotage))).toBeDefined();
  },
  60_000,
);

/** The first seed that fails. Undefined: none does. */
async function caught(system: OutboundSystem): Promise<number | undefined> {
  for (let seed = 1; seed <= SEEDS_MAX; seed++) {
    if (await overlapOf(system, seed) !== undefined) return seed;
  }
  return undefined;
}
