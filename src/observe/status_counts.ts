import type { InvocationRow, Status } from "../model/invocation.ts";
import type { Target } from "../model/target.ts";
import type { Clock, InvocationStatus, StatusPage } from "../ports.ts";
import { ByHandler } from "./by_handler.ts";

type Kind = Status["kind"];

/**
 * The names of a handler's numbers, by index: the stored statuses (docs/spec/queries.md#statuses).
 */
export const STATUSES: readonly (readonly [Kind, string])[] = [
  ["scheduled", "scheduled"],
  ["inboxed", "inboxed"],
  ["queued", "queued"],
  ["invoked", "invoked"],
  ["backingOff", "backing-off"],
  ["suspended", "suspended"],
  ["paused", "paused"],
  ["completed", "completed"],
];
const PLACES = Object.fromEntries(STATUSES.map(([kind], i) => [kind, i])) as Record<Kind, number>;

export interface StatusCountsOptions {
  readonly clock: Clock;
  /** Reads a page from the store, after all changes reported so far were handed to it. */
  readonly statusCounts: (
    page: StatusPage,
    issued: () => void,
  ) => Promise<readonly InvocationStatus[]>;
  readonly failed: (cause: unknown) => void;
  /** Invocations of one read. */
  readonly pageRowsMax?: number;
}

/** About 10 ms of the database's thread, so that other reads hardly wait for it. */
const PAGE_ROWS = 1000;

interface Move {
  readonly id: string;
  readonly target: Target;
  readonly status: Kind;
  readonly by: 1 | -1;
}

/**
 * The exact number of invocations of each handler in each status. From the first request on, every
 * change is counted; invocations that existed before are counted once, page by page in the order of
 * ids, with pauses.
 *
 * A change of an invocation whose page has been read counts at once. A change of a later one does not,
 * because its page will show it. While a page is being read its end is unknown, so changes of later
 * invocations are kept until it has arrived.
 */
export class StatusCounts {
  readonly counts: ByHandler = new ByHandler(STATUSES.length);
  readonly #options: StatusCountsOptions;
  /** Resolves when everything is counted. Undefined before the first request. */
  #whole: Promise<void> | undefined;
  #isWhole = false;
  #isStopped = false;
  /** Ids up to this one are counted. */
  #end = "";
  /** Changes since the read of the current page began. */
  #moves: Move[] | undefined;

  constructor(options: StatusCountsOptions) {
    this.#options = options;
  }

  /** Whether everything is counted. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Begins to count, unless it has begun. Resolves when everything is counted, or counting failed. */
  begin(): Promise<void> {
    return this.#whole ??= this.#count().catch((cause) => {
      if (this.#isStopped) return;
      this.#options.failed(cause);
      // The next request begins again.
      for (const [, , numbers] of this.counts) numbers.fill(0);
      this.#whole = this.#moves = undefined;
      this.#end = "";
    });
  }

  /** The counts, if they are complete within `timeoutMs`. Begins to count, unless it has begun. */
  async within(timeoutMs: number): Promise<ByHandler | undefined> {
    const { clock } = this.#options;
    await new Promise<void>((resolve) => {
      const forget = clock.at(clock.now() + timeoutMs, resolve);
      void this.begin().then(() => {
        forget();
        resolve();
      });
    });
    return this.#isWhole ? this.counts : undefined;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** An invocation was written. `before`: its earlier version, if any. `isGone`: it was dropped. */
  invocationChanged(
    before: InvocationRow | null | undefined,
    row: InvocationRow,
    isGone: boolean,
  ): void {
    if (!this.#whole || before?.status.kind === row.status.kind && !isGone) return;
    const { id } = row;
    if (this.#isWhole || id <= this.#end) {
      if (before) this.counts.add(before.target, PLACES[before.status.kind], -1);
      if (!isGone) this.counts.add(row.target, PLACES[row.status.kind], 1);
    } else if (this.#moves) {
      if (before) this.#moves.push(move(before, -1));
      if (!isGone) this.#moves.push(move(row, 1));
    }
  }

  async #count(): Promise<void> {
    const { clock, statusCounts: scanStatuses, pageRowsMax: limit = PAGE_ROWS } = this.#options;
    while (!this.#isWhole && !this.#isStopped) {
      const began = clock.now();
      const after = this.#end;
      const page = await scanStatuses(after === "" ? { limit } : { after, limit }, () => {
        this.#moves = [];
      });
      const last = page.length < limit ? undefined : page.at(-1);
      for (const one of page) this.counts.add(one, PLACES[one.status], 1);
      for (const { id, target, status, by } of this.#moves ?? []) {
        if (!last || id <= last.id) this.counts.add(target, PLACES[status], by);
      }
      this.#moves = undefined;
      this.#isWhole = !last;
      this.#end = last?.id ?? "";
      // Other reads get the database for as long as this page took.
      if (last) await new Promise<void>((go) => clock.at(2 * clock.now() - began, go));
    }
  }
}

function move({ id, target, status: { kind } }: InvocationRow, by: 1 | -1): Move {
  return { id, target, status: kind, by };
}
