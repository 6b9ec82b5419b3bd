import type { Outcome } from "../engine/event.ts";
import type { InvocationRow, Pin } from "../model/invocation.ts";
import type { Target } from "../model/target.ts";
import type { Log } from "../ports.ts";
import { FAILED, type Meter, SUCCEEDED } from "./meter.ts";
import type { AttemptSpan, Tracer } from "./tracer.ts";

export interface WatchOptions {
  readonly meter: Meter;
  readonly tracer?: Tracer | undefined;
  /** Limited: see `limitedLog`. */
  readonly log: Log;
}

/** Whose message is of our own making: others may hold what is nobody's business. */
const MESSAGE_OF_SDK: ReadonlySet<string> = new Set(["RT0007", "RT0016"]);

/** What invocations and attempts go through, told as numbers, spans and log records. */
export class Watch {
  readonly meter: Meter;
  readonly #tracer: Tracer | undefined;
  readonly #log: Log;

  constructor({ meter, tracer, log }: WatchOptions) {
    this.meter = meter;
    this.#tracer = tracer;
    this.#log = log;
  }

  /**
   * A turn wrote an invocation. Told before it is durable: if the commit fails, which ends the
   * partition, a completion may be told twice.
   */
  moved(before: InvocationRow | null | undefined, row: InvocationRow): void {
    const { status } = row;
    if (before?.status.kind === status.kind) return;
    if (status.kind === "completed") {
      this.meter.completed.add(row.target, status.failure ? FAILED : SUCCEEDED, 1);
      if (row.trace) this.#tracer?.completed(row);
    } else if (status.kind === "paused") this.#paused(row);
  }

  /** An attempt begins. Undefined: it is no span. */
  began(
    invocation: Pick<InvocationRow, "id" | "target" | "trace">,
    attempt: number,
    pin: Pin,
  ): AttemptSpan | undefined {
    this.meter.started.add(invocation.target, 0, 1);
    return invocation.trace && this.#tracer?.attempt(invocation, attempt, pin);
  }

  /** An attempt has its outcome. `span`: what `began` gave. */
  ended(
    { id, target }: { readonly id: string; readonly target: Target },
    outcome: Outcome,
    span?: AttemptSpan,
  ): void {
    if (outcome.kind !== "failed") return span?.end(outcome.kind);
    const { code, message } = outcome.failure;
    span?.end("failed", code);
    this.meter.attemptFailed(target, code);
    this.#log("warn", "An attempt failed", {
      invocation: id,
      service: target.service,
      handler: target.handler,
      code,
      ...(MESSAGE_OF_SDK.has(code) ? {} : { reason: message }),
    });
  }

  #paused({ id, target, lastFailure }: InvocationRow): void {
    this.#log("warn", "An invocation is paused", {
      invocation: id,
      service: target.service,
      handler: target.handler,
      ...(lastFailure && { code: lastFailure.code }),
    });
  }
}
