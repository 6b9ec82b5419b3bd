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
];
