import type { Operation, RecordPart } from "../engine/event.ts";
import type { Changes } from "../model/changes.ts";
import { Failure, Untaken } from "../errors.ts";
import { printUnready, type Unready } from "../model/readiness.ts";
import type { Signal } from "../model/command.ts";
import type { Result } from "../model/journal.ts";
import type { OwedLetter } from "../model/kafka.ts";
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
  Stopwatch,
} from "../ports.ts";

export interface ForwarderOptions {
  /** The client of the partition as it is known now. Undefined: no member has it. Throws to give up. */
  readonly resolve: () => PartitionClient | undefined;
  /** That client did not reach the partition: its owner is looked up again. */
  readonly misrouted: () => void;
  /** Resolves when another client may be known, or after a short delay. */
  readonly change: () => Promise<void>;
  /** A reason in this process for which no client is known. Absent, or undefined: none. */
  readonly unreadyReason?: () => Unready | undefined;
  readonly stopwatch: Stopwatch;
  /** How long the owner of the partition is searched, in milliseconds. */
  readonly timeoutMs: number;
}

/** How an ambiguous failure is handled: by a retry, or by reporting it to the caller. */
type OnAmbiguous = "repeat" | "report";

/**
 * The client of a partition that may move between processes. Requests that certainly failed are retried
 * at its next owner; ambiguous ones only if they are idempotent.
 */
export class Forwarder implements PartitionClient {
  readonly #options: ForwarderOptions;

  constructor(options: ForwarderOptions) {
    this.#options = options;
  }

  send(request: InvocationRequest): Promise<Accepted> {
    return this.#ask(onAmbiguousOf(request), (client) => client.send(request));
  }

  async call(request: InvocationRequest, onLeave?: OnLeave): Promise<Completed> {
    const presence = new CallerPresence(onLeave);
    const onAmbiguous = onAmbiguousOf(request);
    try {
      return await this.#ask(
        onAmbiguous,
        (client) => client.call(request, presence.next),
        presence,
      );
    } catch (cause) {
      // The request certainly failed, and the time for retries is over.
      if (cause instanceof Untaken) throw cause;
      // An id that was not drawn for this request may belong to another caller's invocation.
      if (!request.fresh || !isAmbiguous(cause) || presence.isOver) throw cause;
      // The request may have been applied: then the owner knows the invocation, unless it has expired.
      const attached = await this.attach(request.id, presence.next).catch(() => undefined);
      if (!attached) throw cause;
      const { result, expiresAt } = attached;
      return expiresAt === undefined ? { result } : { result, expiresAt };
    }
  }

  attach(id: string, onLeave?: OnLeave): Promise<Attached | undefined> {
    const presence = new CallerPresence(onLeave);
    return this.#ask("repeat", (client) => client.attach(id, presence.next), presence);
  }

  output(id: string): Promise<Attached | "unknown" | "notReady"> {
    return this.#ask("repeat", (client) => client.output(id));
  }

  /** Idempotent: the receiver uses the first of two equal signals. */
  signal(signal: Signal): Promise<void> {
    return this.#ask("repeat", (client) => client.signal(signal));
  }

  editState(object: ObjectName, edit: StateEdit): Promise<void> {
    return this.#ask("report", (client) => client.editState(object, edit));
  }

  completePromise(promise: PromiseName, result: Result): Promise<PromiseTaken> {
    return this.#ask("report", (client) => client.completePromise(promise, result));
  }

  operate(id: string, operation: Operation): Promise<Operated> {
    return this.#ask("report", (client) => client.operate(id, operation));
  }

  /** Idempotent: the receiver drops duplicates by their sequence numbers. */
  deliver(batch: OutboxBatch): Promise<number> {
    return this.#ask("repeat", (client) => client.deliver(batch));
  }

  /** Idempotent: the receiver drops records by their offsets. */
  ingest(part: RecordPart): Promise<PartTaken> {
    return this.#ask("repeat", (client) => client.ingest(part));
  }

  /** Idempotent: a letter that is noted twice is noted once, and what is lost is handed out again. */
  letters(request: LettersRequest): Promise<readonly OwedLetter[]> {
    return this.#ask("repeat", (client) => client.letters(request));
  }

  changes(cursor: string | undefined, onLeave?: OnLeave): Promise<Changes> {
    const presence = new CallerPresence(onLeave);
    return this.#ask("repeat", (client) => client.changes(cursor, presence.next), presence);
  }

  async #ask<T>(
    onAmbiguous: OnAmbiguous,
    ask: (client: PartitionClient) => Promise<T>,
    presence?: CallerPresence,
  ): Promise<T> {
    const { resolve, misrouted, change, unreadyReason, stopwatch, timeoutMs } = this.#options;
    let searchingSince: number | undefined;
    for (;;) {
      const began = stopwatch.now();
      const client = resolve();
      const asked = client ? await attempt(client, ask) : { failure: noOwner(unreadyReason?.()) };
      if ("value" in asked) return asked.value;
      const { failure } = asked;
      const mayRepeat = failure instanceof Untaken ||
        onAmbiguous === "repeat" && isAmbiguous(failure);
      if (!mayRepeat || presence?.isOver) throw failure;
      const now = stopwatch.now();
      // An ambiguous request has waited for its response, which is not time of the search.
      const searchMs = failure instanceof Untaken ? now - began : 0;
      searchingSince ??= now - searchMs;
      // The next attempt may take as long as this one, and must end in time as well.
      if (now + searchMs - searchingSince >= timeoutMs) throw failure;
      if (client) misrouted();
      await change();
      if (presence?.isOver) throw Failure.plain(499, "the caller went away");
    }
  }
}

function noOwner(unreadyReason: Unready | undefined): Untaken {
  const why = unreadyReason ? `: ${printUnready(unreadyReason)}` : "";
  return new Untaken(`no process has the partition right now${why}`);
}

async function attempt<T>(
  client: PartitionClient,
  ask: (client: PartitionClient) => Promise<T>,
): Promise<{ readonly value: T } | { readonly failure: unknown }> {
  try {
    return { value: await ask(client) };
  } catch (failure) {
    return { failure };
  }
}

/** The partition recognizes a duplicate of a request by its idempotency key. */
function onAmbiguousOf({ idempotencyKey }: InvocationRequest): OnAmbiguous {
  return idempotencyKey === undefined ? "report" : "repeat";
}

/** Whether the request may or may not have been applied. */
function isAmbiguous(cause: unknown): boolean {
  return cause instanceof Failure && cause.status === 503;
}

/** Whether the caller still waits, over several attempts of its request. */
class CallerPresence {
  isOver = false;
  #leave: (() => void) | undefined;

  constructor(onLeave: OnLeave | undefined) {
    onLeave?.(() => {
      this.isOver = true;
      this.#leave?.();
    });
  }

  /** For the current attempt: replaces the callback of the one before. */
  readonly next: OnLeave = (leave) => {
    this.#leave = leave;
    if (this.isOver) leave();
  };
}
