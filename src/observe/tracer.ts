import type { InvocationRow, Pin } from "../model/invocation.ts";
import { printTarget, type Target } from "../model/target.ts";
import { hex, spanOf, type Trace } from "../model/trace.ts";
import type { Random } from "../ports.ts";
import type { Attributes, Span } from "./otlp.ts";

export interface TracerOptions {
  readonly add: (span: Span) => void;
  readonly random: Random;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The percentage of requests without a trace of their own that begin a sampled one. */
  readonly samplePercent: number;
}

/** The open span of a request to ingress. */
export interface RequestSpan {
  /** The trace of the invocation that the request starts. */
  readonly trace: Trace;
  /** Ends the span with the answer. `invocation`: the one that the request started. */
  follow(
    answer: Promise<unknown>,
    invocation: { readonly id: string; readonly target: Target },
  ): void;
}

/** The open span of an attempt. */
export interface AttemptSpan {
  /** The trace that is sent to the endpoint: this span is the parent of its spans. */
  readonly trace: Trace;
  /** Ends the span, once. `code`: of the failure, if it failed. `outcome`: its outcome as a word. */
  end(outcome: string, code?: string): void;
}

const ID_BYTES = 16;
const SPAN_BYTES = 8;

/**
 * Makes spans of requests, invocations and attempts, if they are sampled: the caller decides, else
 * chance. Spans have names, ids and codes, never headers, bodies or messages.
 */
export class Tracer {
  readonly #options: TracerOptions;

  constructor(options: TracerOptions) {
    this.#options = options;
  }

  /** Begins the span of a request with its trace, if any. An unsampled request has a trace, too. */
  request(caller: Trace | undefined): RequestSpan {
    const { random, now } = this.#options;
    const sampled = caller?.sampled ?? this.#isChosen();
    const parent = hex(random(SPAN_BYTES));
    const id = caller?.id ?? hex(random(ID_BYTES));
    if (!sampled) return { trace: caller ?? { id, parent, sampled }, follow: () => {} };
    const trace: Trace = {
      id,
      parent,
      sampled,
      ...(caller?.state !== undefined && { state: caller.state }),
      spans: true,
    };
    const startMs = now();
    return {
      trace,
      follow: (answer, invocation) => {
        const end = (isError: boolean) =>
          this.#add(trace, invocation, {
            id: parent,
            parent: caller?.parent,
            kind: "server",
            name: "ingress",
            startMs,
            isError,
          });
        answer.then((value) => end(isFailure(value)), () => end(true));
      },
    };
  }

  /** Begins the span of an attempt. Undefined: its invocation is not sampled. */
  attempt(
    invocation: Pick<InvocationRow, "id" | "target" | "trace">,
    attempt: number,
    { deployment }: Pin,
  ): AttemptSpan | undefined {
    const { trace } = invocation;
    if (!trace?.spans) return undefined;
    const { random, now } = this.#options;
    const id = hex(random(SPAN_BYTES));
    const startMs = now();
    let isOver = false;
    return {
      trace: { ...trace, parent: id },
      end: (outcome, code) => {
        if (isOver) return;
        isOver = true;
        this.#add(trace, invocation, {
          id,
          parent: spanOf(invocation.id),
          kind: "client",
          name: "attempt",
          startMs,
          isError: code !== undefined,
          attributes: { outcome, "error.type": code, attempt, deployment },
        });
      },
    };
  }

  /** Makes the span of an invocation that got its result. */
  completed(row: InvocationRow): void {
    const { trace, status } = row;
    if (!trace?.spans || status.kind !== "completed") return;
    this.#add(trace, row, {
      id: spanOf(row.id),
      parent: trace.parent,
      kind: "internal",
      name: "invoke",
      startMs: row.createdAt,
      isError: status.failure !== undefined,
      attributes: { "error.type": status.failure && String(status.failure.code) },
    });
  }

  #add(
    { id: trace, state }: Trace,
    { id, target }: { readonly id: string; readonly target: Target },
    { name, attributes, ...span }: Pick<Span, "id" | "parent" | "kind" | "startMs" | "isError"> & {
      readonly name: string;
      readonly attributes?: Attributes;
    },
  ): void {
    const { service, handler } = target;
    this.#options.add({
      ...span,
      trace,
      state,
      name: `${name} ${service}/${handler}`,
      endMs: this.#options.now(),
      attributes: {
        "invocation.id": id,
        "invocation.target": printTarget(target),
        "rpc.service": service,
        "rpc.method": handler,
        ...attributes,
      },
    });
  }

  #isChosen(): boolean {
    const [high = 0, low = 0] = this.#options.random(2);
    return (high * 256 + low) / 65_536 * 100 < this.#options.samplePercent;
  }
}

/** Whether this is the result of an invocation that failed. */
function isFailure(value: unknown): boolean {
  const { result } = value as { readonly result?: { readonly kind?: string } };
  return result?.kind === "failure";
}
