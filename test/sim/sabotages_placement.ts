import type { Sabotage } from "./sabotage.ts";

/** Processes that freeze and are cut off, in a fleet. */
const STILL = { freezes: 2, secondOwner: true, moves: 3, crash: 0.003 } as const;

/** Whoever stood still has something to go on with, at once, when it wakes up. */
const LATE = {
  partitions: 4,
  processes: 2,
  freezes: 5,
  secondOwner: false,
  moves: 0,
  crash: 0,
  commitMs: 150,
  loadMs: 2,
  batchLost: 0,
} as const;

/** Broken leases that expire by time. Each is looked for where membership agents decide. */
export const SABOTAGES_PLACEMENT: readonly Sabotage[] = [
  {
    name: "a lease never ends",
    file: "placement/lease.ts",
    find: "return age < this.#options.leaseMs * (1 - MARGIN);",
    replace: "return age < Infinity;",
    under: LATE,
  },
  {
    name: "a lease counts from the response to its renewal",
    file: "placement/membership_agent.ts",
    find: "this.#lease.renew(began);",
    replace:
      "const { at, wall } = this.#lease.now(); this.#lease.renew({ at: at + 600, wall: wall + 600 });",
    under: LATE,
  },
  {
    name: "a process that resumes does not check its lease",
    file: "partition/commits.ts",
    find: "this.#isStopped || isHeld() ? undefined : commit([])",
    replace: "undefined",
    under: LATE,
  },
  {
    name: "a read is answered though the lease is over",
    file: "partition/commits.ts",
    find: "pending.writes.length === 0 && this.#isHeld()",
    replace: "pending.writes.length === 0",
    under: {
      ...LATE,
      loadMs: 300,
      commitMs: 20,
      residentBytesMax: 0,
      freezes: 12,
      readLost: 0,
      ackLost: 0,
      partitions: 2,
      turnEventsMax: 1,
    },
  },
  {
    name: "dead members are never evicted",
    file: "placement/membership_agent.ts",
    find: "    await membership.evict(id, beat);\n",
    replace: "    void [membership, beat];\n",
    under: { ...STILL, crash: 0.006 },
  },
  {
    name: "missed heartbeats are not counted",
    file: "placement/failure_detector.ts",
    find: "before.ms + countedMs",
    replace: "before.ms",
    under: { ...STILL, crash: 0.006 },
  },
  {
    name: "every pause counts as death",
    file: "placement/failure_detector.ts",
    find: "if (ms >= leaseMs) dead.push(other);",
    replace: "if (before?.beat === beat) dead.push(other);",
    under: STILL,
  },
  {
    name: "free partitions are not claimed",
    file: "placement/plan.ts",
    find: "if (node === me) claim = due;",
    replace: "if (node === me && shares.size > 1) claim = due.slice(1);",
    under: STILL,
  },
  {
    name: "partitions are not rebalanced",
    file: "placement/membership_agent.ts",
    find: "    for (const partition of release) this.#give(partition);\n",
    replace: "    void release;\n",
    under: { ...STILL, partitions: 4 },
  },
  {
    name: "a released partition is still served",
    file: "placement/membership_agent.ts",
    find: "    await this.#options.close(partition);\n",
    replace: "",
    under: { ...STILL, partitions: 4 },
  },
  {
    name: "an evicted member does not join again",
    file: "placement/membership_agent.ts",
    find: "return await this.#rejoin();",
    replace: "return;",
    under: STILL,
  },
];
