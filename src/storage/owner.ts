import type { Want, Write } from "../model/rows.ts";
import type {
  Backlog,
  Clock,
  InvocationStatus,
  Lease,
  Loaded,
  SqlClient,
  SqlRow,
  Statement,
  StatusPage,
} from "../ports.ts";
import type { Scan, ScanRow } from "../scan.ts";
import { FoldScheduler, type FoldSchedulerLimits } from "./fold/fold_scheduler.ts";
import type { FencedWriter } from "./log/fenced_writer.ts";
import { WriteScheduler } from "./log/write_scheduler.ts";
import { haveLarge, withLarge } from "./large/read.ts";
import { dropCondemned } from "./large/unused.ts";
import { type LargeLimits, LargeValues } from "./large/values.ts";
import { LoadPlan } from "./read/load.ts";
import { checksumOf } from "./log/check.ts";
import { record } from "./log/records.ts";
import { merge, mergePages, Overlay } from "./overlay/overlay.ts";
import { logPlaces } from "./log/recover.ts";
import { scanRows } from "./read/scan.ts";
import { scanStatuses } from "./read/status_counts.ts";
import { compile, statement } from "./codec/sql_text.ts";
import { sql } from "kysely";

export interface OwnerLimits extends FoldSchedulerLimits, LargeLimits {
  /** How long requests to an unreachable database are retried. Then a new claim is needed. */
  readonly retryMs: number;
  /** Whether a commit and a fold are written at the same time: for a database behind a network. */
  readonly overlaps: boolean;
}

/**
 * The fence is part of the statement, so that most commits are a single statement: nothing else is written
 * before it is acknowledged. A place that was folded is refused, too: otherwise a delayed duplicate of
 * a row would enter the log again after the fold deleted it.
 */
const LOG = compile(sql`insert into log (place, rest, rows, bytes, sum, held)
  values (?1, ?2, ?3, ?4, ?7,
    exists (select 1 from lease where partition = ?5 and epoch = ?6 and folded < ?1))`);

/**
 * The storage of one partition under one lease: commits append to the log and enter the overlay, reads
 * merge the overlay with the tables, and folds move the overlay into the tables.
 */
export class Owner {
  readonly lease: Lease;
  readonly #client: SqlClient;
  readonly #limits: OwnerLimits;
  readonly #overlay = new Overlay();
  readonly #writer: FencedWriter;
  readonly #scheduler: WriteScheduler;
  readonly #large: LargeValues;
  readonly #folds: FoldScheduler;
  /** The place of the last row that was handed to the log. */
  #place: number;

