import type { Want, Write } from "../model/rows.ts";
import type {
  Backlog,
  Clock,
  InvocationStatus,
  Lease,
  Loaded,
  Scan,
  ScanRow,
  SqlClient,
  SqlRow,
  Statement,
  StatusPage,
} from "../ports.ts";
import { fold, type FoldLimits } from "./fold/fold.ts";
import { foldSql } from "./fold/sql.ts";
import type { FencedWriter } from "./log/fenced_writer.ts";
import { type Background, WriteScheduler } from "./log/write_scheduler.ts";
import { haveLarge, withLarge } from "./large/read.ts";
import { type LargeLimits, LargeValues } from "./large/values.ts";
import type { Layer } from "./overlay/layer.ts";
import { LoadPlan } from "./read/load.ts";
import { checksumOf } from "./log/check.ts";
import { record } from "./log/records.ts";
import { merge, mergePages, Overlay } from "./overlay/overlay.ts";
import { logPlaces } from "./log/recover.ts";
import { scanRows } from "./read/scan.ts";
import { scanStatuses } from "./read/status_counts.ts";
import { compile, statement } from "./codec/sql_text.ts";
import { sql } from "kysely";

export interface OwnerLimits extends FoldLimits, LargeLimits {
  /** Rows are folded once so many, or so much, wait in memory. Commits wait at the double. */
  readonly foldRowsMax: number;
  readonly foldBytesMax: number;
  /** Rows are folded, too, when there was no commit for so long. */
  readonly foldIdleMs: number;
  /** How long a database that cannot be reached is waited for. Then a new claim is needed. */
  readonly retryMs: number;
  /** Whether commits and folds are written at the same time: where the database is far away. */
  readonly overlaps: boolean;
}

interface Flush {
  /** The layer that must be in the tables. */
  readonly layer: Layer;
  readonly resolve: () => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * Fenced by itself, so that a commit is a single statement: that is the whole acknowledged path. A
 * place that was folded is refused, too: a row that comes again, late, is not in the log any more.
 */
const LOG = compile(sql`insert into log (place, rest, rows, bytes, sum, held)
  values (?1, ?2, ?3, ?4, ?7,
    exists (select 1 from lease where partition = ?5 and epoch = ?6 and folded < ?1))`);

/** What a store knows and does for one lease. */
export class Owner {
  readonly lease: Lease;
  readonly #client: SqlClient;
  readonly #limits: OwnerLimits;
  readonly #clock: Clock | undefined;
  readonly #overlay = new Overlay();
  readonly #writer: FencedWriter;
  readonly #scheduler: WriteScheduler;
  readonly #large: LargeValues;
  /** The last place of the log that was given out. */
  #place: number;
  #flushes: Flush[] = [];
  #committedAt = 0;
  #forgetIdle: (() => void) | undefined;

