import type { Operation } from "../engine/event.ts";
import { Failure, Untaken } from "../errors.ts";
import { printUnready, type Unready } from "../model/readiness.ts";
import type { Signal } from "../model/command.ts";
import type { StateEdit } from "../model/state_edit.ts";
import type {
  Accepted,
  Attached,
  Completed,
  Door,
  InvocationRequest,
  OnLeave,
  Operated,
  Parcel,
  Stopwatch,
} from "../ports.ts";

export interface ForwarderOptions {
  /** The way to the partition as it is known now. Undefined: nobody has it. Throws to give up. */
  readonly way: () => Door | undefined;
  /** That way did not lead to the partition: looks for another one. */
  readonly astray: () => void;
  /** Resolves when another way may be known, or after a moment. */
  readonly news: () => Promise<void>;
  /** Why no way may be known. Absent, or undefined: there is no reason on this side. */
  readonly trouble?: () => Unready | undefined;
  readonly stopwatch: Stopwatch;
  /** How long the partition is looked for. */
  readonly timeoutMs: number;
}

/** What may be done when it is not known what became of a request. */
type Doubt = "repeat" | "tell";

/**
 * A partition, wherever it is at the moment, and if it moves meanwhile. What was certainly not taken
 * is asked of whoever has the partition then; what may have been taken is only if that does no harm.
 */
export class Forwarder implements Door {
  readonly #options: ForwarderOptions;

  constructor(options: ForwarderOptions) {
    this.#options = options;
  }

  send(request: InvocationRequest): Promise<Accepted> {
    return this.#ask(doubtOf(request), (door) => door.send(request));
  }

  async call(request: InvocationRequest, onLeave?: OnLeave): Promise<Completed> {
    const leaving = new Leaving(onLeave);
    const doubt = doubtOf(request);
    try {
      return await this.#ask(doubt, (door) => door.call(request, leaving.next), leaving);
    } catch (cause) {
      // What was never taken is found nowhere, and has been looked for as long as may be.
      if (cause instanceof Untaken) throw cause;
      // Of an id that was not drawn for this request, it might be somebody else's.
      if (!request.fresh || !isDoubtful(cause) || leaving.isOver) throw cause;
      // Whoever has the partition now may know it. If not, it was never taken, or is forgotten.
      const attached = await this.attach(request.id, leaving.next).catch(() => undefined);
      if (!attached) throw cause;
      const { result, expiresAt } = attached;
      return expiresAt === undefined ? { result } : { result, expiresAt };
    }
  }

  attach(id: string, onLeave?: OnLeave): Promise<Attached | undefined> {
    const leaving = new Leaving(onLeave);
    return this.#ask("repeat", (door) => door.attach(id, leaving.next), leaving);
  }

  output(id: string): Promise<Attached | "unknown" | "notReady"> {
    return this.#ask("repeat", (door) => door.output(id));
  }

  /** One that comes twice is one more of the same, and whoever waits takes the first. */
  signal(signal: Signal): Promise<void> {
    return this.#ask("repeat", (door) => door.signal(signal));
  }

  editState(
    object: { readonly service: string; readonly key: string },
    edit: StateEdit,
  ): Promise<void> {
    return this.#ask("tell", (door) => door.editState(object, edit));
  }

  operate(id: string, operation: Operation): Promise<Operated> {
    return this.#ask("tell", (door) => door.operate(id, operation));
  }

  /** Numbered: what comes twice is dropped. */
  deliver(parcel: Parcel): Promise<number> {
    return this.#ask("repeat", (door) => door.deliver(parcel));
  }

  async #ask<T>(
    doubt: Doubt,
    ask: (door: Door) => Promise<T>,
    leaving?: Leaving,
  ): Promise<T> {
    const { way, astray, news, trouble, stopwatch, timeoutMs } = this.#options;
    let lostAt: number | undefined;
    for (;;) {
      const began = stopwatch.now();
      const door = way();
      const asked = door ? await attempt(door, ask) : { failure: nobody(trouble?.()) };
      if ("value" in asked) return asked.value;
      const { failure } = asked;
      const mayRepeat = failure instanceof Untaken || doubt === "repeat" && isDoubtful(failure);
      if (!mayRepeat || leaving?.isOver) throw failure;
      const now = stopwatch.now();
      // A request that was taken first waited for its answer, which is no search for the partition.
      const searchMs = failure instanceof Untaken ? now - began : 0;
      lostAt ??= now - searchMs;
      // The next attempt may take as long as this one, and must end in time as well.
      if (now + searchMs - lostAt >= timeoutMs) throw failure;
      if (door) astray();
      await news();
      if (leaving?.isOver) throw Failure.plain(499, "the caller went away");
    }
  }
}

function nobody(trouble: Unready | undefined): Untaken {
  const why = trouble ? `: ${printUnready(trouble)}` : "";
  return new Untaken(`no process has the partition right now${why}`);
}

async function attempt<T>(
  door: Door,
  ask: (door: Door) => Promise<T>,
): Promise<{ readonly value: T } | { readonly failure: unknown }> {
  try {
    return { value: await ask(door) };
  } catch (failure) {
    return { failure };
  }
}

/** With a key of its own, what was taken is known when it comes again. */
function doubtOf({ idempotencyKey }: InvocationRequest): Doubt {
  return idempotencyKey === undefined ? "tell" : "repeat";
}

/** Whether nobody knows if the request was taken. */
function isDoubtful(cause: unknown): boolean {
  return cause instanceof Failure && cause.status === 503;
}

/** A caller that may go away, seen by one attempt after the other. */
class Leaving {
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
