import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { Host } from "../../src/partition/host.ts";
import { MembershipAgent } from "../../src/placement/membership_agent.ts";
import { Router } from "../../src/placement/router.ts";
import { ThreadPeers } from "../../src/placement/thread_peers.ts";
import { Fenced } from "../../src/ports.ts";
import { patchedFile, sabotaged } from "./sabotage.ts";
import { SABOTAGES } from "./sabotages.ts";
import { SABOTAGES_OUTBOUND } from "./sabotages_outbound.ts";
import { simulate, type SimulateOptions } from "./simulate.ts";
import type { System } from "./system.ts";

/** `SABOTAGE_PARTS=3` tries every third one, from a random one on: another run tries others. */
const parts = Number(process.env["SABOTAGE_PARTS"] ?? 1);
const part = Math.floor(Math.random() * parts);
const TRIED = SABOTAGES.filter((_, at) => at % parts === part);
/** More than any sabotage needs: the rarest shows in one of two hundred. */
const SEEDS_MAX = 600;
const TIMEOUT_MS = 60_000;

/**
 * Seeds that saw a sabotage at the last update, by its name. They are tried first, which only saves
 * time: after a change of the server another seed may be needed. `UPDATE_SEEDS=1` writes them again.
 */
const SEEDS_FILE = new URL("sabotage_seeds.json", import.meta.url);
const seen: Record<string, number> = JSON.parse(readFileSync(SEEDS_FILE, "utf8"));
const isUpdate = process.env["UPDATE_SEEDS"] === "1";
afterAll(() => {
  const rare = Object.entries(seen).filter(([, seed]) => seed > 1).toSorted();
  if (isUpdate) writeFileSync(SEEDS_FILE, `${JSON.stringify(Object.fromEntries(rare), null, 2)}\n`);
});

/** A seed that fails. Undefined: the simulation is blind to what was broken. */
async function caught(
  name: string,
  system: System,
  options: SimulateOptions,
): Promise<number | undefined> {
  const known = seen[name] === undefined ? [] : [seen[name]];
  const seeds = Array.from({ length: SEEDS_MAX }, (_, at) => at + 1);
  // An update looks for a lower one.
  for (const seed of isUpdate ? [...seeds, ...known] : [...known, ...seeds]) {
    const { reason } = await simulate(system, seed, options);
    if (reason === undefined) continue;
    seen[name] = seed;
    return seed;
  }
  return undefined;
}

test.each(TRIED.map((one) => [one.name, one] as const))(
  "is seen: %s",
  async (_, sabotage) => {
    const system = await sabotaged(sabotage);
    expect(await caught(sabotage.name, system, { under: sabotage.under ?? {} })).toBeDefined();
  },
  TIMEOUT_MS,
);

test.each([1, 3])(
  "is seen: the store of %i partitions lets every owner write",
  async (partitions) => {
    const under = { secondOwner: true, isFleet: false, isFed: false, partitions };
    const system = { Host, MembershipAgent, Router, ThreadPeers, Fenced };
    expect(await caught(`unfenced ${partitions}`, system, { isUnfenced: true, under }))
      .toBeDefined();
  },
  TIMEOUT_MS,
);

// A run tries some of them only, and would not see that another one's text is gone.
test.each([...SABOTAGES, ...SABOTAGES_OUTBOUND])("has its text: $name", async (sabotage) => {
  expect(await patchedFile(sabotage)).toContain(sabotage.replace);
});

test("a sabotage whose text is gone is an error", async () => {
  const gone = { name: "gone", file: "partition/host.ts", find: "no such text", replace: "" };
  await expect(sabotaged(gone)).rejects.toThrow("0 places");
});
