import type { Message } from "../../src/model/message.ts";
import type { Rows } from "../../src/model/rows.ts";
import { type Entry, entryType, type NotificationResult } from "../../src/model/journal.ts";
import { objectOf } from "../../src/model/target.ts";
import { Arrivals, isCancel, isSignalTo, textOfSignal } from "./arrivals.ts";
import type { History } from "./history.ts";
import { must } from "./must.ts";
import { plain } from "./sdk_words.ts";
import { type Spoken, spokenOf, textOf } from "./spoken.ts";
import { type InvocationRecord, isPutToEnd, isSame } from "./invocation_record.ts";

type Notification = Entry & { kind: "notification" };

/** A durable promise as the history knows it. */
interface Kept {
  result: Rows["promise"]["result"];
  /** The commit that kept it. */
  since: number;
  isForgotten: boolean;
  /** How many were told that they kept it. */
  keepers: number;
}

const SIGNALS: readonly number[] = [entryType.sendSignal, entryType.completeAwakeable];
const ANSWERS: readonly number[] = [
  entryType.callCompletion,
  entryType.attachCompletion,
  entryType.getOutputCompletion,
];

/**
 * What invocations say to each other: that each message arrives in the commit that sent it, or in
 * the one that takes it from another partition; once, and that it is true. Looked at when all writes
 * of a commit are known.
 */
export class Messages {
  readonly #history: History;
  readonly #arrivals: Arrivals;
  readonly #promises = new Map<string, Kept>();
  /** Numbers of the operators' signals that came last, by operator and target. */
  readonly #orders = new Map<string, number>();
  /** Workflows whose runs were forgotten in this commit. */
  readonly #purged = new Set<string>();
  readonly #checks: (() => void)[] = [];

  constructor(history: History) {
    this.#history = history;
    this.#arrivals = new Arrivals(history);
  }