  constructor(
    client: SqlClient,
    { lease, writer }: { readonly lease: Lease; readonly writer: FencedWriter },
    { clock, ...limits }: OwnerLimits & { readonly clock: Clock | undefined },
  ) {
    this.lease = lease;
    this.#client = client;
    this.#writer = writer;
    this.#limits = limits;
    this.#clock = clock;
    this.#place = logPlaces(lease.partition).from;
    this.#scheduler = new WriteScheduler({
      commit: (statements) => writer.commit(statements),
      write: (statements) => writer.write(statements),
      put: ([piece]) => piece ? writer.put(piece) : Promise.resolve(),
      soon: (call) => clock ? clock.soon(call) : call(),
      failed: (cause) => this.#failed(cause),
      overlaps: limits.overlaps,
    });
    this.#large = new LargeValues(lease, limits, (piece) => this.#scheduler.put(piece));
  }

  /** Rows in memory that are not in the tables. */
  get pending(): number {
    return this.#overlay.active.rows + (this.#overlay.frozen?.rows ?? 0);
  }

  /** What `pending` counts, and its size. */
  get backlog(): Backlog {
    const { active, frozen } = this.#overlay;
    return { rows: this.pending, bytes: active.bytes + (frozen?.bytes ?? 0) };
  }

  commit(writes: readonly Write[]): Promise<void> {
    const { failure } = this.#scheduler;
    if (failure) return Promise.reject(failure.cause);
    const { partition, epoch } = this.lease;
    let statements: Statement[];
    try {
      const { rowBytesMax } = this.#limits;
      const largeOf = (bytes: Uint8Array) => this.#large.record(bytes);
      const parts = record(writes, this.#overlay.active, { rowBytesMax, largeOf });
      statements = parts.map((row, i) => {
        const position = { place: ++this.#place, rest: parts.length - 1 - i };
        const { place, rest } = position;
        const sum = checksumOf(position, row);
        return statement(LOG, place, rest, row.rows, row.bytes, partition, epoch, sum);
      });
    } catch (cause) {
      // The overlay may hold half of it now.
      this.stop(cause);
      return Promise.reject(cause);
    }
    const durable = this.#scheduler.commit(statements);
    if (isFull(this.#overlay.active, this.#limits)) this.#fold();
    this.#watchIdle();
    return durable;
  }

  /** Makes a large value durable before the commit that holds it. */
  stage(bytes: Uint8Array): Promise<() => void> {
    return this.#large.stage(bytes);
  }

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

  scan<Q extends Scan>(scan: Q): Promise<readonly ScanRow<Q>[]> {
    const { partition } = this.lease;
    const overlay = this.#overlay;
    return this.#scheduler.read(() =>
      scanRows(scan, (one) => this.#read(one), { overlay, partition })
    );
  }

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

  flush(): Promise<void> {
    const { failure } = this.#scheduler;
    if (failure) return Promise.reject(failure.cause);
    const { active, frozen } = this.#overlay;
    const layer = active.rows > 0 ? active : frozen;
    if (!layer) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#flushes.push({ layer, resolve, reject });
      this.#fold();
    });
  }

  /** Nothing is written any more; what waits is rejected with `cause`. */
  stop(cause: unknown): void {
    this.#writer.stop();
    this.#scheduler.fail(cause);
  }

  /** Lets commits finish, then stops. */
  async close(cause: unknown): Promise<void> {
    await this.#scheduler.idle();
    this.stop(cause);
  }

  /** Begins to fold what was gathered, unless a fold is under way: then it is next. */
  #fold(): void {
    if (this.#overlay.frozen || this.#overlay.active.rows === 0) return;
    this.#scheduler.begin(this.#batches(this.#overlay.freeze(), this.#place));
  }

  #batches(layer: Layer, through: number): Background {
    const { partition } = this.lease;
    const batches = fold(layer, { ...this.#limits, partition, recovered: false });
    let upcoming = batches.next();
    let first = this.#large.sweep();
    return {
      isUrgent: (served) => this.#isUrgent(served),
      next: () => {
        const batch = [...first, ...upcoming.done ? [] : upcoming.value];
        first = [];
        upcoming = batches.next();
        return upcoming.done ? [...batch, ...cutLog(partition, through)] : batch;
      },
      done: () => {
        if (upcoming.done) this.#folded(layer);
      },
    };
  }

  /** Commits wait for folds when memory would grow without bound, or somebody waits for them. */
  #isUrgent(served: boolean): boolean {
    const { rows, bytes } = this.#overlay.active;
    const { foldRowsMax, foldBytesMax } = this.#limits;
    const fill = Math.max(rows / foldRowsMax, bytes / foldBytesMax);
    return fill >= 2 || served && (fill >= 1 || this.#flushes.length > 0);
  }

  #folded(layer: Layer): void {
    this.#overlay.frozen = undefined;
    this.#scheduler.finish();
    const isDone = (flush: Flush): boolean => flush.layer === layer;
    for (const { resolve } of this.#flushes.filter(isDone)) resolve();
    this.#flushes = this.#flushes.filter((flush) => !isDone(flush));
    if (this.#flushes.length > 0 || isFull(this.#overlay.active, this.#limits)) this.#fold();
  }

  #failed(cause: unknown): void {
    this.#forgetIdle?.();
    this.#forgetIdle = undefined;
    for (const { reject } of this.#flushes.splice(0)) reject(cause);
  }

  #watchIdle(): void {
    if (!this.#clock) return;
    this.#committedAt = this.#clock.now();
    if (!this.#forgetIdle) this.#wakeWhenIdle(this.#clock);
  }

  #wakeWhenIdle(clock: Clock): void {
    this.#forgetIdle = clock.at(this.#committedAt + this.#limits.foldIdleMs, () => {
      this.#forgetIdle = undefined;
      if (this.#committedAt + this.#limits.foldIdleMs > clock.now()) this.#wakeWhenIdle(clock);
      else this.#fold();
    });
  }
}

function isFull({ rows, bytes }: Layer, { foldRowsMax, foldBytesMax }: OwnerLimits): boolean {
  return rows >= foldRowsMax || bytes >= foldBytesMax;
}

/** Ends what was folded, and says so: from here on, these places are refused. */
function cutLog(partition: number, through: number): Statement[] {
  const { from } = logPlaces(partition);
  return [
    statement(foldSql.logDrop, from, through),
    statement(foldSql.logFolded, partition, through),
  ];
}
