import type { WaitedMs } from "../model/invocation.ts";
import type { Target } from "../model/target.ts";
import { ByHandler } from "./by_handler.ts";
import { Durations } from "./durations.ts";
import { Histogram } from "./histogram.ts";
import { IngestCounts } from "./ingest_counts.ts";
import { RouteCounts } from "./route_counts.ts";

const SECONDS = [
  0.0001,
  0.00025,
  0.0005,
  0.001,
  0.0025,
  0.005,
  0.01,
  0.025,
  0.05,
  0.1,
  0.25,
  0.5,
  1,
  2.5,
  10,
];
const ROWS = [1, 4, 16, 64, 256, 1024, 4096, 16_384];

/** Indices of a handler's numbers in `Meter.completed`. */
export const SUCCEEDED = 0;
export const FAILED = 1;

/** The causes of waiting, by their index in `Meter.waited`. */
export const WAIT_CAUSES = ["lock", "concurrency", "rate", "paused", "invoker"] as const;
const INVOKER = WAIT_CAUSES.indexOf("invoker");

/**
 * Counters since the process began. A turn and a commit add to a few numbers; nothing here allocates per
 * request, and only the page of metrics reads them.
 */
export class Meter {
  /** Milliseconds of a monotonic clock, with fractions. */
  readonly now: () => number;
  readonly turnSeconds: Histogram = new Histogram(SECONDS);
  readonly commitSeconds: Histogram = new Histogram(SECONDS);
  readonly commitRows: Histogram = new Histogram(ROWS);
  readonly delaySeconds: Histogram = new Histogram(SECONDS);
  /** Attempts that began. */
  readonly started: ByHandler = new ByHandler();
  /** Invocations that got a result: `SUCCEEDED` and `FAILED`. */
  readonly completed: ByHandler = new ByHandler(2);
  readonly durations: Durations = new Durations();
  /** Seconds that invocations waited: by index in `WAIT_CAUSES`. */
  readonly waited: ByHandler = new ByHandler(WAIT_CAUSES.length);
  /** HTTP responses, by interface. */
  readonly requests = { ingress: new RouteCounts(), admin: new RouteCounts() } as const;
  /** Failed attempts by code: the codes of this server, which are few. */
  readonly failed = new Map<string, ByHandler>();
  /** Records of Kafka. */
  readonly ingested: IngestCounts = new IngestCounts();
  events = 0;
  reruns = 0;
  /** Lives of the partition that ended by a failure. */
  restarts = 0;
  /** Rows that starts of the partition have found to disagree with others, by table (decision 069). */
  readonly disagreements = { invocation: 0, bank: 0 };

  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  /**
   * A wait of an invocation is over. `before`, `after`: how long it had waited in all. Waits for slots are
   * counted by `slotWaited`.
   */
  invocationWaited(target: Target, before: WaitedMs | undefined, after: WaitedMs): void {
    for (const [at, cause] of WAIT_CAUSES.entries()) {
      if (at === INVOKER) continue;
      const ms = (after[cause] ?? 0) - (before?.[cause] ?? 0);
      if (ms > 0) this.waited.add(target, at, ms / 1000);
    }
  }

  /** An attempt begins that waited for a slot, in milliseconds. */
  slotWaited(target: Target, ms: number): void {
    this.waited.add(target, INVOKER, ms / 1000);
  }

  /** A turn took `ms` milliseconds for this number of events. */
  turn(ms: number, events: number): void {
    this.turnSeconds.add(ms / 1000);
    this.events += events;
  }

  /** A commit of this number of rows became durable after `ms` milliseconds. */
  committed(ms: number, rows: number): void {
    this.commitSeconds.add(ms / 1000);
    this.commitRows.add(rows);
  }

  attemptFailed(
    target: { readonly service: string; readonly handler: string },
    code: string,
  ): void {
    let handlers = this.failed.get(code);
    if (!handlers) this.failed.set(code, handlers = new ByHandler());
    handlers.add(target, 0, 1);
  }
}