  /** The last commit is complete. */
  settle(): void {
    for (const check of this.#checks.splice(0)) check();
    this.#purged.clear();
  }

  later(check: () => void): void {
    this.#checks.push(check);
  }

  /** The deliveries of a commit are known. */
  exchanged(): void {
    const { posted, arrived } = this.#history.deliveries;
    for (const message of posted) {
      if (message.type === "answered") this.later(() => this.#answers(message));
    }
    for (const { message, from } of arrived) {
      this.later(() => this.#arrivals.check(message, from));
    }
  }

  forgotten(object: string): void {
    this.#purged.add(object);
    this.later(() => {
      for (const [name, { result, since, isForgotten }] of this.#promises) {
        const isLeft = name.startsWith(`${object}/`) && result && since < this.#now;
        must(!isLeft || isForgotten, () => `The promise "${name}" outlives its workflow`);
      }
    });
  }

  command(record: InvocationRecord, type: number, spoken: Spoken): void {
    const { target, x } = spoken;
    if (target === undefined || !SIGNALS.includes(type)) return;
    if (this.#history.deliveries.isFar(record.row.id, target)) {
      const isIt = (one: Message) =>
        isSignalTo(one, target) && (x === undefined ? isCancel(one) : textOfSignal(one) === x);
      this.later(() => {
        const { posted } = this.#history.deliveries;
        must(posted.some(isIt), () => `A signal of "${record.row.id}" to "${target}" was not sent`);
      });
      return;
    }
    if (typeof x !== "string") return;
    this.later(() => {
      const other = this.#history.records.get(target);
      if (!other || other.result || other.isForgotten || other.since === this.#now) return;
      must(other.signals.has(x), () => `A signal of "${record.row.id}" to "${target}" was lost`);
    });
  }

  notification(record: InvocationRecord, entry: Notification): void {
    const { type, id, result } = entry;
    if (type === entryType.signal) this.#signal(record, result);
    if (id.kind !== "completion") return;
    const spoken = record.spoken.get(id.id);
    if (ANSWERS.includes(type)) this.later(() => this.#answer(record, entry, spoken));
    const { service, key, scope } = record.row.target;
    if (key === undefined || spoken?.key === undefined) return;
    const name = `${objectOf(service, key, scope)}/${spoken.key}`;
    if (type === entryType.getPromiseCompletion || type === entryType.peekPromiseCompletion) {
      this.later(() => this.#saw(name, result));
    } else if (type === entryType.completePromiseCompletion) {
      this.later(() => this.#keeps(name, { result, said: spoken.value }));
    }
  }

  promise({ object, name, result }: Rows["promise"], drop: boolean): void {
    const known = this.#promises.get(`${object}/${name}`);
    if (drop) {
      must(this.#purged.has(object), () => `The promise "${name}" of "${object}" was dropped`);
      if (known) known.isForgotten = true;
      return;
    }
    if (known?.result && !known.isForgotten && !this.#purged.has(object)) {
      must(isSame(known.result, result), () => `The promise "${name}" of "${object}" changed`);
      return;
    }
    const fresh = { result, since: this.#now, isForgotten: false, keepers: 0 };
    this.#promises.set(`${object}/${name}`, fresh);
  }

  /** A call that was killed takes along whom it called and sent to. */
  killed({ entries, row: { id } }: InvocationRecord): void {
    const { deliveries } = this.#history;
    this.later(() => {
      for (const entry of entries) {
        if (entry.kind !== "notification" || entry.result.kind !== "invocationId") continue;
        const childId = entry.result.id;
        const child = this.#history.records.get(childId);
        if (deliveries.isFar(id, childId)) {
          const isNotified = deliveries.posted.some((one) =>
            one.type === "killed" && one.id === childId
          );
          must(isNotified, () => `"${id}" was killed, and "${childId}" was not told`);
          continue;
        }
        if (!child || child.result || child.isForgotten) continue;
        const isNew = child.since === this.#now && child.row.idempotencyKey !== undefined;
        must(isNew, () => `"${child.row.id}" outlives "${id}", which was killed`);
      }
    });
  }

  get #now(): number {
    return this.#history.commits;
  }

  #signal(record: InvocationRecord, result: NotificationResult): void {
    const { id } = record.row;
    if (result.kind !== "value" && result.kind !== "failure") return;
    const text = result.kind === "value" ? textOf(result.value) : result.failure.message;
    must(!record.signals.has(text), () => `The signal "${text}" came twice to "${id}"`);
    record.signals.add(text);
    const [operator = "", number] = text.split(":");
    if (number === undefined) return;
    const name = `${operator} ${id}`, last = this.#orders.get(name) ?? -1;
    must(Number(number) > last, () => `Signal ${number} came to "${id}" after ${last}`);
    this.#orders.set(name, Number(number));
  }

  /** A result that somebody hears of is the result. */
  #answer(
    record: InvocationRecord,
    { id, type, result }: Notification,
    spoken: Spoken | undefined,
  ): void {
    const callee = spoken?.target ?? calleeOf(record, spoken?.invocationId);
    must(callee !== undefined, () => `"${record.row.id}" was answered and never asked`);
    const { deliveries } = this.#history, { row } = record;
    if (deliveries.isFar(row.id, callee)) {
      const hasCome = deliveries.arrived.some(({ message: one }) =>
        one.type === "answered" && one.caller.id === row.id && id.kind === "completion" &&
        one.caller.completion === id.id && isSame(one.result, result)
      );
      return must(hasCome, () => `"${row.id}" was answered by nobody`);
    }
    this.#mustBeTrue(record, { type, result }, callee);
  }

  /** An answer to another partition is true when it is written. */
  #answers({ caller, result }: Message & { type: "answered" }): void {
    const record = this.#history.records.get(caller.id);
    if (!record || record.row.createdAt !== caller.since) return;
    const spoken = record.spoken.get(caller.completion);
    const callee = spoken?.target ?? calleeOf(record, spoken?.invocationId);
    // What it asked in its last turn went with its journal in the same turn.
    if (callee === undefined && record.result && record.row.journal < record.entries.length + 1) {
      return;
    }
    must(callee !== undefined, () => `"${caller.id}" is answered and never asked`);
    this.#mustBeTrue(record, { type: caller.type, result }, callee);
  }

  #mustBeTrue(
    record: InvocationRecord,
    { type, result }: Pick<Notification, "type" | "result">,
    callee: string,
  ): void {
    const other = this.#history.records.get(callee);
    const isOld = other !== undefined && other.since < this.#now && !other.isForgotten;
    const isFinished = other?.result !== undefined && other.until < this.#now;
    if (result.kind === "void") {
      const isRight = type === entryType.getOutputCompletion && !(isOld && isFinished);
      return must(isRight, () => `"${record.row.id}" saw no result of "${callee}"`);
    }
    const isUnknown = result.kind === "failure" && result.failure.code === 404;
    // It may have ended and been past its time in one commit, where the clock jumped in between.
    const isPast = !isOld || (other.result !== undefined && this.#history.isPast(other));
    if (isUnknown && type !== entryType.callCompletion && isPast) return;
    const isAgain = result.kind === "failure" &&
      result.failure.message === "Previously accepted";
    if (isAgain && other?.row.target.access === "run") return;
    const isTrue = result.kind === "value" || result.kind === "failure"
      ? isPutToEnd(result) || this.#history.hadResult(callee, result)
      : false;
    must(isTrue, () => `"${record.row.id}" heard a false result of "${callee}"`);
  }

  #saw(name: string, result: NotificationResult): void {
    const known = this.#promises.get(name);
    if (result.kind === "void") {
      const isKept = known?.result && !known.isForgotten && known.since < this.#now;
      return must(!isKept, () => `The promise "${name}" was kept, and nobody saw it`);
    }
    // What was forgotten and made anew within one commit may have been seen in between.
    if (this.#isPurged(name)) return;
    must(isSame(known?.result, result), () => `Somebody saw another promise "${name}"`);
  }

  #keeps(name: string, { result, said }: {
    result: NotificationResult;
    said: string | undefined;
  }): void {
    const known = this.#promises.get(name);
    if (this.#isPurged(name)) return;
    must(known?.result, () => `The promise "${name}" was not kept`);
    if (result.kind !== "void") return;
    const isSo = JSON.stringify(plain(known.result)) === said;
    must(isSo && ++known.keepers === 1, () => `The promise "${name}" was kept by two`);
  }

  #isPurged(name: string): boolean {
    return this.#purged.has(name.slice(0, name.lastIndexOf("/")));
  }
}

function calleeOf(
  { entries }: InvocationRecord,
  completion: number | undefined,
): string | undefined {
  for (const entry of entries) {
    if (entry.kind !== "notification" || entry.id.kind !== "completion") continue;
    if (entry.id.id === completion && entry.result.kind === "invocationId") return entry.result.id;
  }
  return undefined;
}

/** What a stored command says. */
export function said({ bytes }: Entry & { kind: "command" }): Spoken {
  return spokenOf(bytes);
}
