import type { Operation } from "../engine/event.ts";
import { Failure, Untaken } from "../errors.ts";
import { printUnready, type Unready } from "../model/readiness.ts";
import type { Signal } from "../model/command.ts";
import type { StateEdit } from "../model/state_edit.ts";
import type {
  Accepted,
  Attached,
  Completed,
  InvocationRequest,
  OnLeave,
  Operated,
  OutboxBatch,
  PartitionClient,
  Stopwatch,
} from "../ports.ts";

export interface ForwarderOptions {
  /** The way to the partition as it is known now. Undefined: nobody has it. Throws to give up. */
  readonly resolve: () => PartitionClient | undefined;
  /** That way did not lead to the partition: looks for another one. */
  readonly misrouted: () => void;
  /** Resolves when another way may be known, or after a moment. */
  readonly change: () => Promise<void>;
  /** Why no way may be known. Absent, or undefined: there is no reason on this side. */
  readonly unreadyReason?: () => Unready | undefined;
  readonly stopwatch: Stopwatch;
  /** How long the partition is looked for. */
  readonly timeoutMs: number;
}

/** What may be done when it is not known what became of a request. */
type OnAmbiguous = "repeat" | "report";

/**
 * A partition, wherever it is at the moment, and if it moves meanwhile. What was certainly not taken
 * is asked of whoever has the partition then; what may have been taken is only if that does no harm.
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
      // What was never taken is found nowhere, and has been looked for as long as may be.
      if (cause instanceof Untaken) throw cause;
      // Of an id that was not drawn for this request, it might be somebody else's.
      if (!request.fresh || !isAmbiguous(cause) || presence.isOver) throw cause;
      // Whoever has the partition now may know it. If not, it was never taken, or is forgotten.
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

  /** One that comes twice is one more of the same, and whoever waits takes the first. */
  signal(signal: Signal): Promise<void> {
    return this.#ask("repeat", (client) => client.signal(signal));
  }

  editState(
    object: { readonly service: string; readonly key: string },
    edit: StateEdit,
  ): Promise<void> {
    return this.#ask("report", (client) => client.editState(object, edit));
  }

  operate(id: string, operation: Operation): Promise<Operated> {
    return this.#ask("report", (client) => client.operate(id, operation));
  }

  /** Numbered: what comes twice is dropped. */
  deliver(batch: OutboxBatch): Promise<number> {
    return this.#ask("repeat", (client) => client.deliver(batch));
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
      // A request that was taken first waited for its answer, which is no search for the partition.
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

/** With a key of its own, what was taken is known when it comes again. */
function onAmbiguousOf({ idempotencyKey }: InvocationRequest): OnAmbiguous {
  return idempotencyKey === undefined ? "report" : "repeat";
}

/** Whether nobody knows if the request was taken. */
function isAmbiguous(cause: unknown): boolean {
  return cause instanceof Failure && cause.status === 503;
}

/** A caller that may go away, seen by one attempt after the other. */
class CallerPresence {
  isOver = false;
  #leave: (() => void) | undefined;

  constructor(onLeave: OnLeave | undefined) {
    onLeave?.(() => {
      this.isOver = true;
      this.#leave?.();
    });
  }

  /** For the attempt that is made now. */
  readonly next: OnLeave = (leave) => {
    this.#leave = leave;
    if (this.isOver) leave();
  };
}
