import { CANCEL_SIGNAL } from "../../src/model/journal.ts";
import type { Message, Signaled } from "../../src/model/message.ts";
import type { History } from "./history.ts";
import { must } from "./must.ts";
import { textOf } from "./spoken.ts";
import { cancelsOf, type InvocationRecord, isSame } from "./invocation_record.ts";

/** That what another partition has sent is there in the commit that takes it, and in its order. */
export class Arrivals {
  readonly #history: History;
  /** Where the last signal of another partition stands in a journal. */
  readonly #last = new Map<InvocationRecord, Map<number, number>>();

  constructor(history: History) {
    this.#history = history;
  }

  /** Looked at when all writes of the commit are known. `from`: the partition that sent it. */
  check(message: Message, from: number): void {
    switch (message.type) {
      case "invoked":
        return this.#invoked(message.id);
      case "killed":
        return this.#killed(message.id);
      case "answered":
        return this.#answered(message);
      case "signaled":
        return this.#signaled(message, from);
      case "asked":
        // Whoever waits for an answer is looked at in `invariants.ts`.
    }
  }

  #invoked(id: string): void {
    const { records, deliveries } = this.#history;
    const isPutToEnd = deliveries.arrived.some(({ message: one }) =>
      one.type === "killed" ? one.id === id : isSignalTo(one, id) && isCancel(one)
    );
    must(records.has(id) || isPutToEnd, () => `"${id}" was asked for and is not there`);
  }

  #killed(id: string): void {
    const record = this.#history.records.get(id);
    if (!record || record.result) return;
    // Somebody else, who asked in the same commit, and after that, for what anybody may ask for.
    const isAnew = record.since === this.#now &&
      (record.row.idempotencyKey !== undefined || record.row.target.access === "run");
    must(isAnew, () => `"${id}" outlives whoever called it`);
  }

  #answered({ caller, result }: Message & { type: "answered" }): void {
    const record = this.#history.records.get(caller.id);
    if (!record || record.result || record.row.createdAt !== caller.since) return;
    const isHere = record.entries.some((one) =>
      one.kind === "notification" && one.id.kind === "completion" &&
      one.id.id === caller.completion && isSame(one.result, result)
    );
    must(isHere, () => `"${caller.id}" did not hear its answer`);
  }

  #signaled(message: Signaled, from: number): void {
    const { target } = message.signal, record = this.#history.records.get(target);
    if (!record || record.result || record.since === this.#now) return;
    if (isCancel(message)) {
      return must(cancelsOf(record) > 0, () => `A cancel of "${target}" was lost on the way`);
    }
    const text = textOfSignal(message);
    const at = record.entries.findIndex((one) =>
      one.kind === "notification" && one.id.kind !== "completion" &&
      isSame(one.result, message.signal.result)
    );
    must(at >= 0, () => `The signal "${text}" to "${target}" was lost on the way`);
    const places = this.#last.get(record) ?? new Map<number, number>();
    must(at > (places.get(from) ?? -1), () => `The signal "${text}" overtook another one`);
    this.#last.set(record, places.set(from, at));
  }

  get #now(): number {
    return this.#history.commits;
  }
}

/** Whether this asks an invocation to cancel itself. */
export function isCancel({ signal: { id } }: Signaled): boolean {
  return id.kind === "signal" && id.index === CANCEL_SIGNAL;
}

/** What a signal says; all of them say something else. */
export function textOfSignal({ signal: { result } }: Signaled): string {
  if (result.kind === "value") return textOf(result.value);
  return result.kind === "failure" ? result.failure.message : "";
}

/** Whether this is a signal for that invocation. */
export function isSignalTo(message: Message, id: string): message is Signaled {
  return message.type === "signaled" && message.signal.target === id;
}
