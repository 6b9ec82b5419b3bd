import { assert } from "../assert.ts";
import type { Reply } from "../engine/effect.ts";
import type { Event, Operation, RecordPart } from "../engine/event.ts";
import type { Changes } from "../model/changes.ts";
import type { Signal } from "../model/command.ts";
import type { Result } from "../model/journal.ts";
import type { OwedLetter } from "../model/kafka.ts";
import { Unreadable } from "../model/unreadable.ts";
import type { PromiseName, PromiseTaken } from "../model/promise.ts";
import type { StateEdit } from "../model/state_edit.ts";
import type { ObjectName } from "../model/target.ts";
import type {
  Accepted,
  Attached,
  Completed,
  InvocationRequest,
  LettersRequest,
  OnLeave,
  Operated,
  OutboxBatch,
  PartitionClient,
  PartTaken,
} from "../ports.ts";
import type { Partition } from "./partition.ts";
import { acceptedOf, type Waiters } from "./waiters.ts";

/** Turns requests into events, and waits for their replies and results. */
export class Requests implements PartitionClient {
  readonly #waiters: Waiters;
  readonly #admit: () => Partition;

  /** `admit` returns the partition of the current life. Throws `Failure` 503 when it takes no requests. */
  constructor(waiters: Waiters, admit: () => Partition) {
    this.#waiters = waiters;
    this.#admit = admit;
  }

  async send(request: InvocationRequest): Promise<Accepted> {
    return acceptedOf(await this.#ask((reply) => ({ type: "invoked", ...request, reply })));
  }

  async deliver(batch: OutboxBatch): Promise<number> {
    const { heard } = await this.#ask((reply) => ({ type: "delivered", ...batch, reply }));
    assert(heard !== undefined, "A partition says what it has heard");
    return heard;
  }

  async letters(
    { written, returned, bytesMax }: LettersRequest,
  ): Promise<readonly OwedLetter[]> {
    const { letters } = this.#admit();
    // One after the other takes one place of the mailbox: a full mailbox that refuses a part of them would
    // refuse the same part each time all are told again.
    for (const { id, attempt } of written) {
      await this.#ask((reply) => ({ type: "letterAsked", id, written: attempt, reply }));
    }
    letters.release(returned.map(({ id }) => id));
    const ids = await letters.claim();
    const found: OwedLetter[] = [];
    let bytes = 0;
    while (ids.length > 0 && bytes < bytesMax) {
      const id = ids.shift() ?? "";
      const { letter } = await this.#ask((reply) => ({ type: "letterAsked", id, reply }));
      if (letter) found.push(letter);
      bytes += letter?.value.length ?? 0;
    }
    letters.release(ids);
    return found;
  }

  /** A damaged row (RT0028) refuses all records of an event: halves are tried, down to the one record. */
  async ingest(part: RecordPart): Promise<PartTaken> {
    try {
      return await this.#ingest(part);
    } catch (cause) {
      const [record, ...others] = part.records;
      // Without the row of the source nothing is known of any record.
      if (!record || !(cause instanceof Unreadable) || cause.table === "source") throw cause;
      if (others.length > 0) return await this.#ingestHalves(part);
      return { next: record.offset, damage: cause.message };
    }
  }

  async #ingestHalves({ records, next, ...part }: RecordPart): Promise<PartTaken> {
    const middle = Math.ceil(records.length / 2);
    const end = records[middle]?.offset ?? next;
    const first = await this.ingest({ ...part, next: end, records: records.slice(0, middle) });
    if (first.next < end) return first;
    const second = await this.ingest({ ...part, next, records: records.slice(middle) });
    const replays = (first.replays ?? 0) + (second.replays ?? 0);
    return { ...second, ...(replays > 0 && { replays }) };
  }

