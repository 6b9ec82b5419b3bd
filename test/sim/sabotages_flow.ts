import type { Faults, Limits } from "./faults.ts";
import type { Sabotage } from "./sabotage.ts";
import { RESTARTS } from "./circumstances.ts";

/** Clocks by which it is known what a rate allows. */
const PUNCTUAL: Partial<Faults & Limits> = { clockStepMs: 0, clockSkewMs: 0, clockDrift: 0 };
/** Queues that are mostly in the store. */
const NARROW: Partial<Faults & Limits> = { queueWindow: 1, grantsMax: 256, alike: 0.9 };

/** Broken limits, rates, pauses and queues. */
export const SABOTAGES_FLOW: readonly Sabotage[] = [
  {
    name: "a start takes no slot",
    file: "engine/flow/status.ts",
    find: "if (held !== holds) turn",
    replace: "if (held !== holds && !holds) turn",
  },
  {
    name: "a suspension gives no slot back",
    file: "engine/flow/status.ts",
    find: "if (held !== holds) turn",
    replace: 'if (held !== holds && status.kind !== "suspended") turn',
  },
  {
    name: "those that hold slots are forgotten at a boot",
    file: "partition/flow/recover.ts",
    find: "      scheduler.hold(holder);\n",
    replace: "",
    under: RESTARTS,
  },
  {
    name: "those that wait are forgotten at a boot",
    file: "partition/flow/recover.ts",
    find: "      scheduler.restore(one);\n",
    replace: "",
    under: RESTARTS,
  },
  {
    name: "a place is given twice after a boot",
    file: "partition/flow/scheduler.ts",
    find: "    this.nextSeq = Math.max(this.nextSeq, seq + 1);\n",
    replace: "",
    under: RESTARTS,
  },
  {
    name: "queues are not served after a boot",
    file: "partition/partition.ts",
    find: "    this.scheduler.open();\n",
    replace: "",
    under: RESTARTS,
  },
  {
    name: "a reservation stays after its turn",
    file: "partition/flow/scheduler.ts",
    find: "      state.reserved--;\n",
    replace: "",
  },
  {
    name: "a grant reserves nothing",
    file: "partition/flow/scheduler.ts",
    find: "        state.reserved++;\n",
    replace: "",
  },
  {
    name: "a slot that is given back serves nobody",
    file: "partition/flow/scheduler.ts",
    find: "        if (state.isAwaited) freed.add(counter);\n        else if",
    replace: "        if",
  },
  {
    name: "a queue that needs another counter is dropped",
    file: "partition/flow/scheduler.ts",
    find: "      if (full) this.#enter(queue);\n",
    replace: "      if (full) continue;\n",
  },
  {
    name: "a rule that changes is not noticed",
    file: "partition/host.ts",
    find: "    this.#life?.partition.scheduler.controlsChanged();\n",
    replace: "",
  },
  {
    name: "a bucket is not stored",
    file: "engine/flow/admit.ts",
    find: '  turn.put("bucket", row);\n',
    replace: "",
    under: PUNCTUAL,
  },
  {
    name: "a start takes no token",
    file: "engine/flow/admit.ts",
    find: "if (rate) takeToken(turn, counter, rate);",
    replace: "",
    under: PUNCTUAL,
  },
  {
    name: "a bucket fills twice as fast",
    file: "engine/flow/bucket.ts",
    find: "elapsed * rate.count",
    replace: "2 * elapsed * rate.count",
    under: PUNCTUAL,
  },
  {
    name: "a bucket holds more than its burst",
    file: "engine/flow/bucket.ts",
    find: "    burstOf(rate),\n    bucket.tokens",
    replace: "    2 * burstOf(rate),\n    bucket.tokens",
    under: PUNCTUAL,
  },
  {
    name: "full buckets stay",
    file: "engine/flow/granted.ts",
    find: '  turn.drop("bucket", bucket);\n',
    replace: "",
  },
  {
    name: "nobody looks for the next token",
    file: "partition/flow/scheduler.ts",
    find: "      if (full?.rate) this.#expectToken(full.counter, full.rate);\n",
    replace: "",
    also: {
      find: "        this.#expectToken(counter, full.rate);\n",
      replace: "",
    },
  },
  {
    name: "new ones overtake those that wait",
    file: "engine/flow/admit.ts",
    find: "return isGranted || !turn.slots.isAwaited(counter);",
    replace: "return true;",
    under: { ...NARROW, loadMs: 300 },
  },
  {
    name: "the last of a queue goes first",
    file: "partition/flow/wait_queue.ts",
    find: "    if (!entry) return undefined;\n    this.#head++;\n",
    replace: "    if (this.length > 1) return this.#entries.pop();\n    this.#head++;\n",
    under: { alike: 0.9 },
  },
  {
    name: "a window is refilled after a gap",
    file: "partition/flow/wait_queue.ts",
    find: "    this.#recent = [];\n    return this.#last;",
    replace: "    this.#recent = [];\n    return this.#last + 1;",
    under: NARROW,
  },
  {
    name: "a window is never refilled",
    file: "partition/flow/wait_queue.ts",
    find: "    this.#hasMore = page.length >= this.#window;\n",
    replace: "    this.#hasMore = false;\n",
    under: NARROW,
  },
  {
    name: "an unread queue never goes on",
    file: "partition/flow/scheduler.ts",
    find: "      if (queue.isUnread) this.#resume(queue);\n",
    replace: "",
    under: NARROW,
  },
  {
    name: "a grant starts an invocation that has left the place",
    file: "engine/flow/granted.ts",
    find: 'if (row?.status.kind !== "queued" || row.status.seq !== seq) return;',
    replace: 'if (!row || row.status.kind === "completed") return;',
  },
  {
    name: "a void grant is never settled",
    file: "engine/flow/granted.ts",
    find: "  turn.slots.settle({ id, seq }, reserved);\n",
    replace: "",
    also: {
      find: "  const full = whyNot",
      replace: "  turn.slots.settle({ id, seq }, reserved);\n  const full = whyNot",
    },
  },
  {
    name: "limits of scopes are not looked at",
    file: "engine/flow/admission.ts",
    find: "      if (rule) found.push",
    replace: '      if (rule && counter.includes("/")) found.push',
  },
  {
    name: "limits of the first level of a limit key are not looked at",
    file: "engine/flow/admission.ts",
    find: "      if (rule) found.push",
    replace: '      if (rule && counter.split("/").length !== 2) found.push',
  },
  {
    name: "limits of the second level of a limit key are not looked at",
    file: "engine/flow/admission.ts",
    find: "      if (rule) found.push",
    replace: '      if (rule && counter.split("/").length !== 3) found.push',
  },
  {
    name: "a limit allows one more",
    file: "engine/flow/admit.ts",
    find: "if (used >= most) return false;",
    replace: "if (used > most) return false;",
  },
  {
    name: "a pause is not lifted",
    file: "engine/flow/admission.ts",
    find: "if (services.size > 0 && services.get(service)?.paused)",
    replace: "if (services.size > 0 && services.has(service))",
  },
  {
    name: "what waits for a slot begins though it is paused",
    file: "engine/lifecycle/started.ts",
    find: "if (paused) return enqueue(turn, turn.draft({ ...row }), paused);",
    replace: "void paused;",
  },
  {
    name: "a restart forgets the limit key",
    file: "engine/lifecycle/restarted.ts",
    find: "    ...(row.limitKey === undefined ? {} : { limitKey: row.limitKey }),\n",
    replace: "",
  },
  {
    name: "a killed one that waits keeps its lock",
    file: "engine/lifecycle/completed.ts",
    find: 'if (before.kind === "inboxed" || before.kind === "scheduled") return',
    replace:
      'if (before.kind === "inboxed" || before.kind === "scheduled" || before.kind === "queued") return',
  },
];
