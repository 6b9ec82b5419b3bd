import type { Sabotage } from "./sabotage.ts";

/** Ways to let attempts overlap, or to never end them. */
export const SABOTAGES_OUTBOUND: readonly Sabotage[] = [
  {
    name: "an outcome is sent before the stream is closed",
    file: "outbound/attempt.ts",
    find: 'if (outcome.kind === "ended") this.#sendOutcome();',
    replace: "this.#sendOutcome();",
  },
  {
    name: "the endpoint has no time to end its response",
    file: "outbound/attempt.ts",
    find: "return this.inactivity.activeAt + this.#host.options.drainMs;",
    replace: "return this.inactivity.activeAt;",
  },
  {
    name: "a stream that does not end in time is not reset",
    file: "outbound/attempt.ts",
    find: "#reset(): void {\n    this.#exchange?.abort();",
    replace: "#reset(): void {",
  },
  {
    name: "the stream of an invocation that was killed is not reset",
    file: "outbound/attempt.ts",
    find: "this.#close();\n    this.#exchange?.abort();",
    replace: "this.#close();",
  },
  {
    name: "an outcome is sent when the stream drains, and never if it does not",
    file: "outbound/attempt.ts",
    find: 'if (this.#phase === "draining") return this.#reset();',
    replace: 'if (this.#phase === "draining") return this.abort();',
  },
  {
    name: "streams are not reset when the server lets a partition go",
    file: "outbound/attempts.ts",
    find:
      "for (const attempt of [...this.#running.values(), ...this.#draining.values()]) attempt.abort();",
    replace: "this.#running.clear();",
  },
  {
    name: "the request of an attempt is not held back until its start is durable",
    file: "outbound/attempts.ts",
    find: "effect, { isHeld: isEarly });",
    replace: "effect, { isHeld: false });",
  },
  {
    name: "a request that was held back does not go on",
    file: "outbound/attempts.ts",
    find: "if (running?.attempt === attempt) running.proceed();",
    replace: "",
  },
  {
    name: "an attempt that was opened early is forgotten by its start",
    file: "outbound/attempts.ts",
    find: "if (isEarly) this.#early.set(invocation.id, effect.attempt);",
    replace: "",
  },
  {
    name: "an attempt is opened early without a slot",
    file: "outbound/attempts.ts",
    find: "if (this.#taken < this.#options.concurrencyMax) this.#run(",
    replace: "this.#run(",
  },
  {
    name: "who was prepared begins before one that it excludes is aborted",
    file: "partition/open_early.ts",
    find: 'if (!attempts.proceed || effects.some(({ type }) => type === "abort")) return;',
    replace: "if (!attempts.proceed) return;",
  },
  {
    name: "an attempt needs no slot",
    file: "outbound/attempts.ts",
    find: "if (since === undefined && this.#taken >= this.#options.concurrencyMax) {",
    replace: "if (since === undefined && this.#taken >= 2 * this.#options.concurrencyMax) {",
  },
  {
    name: "a slot that is reserved is not taken",
    file: "outbound/attempts.ts",
    find: "return this.#running.size + this.#reserved.size;",
    replace: "return this.#running.size;",
  },
  {
    name: "a slot whose attempt has moved on stays reserved",
    file: "outbound/attempts.ts",
    find: "if (this.#reserved.delete(id)) this.#offer();",
    replace: "void [id];",
  },
  {
    name: "a slot that is free is offered to nobody",
    file: "outbound/attempts.ts",
    find: "    this.#contention.ended();\n    this.#offer();\n",
    replace: "    this.#contention.ended();\n",
  },
  {
    name: "an attempt that starts keeps its reservation, too",
    file: "outbound/attempts.ts",
    find: "    this.#reserved.delete(id);\n",
    replace: "",
    also: {
      find: "if (this.#reserved.delete(id)) this.#offer();",
      replace: "if (!this.#running.get(id) && this.#reserved.delete(id)) this.#offer();",
    },
  },
  {
    name: "slots are given without regard to priority",
    file: "outbound/place.ts",
    find: "lane: laneOf(priority ?? PRIORITY_DEFAULT, false),",
    replace: "lane: laneOf(priority === undefined ? 0 : PRIORITY_DEFAULT, false),",
  },
  {
    name: "the lower priority gets a slot first",
    file: "outbound/place.ts",
    find: "lane: laneOf(priority ?? PRIORITY_DEFAULT, false),",
    replace: "lane: laneOf(9 - (priority ?? PRIORITY_DEFAULT), false),",
  },
  {
    name: "who waits for a slot does not age",
    file: "outbound/attempts.ts",
    find: "agingMs: this.#options.priorityAgingMs",
    replace: "agingMs: 1e9",
  },
  {
    name: "a priority that had a slot is as old as before",
    file: "priority_lanes.ts",
    find: "    from.since = this.#time;\n",
    replace: "",
  },
  {
    name: "the last one of a queue gets a slot first",
    file: "outbound/fair_queue.ts",
    find: "const next = queue.attempts[queue.head++];",
    replace: "const next = queue.attempts.pop();",
  },
  {
    name: "a queue has its turn at slots until it is empty",
    file: "priority_lanes.ts",
    find: "const item = from.first();\n    assert(item",
    replace: "const item = [...from.values()].at(-1);\n    assert(item",
  },
];
