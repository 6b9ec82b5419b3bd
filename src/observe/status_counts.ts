import type { InvocationRow, Status } from "../model/invocation.ts";
import type { Target } from "../model/target.ts";
import type { Clock, InvocationStatus, StatusPage } from "../ports.ts";
import { ByHandler } from "./by_handler.ts";

type Kind = Status["kind"];

/**
 * Places of a handler's numbers, and what each is called: as stored statuses are
 * (docs/spec/queries.md#statuses).
 */
export const STATUSES: readonly (readonly [Kind, string])[] = [
  ["scheduled", "scheduled"],
  ["inboxed", "inboxed"],
  ["invoked", "invoked"],
  ["backingOff", "backing-off"],
  ["suspended", "suspended"],
  ["paused", "paused"],
  ["completed", "completed"],
];
const PLACES = Object.fromEntries(STATUSES.map(([kind], i) => [kind, i])) as Record<Kind, number>;

export interface StatusCountsOptions {
  readonly clock: Clock;
  /** Asks the store, once all that was told of so far is in its hands. */
  readonly statusCounts: (
    page: StatusPage,
    issued: () => void,
  ) => Promise<readonly InvocationStatus[]>;
  readonly failed: (cause: unknown) => void;
  /** Invocations read at once. */
  readonly pageRowsMax?: number;
}

/** Some 10 ms of the database's thread; nobody waits behind it. */
const PAGE_ROWS = 1000;

interface Move {
  readonly id: string;
  readonly target: Target;
  readonly status: Kind;
  readonly by: 1 | -1;
}

/**
 * How many invocations of each handler stand where: exact, and never counted twice. From when
 * somebody first asks, every change is followed; what stood there before is counted once, page by
 * page in the order of ids, with pauses.
 *
 * A change of an invocation behind the page that is being read counts at once; of one ahead, never,
 * for its page will show it. While a page is on its way nobody knows where it ends, so changes
 * ahead are kept until it is here.
 */
export class StatusCounts {
  readonly counts: ByHandler = new ByHandler(STATUSES.length);
  readonly #options: StatusCountsOptions;
  /** Resolves when everything is counted; undefined while nobody has asked. */
  #whole: Promise<void> | undefined;
  #isWhole = false;
  #isStopped = false;
  /** Ids up to this one are counted. */
  #end = "";
  /** Changes since the page on its way was asked for. */
  #moves: Move[] | undefined;

  constructor(options: StatusCountsOptions) {
    this.#options = options;
  }

  /** Whether everything is counted. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Begins to count, if nobody has. Resolves when everything is counted, or counting failed. */
  begin(): Promise<void> {
    return this.#whole ??= this.#count().catch((cause) => {
      if (this.#isStopped) return;
      this.#options.failed(cause);
      // The next one who asks begins anew.
      for (const [, , numbers] of this.counts) numbers.fill(0);
      this.#whole = this.#moves = undefined;
      this.#end = "";
    });
  }

  /** The counts, if they are whole within `timeoutMs`. Begins to count, if nobody has. */
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

  /** An invocation was written: `before` as it was, if it was. `isGone`: it was dropped. */
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
      // Others come to the database for as long as this did.
      if (last) await new Promise<void>((go) => clock.at(2 * clock.now() - began, go));
    }
  }
}

function move({ id, target, status: { kind } }: InvocationRow, by: 1 | -1): Move {
  return { id, target, status: kind, by };
}
