import type { Faults, Limits } from "./faults.ts";
import type { Sabotage } from "./sabotage.ts";

/** Where it is known who goes first: clocks are right, and all that waits is in memory. */
const ORDERED: Partial<Faults & Limits> = {
  clockStepMs: 0,
  clockSkewMs: 0,
  clockDrift: 0,
  queueWindow: 256,
  grantsMax: 256,
  alike: 0,
};

/** Banks are often damaged, and partitions start again. */
const DAMAGED: Partial<Faults & Limits> = { bankDamaged: 0.5, crash: 0.006 };

/** Several queues of a few priorities that wait for one scope. */
const TOGETHER: Partial<Faults & Limits> = { ...ORDERED, together: 0.9 };

/** Broken priorities, turns and pauses. */
export const SABOTAGES_ORDER: readonly Sabotage[] = [
  {
    name: "a lower priority goes first",
    file: "priority_lanes.ts",
    find: "const score = lane / 2 * this.#agingMs + time",
    replace: "const score = -lane / 2 * this.#agingMs + time",
    under: { ...TOGETHER, priorityAgingMs: 10_000 },
  },
  {
    name: "no priority goes first",
    file: "priority_lanes.ts",
    find: "const score = lane / 2 * this.#agingMs + time",
    replace: "const score = time",
    under: { ...TOGETHER, priorityAgingMs: 10_000 },
  },
  {
    name: "waiting raises no priority",
    file: "priority_lanes.ts",
    find: "const score = lane / 2 * this.#agingMs + time - this.#lane(lane).since;",
    replace: "const score = lane;",
    under: { ...TOGETHER, priorityAgingMs: 1 },
  },
  {
    name: "a lane that is served does not wait anew",
    file: "priority_lanes.ts",
    find: "    from.since = this.#time;\n",
    replace: "",
    under: { ...TOGETHER, priorityAgingMs: 1 },
  },
  {
    name: "the queue that came last goes first",
    file: "priority_lanes.ts",
    find: "    const item = from.first();\n",
    replace: "    const item = [...from.values()].at(-1);\n",
    also: {
      find: "    return this.#lanes[lane]?.first();\n",
      replace: "    return [...this.#lanes[lane]?.values() ?? []].at(-1);\n",
    },
    under: TOGETHER,
  },
  {
    name: "a paused service starts",
    file: "engine/flow/admission.ts",
    find: "if (services.size > 0 && services.get(service)?.paused) return",
    replace: "if (service === undefined) return",
  },
  {
    name: "a paused deployment starts",
    file: "engine/flow/admission.ts",
    find: "if (deployment !== undefined && pausedDeployments.has(deployment)) {",
    replace: "if (deployment === undefined && pausedDeployments.has(service)) {",
  },
  {
    name: "a paused queue starts",
    file: "engine/flow/admission.ts",
    find: "return queueId !== undefined && pausedQueues.has(queueId)",
    replace: "return queueId !== undefined && pausedQueues.has(service)",
  },
  {
    name: "what holds its slots heeds no pause",
    file: "engine/flow/admit.ts",
    find: 'return counter === undefined ? undefined : { counter, by: "paused" };',
    replace: "return undefined && { counter };",
  },
  {
    name: "a pause of a deployment is not lifted",
    file: "engine/flow/admission.ts",
    find: "if (deployment !== undefined && pausedDeployments.has(deployment)) {",
    replace: 'if (pausedDeployments.has(deployment ?? "") || deployment === "dp_1") {',
  },
];

/** Broken shares of limits over several partitions. */
export const SABOTAGES_SHARES: readonly Sabotage[] = [
  {
    name: "a bank gives slots that it has given",
    file: "engine/flow/bank.ts",
    find: "concurrency - sumOf(before);",
    replace: "concurrency;",
  },
  {
    name: "a bank forgets to whom it has given slots",
    file: "engine/flow/bank.ts",
    find: "given(bank, from, slots), before);",
    replace: "given(bank, from, Math.min(slots, 1)), before);",
  },
  {
    name: "slots that are given back are kept, too",
    file: "engine/flow/share.ts",
    find: "slots: share.slots - slots, starts: share.starts - starts",
    replace: "slots: share.slots, starts: share.starts - starts",
  },
  {
    name: "slots that come back are forgotten",
    file: "engine/flow/bank.ts",
    find: '  turn.put("bank", given(bank, from, -slots));\n',
    replace: "",
  },
  {
    name: "a partition runs more than its share",
    file: "engine/flow/admit.ts",
    find: "? Math.min(limit, shareAt(turn, counter).slots)",
    replace: "? limit",
  },
  {
    name: "nobody recalls slots for partitions that wait",
    file: "engine/flow/bank.ts",
    find: "for (const to of new Set([...recalled, ...asked])) {",
    replace: "for (const to of new Set(asked)) {",
  },
  {
    name: "a start takes none of those that a partition has",
    file: "engine/flow/admit.ts",
    find: "starts: Math.max(0, share.starts - 1)",
    replace: "starts: share.starts",
  },
  {
    name: "a partition starts more than it was given",
    file: "engine/flow/admit.ts",
    find: "? shareAt(turn, counter).starts > others",
    replace: "? shareAt(turn, counter).starts >= others",
  },
  {
    name: "a partition counts one start more than it was given",
    file: "engine/flow/share.ts",
    find: "starts: share.starts + starts });",
    replace: "starts: share.starts + starts + 1 });",
  },
  {
    name: "a bank gives starts and takes none from its bucket",
    file: "engine/flow/bank.ts",
    find: "  if (rate && spent > 0) addTokens(turn, { counter, rate }, -spent);\n",
    replace: "",
  },
  {
    name: "starts that come back are forgotten",
    file: "engine/flow/bank.ts",
    find: "  if (rate && starts > 0) addTokens(turn, { counter, rate }, starts);\n",
    replace: "",
  },
  {
    name: "the bucket of a bank fills twice as fast",
    file: "engine/flow/bucket.ts",
    find: "elapsed * rate.count",
    replace: "2 * elapsed * rate.count",
    under: ORDERED,
  },
  {
    name: "nobody looks for the next token of a bank",
    file: "partition/flow/shares.ts",
    find: "    if (!rate || !state.bank?.waiting.some(({ starts }) => starts > 0)) return;\n",
    replace: "    if (rate || !state.bank) return;\n",
  },
  {
    name: "a damaged bank is not corrected",
    file: "engine/flow/share.ts",
    find: "  correctBank(turn, share);\n",
    replace: "",
    under: DAMAGED,
  },
  {
    name: "a correction of a bank is not written",
    file: "engine/flow/bank.ts",
    find: '  turn.put("bank", given(bank, partition, slots - known));\n',
    replace: "",
    under: DAMAGED,
  },
  {
    name: "a bank is corrected the wrong way",
    file: "engine/flow/bank.ts",
    find: "given(bank, partition, slots - known)",
    replace: "given(bank, partition, known - slots)",
    under: DAMAGED,
  },
  {
    name: "a bank that is right is corrected",
    file: "engine/flow/bank.ts",
    find: "  if (known === slots) return;\n",
    replace: "",
    also: {
      find: "given(bank, partition, slots - known)",
      replace: "given(bank, partition, slots)",
    },
  },
];