  async #ingest(part: RecordPart): Promise<PartTaken> {
    const records = part.records.map(({ offset, request }) => (
      { offset, request: { ...request, value: ownBytes(request.value) } }
    ));
    const reply = await this.#ask((reply) => ({ type: "ingested", ...part, records, reply }));
    assert(reply.next !== undefined, "A partition says how far it has taken records");
    const { next, isFull, replays, settled, homes } = reply;
    return {
      next,
      ...(isFull && { isFull }),
      ...(replays !== undefined && { replays }),
      ...(settled !== undefined && { settled }),
      ...(homes !== undefined && { homes }),
    };
  }

  /** A fresh id can have no result yet, so its caller needs no reply. */
  async call(request: InvocationRequest, onLeave?: OnLeave): Promise<Completed> {
    if (!request.fresh) return this.#callAgain(request, onLeave);
    this.#admit().send({ type: "invoked", ...request });
    return this.#waiters.result(request.id, onLeave);
  }

  async #callAgain(request: InvocationRequest, onLeave?: OnLeave): Promise<Completed> {
    const partition = this.#admit();
    const { token, outcome } = this.#waiters.waitForBoth(request.id, isResult, onLeave);
    partition.send({ type: "invoked", ...request, reply: token });
    const { reply, completed } = await outcome;
    return completed ?? resultOf(reply);
  }

  async attach(id: string, onLeave?: OnLeave): Promise<Attached | undefined> {
    const partition = this.#admit();
    const { token, outcome } = this.#waiters.waitForBoth(id, isAnswer, onLeave);
    partition.send({ type: "asked", id, wait: true, reply: token });
    const { reply, completed } = await outcome;
    const { target } = reply;
    return target && { target, ...(completed ?? resultOf(reply)) };
  }

  async output(id: string): Promise<Attached | "unknown" | "notReady"> {
    const told = await this.#ask((reply) => ({ type: "asked", id, wait: false, reply }));
    const answer = answerOf(told);
    if (answer && told.target) return { target: told.target, ...answer };
    return told.status === "notReady" ? "notReady" : "unknown";
  }

  async signal(signal: Signal): Promise<void> {
    await this.#ask((reply) => ({ type: "signaled", signal, reply }));
  }

  async editState(object: ObjectName, edit: StateEdit): Promise<void> {
    await this.#ask((reply) => ({ type: "stateEdited", object, edit, reply }));
  }

  async completePromise(promise: PromiseName, result: Result): Promise<PromiseTaken> {
    const { status } = await this.#ask((reply) => (
      { type: "promiseCompleted", promise, result, reply }
    ));
    const isKnown = status === "done" || status === "completed" || status === "unknown";
    assert(isKnown, "A partition says what became of a promise");
    return status;
  }

  operate(id: string, operation: Operation): Promise<Operated> {
    return this.#ask((reply) => ({ type: "operated", id, operation, reply }));
  }

  async changes(cursor: string | undefined, onLeave?: OnLeave): Promise<Changes> {
    return await this.#admit().changes.after(cursor, onLeave);
  }

  /** Sends an event, and waits for the reply to it. Rejects with `Failure` 503. */
  async #ask(event: (reply: number) => Event): Promise<Reply> {
    const partition = this.#admit();
    const { token, reply } = this.#waiters.reply();
    partition.send(event(token));
    return await reply;
  }
}

/**
 * Bytes that are not a small part of a larger array: a row in memory would keep the whole batch there in
 * which its record came.
 */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.length * 2 < bytes.buffer.byteLength ? bytes.slice() : bytes;
}

/** Whether a reply has the result in it. */
function isResult({ result }: Reply): boolean {
  return result !== undefined;
}

/** Whether a reply has the result in it, or says that there is no such invocation. */
function isAnswer({ result, target }: Reply): boolean {
  return result !== undefined || target === undefined;
}

function resultOf(reply: Reply): Completed {
  const answer = answerOf(reply);
  assert(answer, "Whoever is not to wait has the result");
  return answer;
}

function answerOf({ result, expiresAt }: Reply): Completed | undefined {
  if (!result) return undefined;
  return expiresAt === undefined ? { result } : { result, expiresAt };
}
