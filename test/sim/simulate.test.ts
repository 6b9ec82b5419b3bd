import { expect, test, vi } from "vitest";
import type { Event } from "../../src/engine/event.ts";
import type { Turn } from "../../src/engine/turn.ts";
import { Host } from "../../src/partition/host.ts";
import { MembershipAgent } from "../../src/placement/membership_agent.ts";
import { Router } from "../../src/placement/router.ts";
import { ThreadPeers } from "../../src/placement/thread_peers.ts";
import { Fenced } from "../../src/ports.ts";
import { Resident } from "../../src/partition/resident.ts";
import { finished, meets, PAIRS, RARE_PAIRS, visited } from "./coverage.ts";
import { explained, type Run, simulate } from "./simulate.ts";

// The engine runs unchanged; its events are only observed.
vi.mock(import("../../src/engine/step.ts"), async (original) => {
  const { step } = await original();
  return {
    step(turn: Turn, event: Event) {
      meets(turn, event);
      step(turn, event);
    },
  };
});
const { apply } = Resident.prototype;
Resident.prototype.apply = function (turn, commit) {
  finished(turn);
  apply.call(this, turn, commit);
};

const system = { Host, MembershipAgent, Router, ThreadPeers, Fenced };

/**
 * `SEED=7 SEEDS=1` repeats one seed; `SEEDS=100000` is a nightly run. `UNDER='{"threads":2}'` has all seeds
 * run in these circumstances.
 */
const count = Number(process.env["SEEDS"] ?? 600);
const first = Number(process.env["SEED"] ?? Math.floor(Math.random() * 1e9));
const under = JSON.parse(process.env["UNDER"] ?? "{}");
const CHUNKS = 10;
/** A long run must not wait for the clock of a short one. */
const TIMEOUT_MS = 60_000 + 200 * count;

console.log(`simulation: seeds ${first} to ${first + count - 1}`);

test.each(Array.from({ length: CHUNKS }, (_, chunk) => chunk))(
  "part %i of the seeds keeps every promise",
  async (chunk) => {
    for (let seed = first + chunk; seed < first + count; seed += CHUNKS) {
      const run = await simulate(system, seed, { under });
      if (run.reason !== undefined) expect.fail(explained(run));
    }
  },
  TIMEOUT_MS,
);

test("the seeds meet every event in every status where it can be", () => {
  const wanted = [...count >= 500 ? PAIRS : [], ...count >= 20_000 ? RARE_PAIRS : []];
  expect(wanted.filter((pair) => !visited.has(pair))).toEqual([]);
});

test("the same seed lives the same life", async () => {
  const life = ({ trace, commits, simulatedMs }: Run) => ({ trace, commits, simulatedMs });
  for (let seed = first; seed < first + 5; seed++) {
    const once = await simulate(system, seed), again = await simulate(system, seed);
    expect(life(again)).toEqual(life(once));
    expect(once.trace.length).toBeGreaterThan(3);
  }
});
