import type { Outcome } from "../engine/event.ts";
import type { InvocationRow, Pin } from "../model/invocation.ts";
import type { Target } from "../model/target.ts";
import type { Log } from "../ports.ts";
import { failureFields, subjectFields } from "./failure_record.ts";
import { FAILED, type Meter, SUCCEEDED } from "./meter.ts";
import type { AttemptSpan, Tracer } from "./tracer.ts";

export interface WatchOptions {
  readonly meter: Meter;
  readonly tracer?: Tracer | undefined;
  /** Limited: see `limitedLog`. */
  readonly log: Log;
  /** Whether records hold keys, names of steps and messages of handlers, which may be secret. */
  readonly isDetailed: boolean;
}

/** Reports changes of invocations and attempts as numbers, spans and log records. */
export class Watch {
  readonly meter: Meter;
  readonly #tracer: Tracer | undefined;
  readonly #log: Log;
  readonly #isDetailed: boolean;

  constructor({ meter, tracer, log, isDetailed }: WatchOptions) {
    this.meter = meter;
    this.#tracer = tracer;
    this.#log = log;
    this.#isDetailed = isDetailed;
  }

  /**
   * A turn wrote an invocation. It is reported before it is durable: if the commit fails, which ends the
   * life of the partition, a completion may be reported twice.
   */
  invocationChanged(before: InvocationRow | null | undefined, row: InvocationRow): void {
    const { status, lastFailure } = row;
    // Each failed attempt leaves a failure of its own, even when it repeats the one before.
    if (before && lastFailure && lastFailure !== before.lastFailure) {
      const isDetailed = this.#isDetailed;
      const fields = failureFields({ before, row, failure: lastFailure, isDetailed });
      this.#log("warn", "An attempt failed", fields);
    }
    if (before?.status.kind === status.kind) return;
    const { waitedMs } = row;
    if (waitedMs && waitedMs !== before?.waitedMs) {
      this.meter.invocationWaited(row.target, before?.waitedMs, waitedMs);
    }
    if (status.kind === "completed") {
      this.meter.completed.add(row.target, status.failure ? FAILED : SUCCEEDED, 1);
      this.meter.durations.completed(row);
      if (row.trace) this.#tracer?.completed(row);
    } else if (status.kind === "paused") this.#paused(row);
  }

  /** An attempt begins. Undefined: it has no span. */
  began(
    invocation: Pick<InvocationRow, "id" | "target" | "trace">,
    attempt: number,
    pin: Pin,
  ): AttemptSpan | undefined {
    this.meter.started.add(invocation.target, 0, 1);
    return invocation.trace && this.#tracer?.attempt(invocation, attempt, pin);
  }

  /** An attempt has its outcome. `span`: the result of `began`. */
  ended({ target }: { readonly target: Target }, outcome: Outcome, span?: AttemptSpan): void {
    if (outcome.kind !== "failed") return span?.end(outcome.kind);
    const { code } = outcome.failure;
    span?.end("failed", code);
    this.meter.attemptFailed(target, code);
  }

  #paused(row: InvocationRow): void {
    const { lastFailure } = row;
    this.#log("warn", "An invocation is paused", {
      ...subjectFields(row, this.#isDetailed),
      ...(lastFailure && { code: lastFailure.code }),
      resume: `PATCH /invocations/${row.id}/resume`,
    });
  }
}