  constructor(
    client: SqlClient,
    { lease, writer }: { readonly lease: Lease; readonly writer: FencedWriter },
    { clock, ...limits }: OwnerLimits & { readonly clock: Clock | undefined },
  ) {
    this.lease = lease;
    this.#client = client;
    this.#writer = writer;
    this.#limits = limits;
    const { partition } = lease;
    const { from } = logPlaces(partition);
    this.#place = from;
    this.#scheduler = new WriteScheduler({
      commit: (statements) => writer.commit(statements),
      // Until the log is cut, which is the last of it, all of a fold can be done again from the log.
      write: (statements) => writer.write(statements, { isLazy: true }),
      put: ([piece]) => piece ? writer.put(piece) : Promise.resolve(),
      soon: (call) => clock ? clock.soon(call) : call(),
      failed: (cause) => this.#folds.fail(cause),
      overlaps: limits.overlaps,
    });
    this.#large = new LargeValues(lease, limits, (piece) => this.#scheduler.put(piece));
    this.#folds = new FoldScheduler({
      partition,
      logFrom: from,
      overlay: this.#overlay,
      limits,
      clock,
      sweep: (layer) => this.#large.sweep(layer),
      drop: (count) => dropCondemned(partition, count),
      begin: (background) => this.#scheduler.begin(background),
      finish: () => this.#scheduler.finish(),
    });
  }

  /** Rows of the overlay: committed or being committed, and not in the tables. */
  get pending(): number {
    return this.#overlay.active.rows + (this.#overlay.frozen?.rows ?? 0);
  }

  /** The rows that `pending` counts, with their size in bytes. */
  get backlog(): Backlog {
    const { active, frozen } = this.#overlay;
    return { rows: this.pending, bytes: active.bytes + (frozen?.bytes ?? 0) };
  }

  /**
   * Enters the rows into the overlay, where reads find them at once, and resolves when they are
   * durable. Rejects with the first failure of this lease, after which it accepts no commit.
   */
  commit(writes: readonly Write[]): Promise<void> {
    const { failure } = this.#scheduler;
    if (failure) return Promise.reject(failure.cause);
    const { partition, epoch } = this.lease;
    let statements: Statement[];
    try {
      const { rowBytesMax } = this.#limits;
      const values = this.#large.commit(writes);
      const largeOf = (bytes: Uint8Array) => values.refOf(bytes);
      const parts = record(writes, this.#overlay.active, { rowBytesMax, largeOf });
      const rows = parts.map((row, i) => {
        const position = { place: ++this.#place, rest: parts.length - 1 - i };
        const { place, rest } = position;
        const sum = checksumOf(position, row);
        return statement(LOG, place, rest, row.rows, row.bytes, partition, epoch, sum);
      });
      const pieces = values.pieces();
      statements = [...pieces, ...rows].map((one) => ({ ...one, isQuick: true }));
    } catch (cause) {
      // The overlay may hold a part of this commit, so it must not be read or folded.
      this.stop(cause);
      return Promise.reject(cause);
    }
    const durable = this.#scheduler.commit(statements);
    this.#folds.committed(this.#place);
    return durable;
  }

  /** Makes a large value durable before the commit that holds it. */
  stage(bytes: Uint8Array): Promise<() => void> {
    return this.#large.stage(bytes);
  }

  /**
   * The rows of each want, as the commits handed over so far leave them. Without a query when the
   * overlay has them all. Rejects as `commit` and the database do.
   */
  load(wants: readonly Want[]): Promise<readonly Loaded[]> {
    const { failure } = this.#scheduler;
    if (failure) return Promise.reject(failure.cause);
    const results = wants.map((want) => ({ want, ...this.#overlay.find(want) }));
    const open = results.filter(({ complete }) => !complete);
    if (open.length === 0) {
      return Promise.resolve(results.map(({ want, cells }) => ({ want, rows: merge([], cells) })));
    }
    const plan = new LoadPlan(open.map(({ want }) => want));
    const settled = results.map(({ want, complete, cells }) => ({
      want,
      cells,
      rows: complete ? merge([], cells) : undefined,
    }));
    return this.#scheduler.read(async () => {
      const found = plan.sort(await this.#readAll(plan.statements()));
      let next = 0;
      return settled.map(({ want, rows, cells }) => {
        if (rows) return { want, rows };
        const { rows: below = [], pages } = found[next++] ?? {};
        return pages
          ? { want, rows: [], pages: { [Symbol.iterator]: () => mergePages(pages, cells) } }
          : { want, rows: merge(below, cells) };
      });
    });
  }

  /** A page of rows in the order of an index, from the tables and the overlay. Rejects as `load`. */
  scan<Q extends Scan>(scan: Q): Promise<readonly ScanRow<Q>[]> {
    const { partition } = this.lease;
    const overlay = this.#overlay;
    return this.#scheduler.read(() =>
      scanRows(scan, (one) => this.#read(one), { overlay, partition })
    );
  }

  /** A page of the statuses of invocations, from the tables and the overlay. Rejects as `load`. */
  scanStatuses(page: StatusPage): Promise<readonly InvocationStatus[]> {
    const { partition } = this.lease;
    const overlay = this.#overlay;
    return this.#scheduler.read(() =>
      scanStatuses(page, (one) => this.#read(one), { overlay, partition })
    );
  }

  async #read(one: Statement): Promise<readonly SqlRow[]> {
    const [rows = []] = await this.#readAll([one]);
    return rows;
  }

  async #readAll(statements: readonly Statement[]): Promise<readonly (readonly SqlRow[])[]> {
    const results = await this.#client.batch("read", statements);
    return haveLarge(results) ? await withLarge(this.#client, results) : results;
  }

  /** Resolves when every commit so far is in the tables. Rejects as `commit` does. */
  flush(): Promise<void> {
    const { failure } = this.#scheduler;
    if (failure) return Promise.reject(failure.cause);
    return this.#folds.foldAll();
  }

  /** Stops writing, and rejects waiting and later requests with `cause`. */
  stop(cause: unknown): void {
    this.#writer.stop();
    this.#scheduler.fail(cause);
  }

  /** Waits for the commits that were handed over, then stops. */
  async close(cause: unknown): Promise<void> {
    await this.#scheduler.idle();
    this.stop(cause);
  }
}
