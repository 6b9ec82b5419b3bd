import { sql } from "kysely";
import { Fenced, type Lease, type SqlClient, type SqlRow, type Statement } from "../../ports.ts";
import { type RetryLimits, withRetries } from "../retry.ts";
import { compile, statement } from "../codec/sql_text.ts";

/** Unless the lease is held, violates a check constraint, which fails the batch. Writes nothing. */
const HELD = compile(sql`insert into fence (held) select 0 where not exists (
  select 1 from lease where partition = ?1 and epoch = ?2)`);
/** As `HELD`; fails also unless the lease has had exactly ?3 steps. */
const AT_STEP = compile(sql`insert into fence (held) select 0 where not exists (
  select 1 from lease where partition = ?1 and epoch = ?2 and step = ?3)`);
const TAKE_STEP = compile(sql`update lease set step = step + 1 where partition = ?1`);
/** Checks whether an unacknowledged batch was applied. No row: the lease is lost. */
const READ_STATE = compile(sql`
  select step, exists (select 1 from log where place = ?3) as logged
  from lease where partition = ?1 and epoch = ?2`);

/** A place that no row of the log has. */
const NO_PLACE = -1;

/**
 * Called with every commit once it is durable, before the caller of `commit` is notified. `place`: of
 * its last row in the log. Must not throw.
 */
export type OnDurable = (lease: Lease, place: number) => void;

/**
 * Sends the writes of one lease, each of which is applied exactly once, although responses may be lost
 * and requests may be lost, duplicated or delayed (decision 024).
 *
 * A commit is identified by the places of its rows, every other write by the step, a number within the
 * epoch. A duplicate of an applied request is refused: within the epoch by its place or step, in a
 * later epoch by the fence.
 */
export class FencedWriter {
  readonly #client: SqlClient;
  readonly #lease: Lease;
  readonly #retry: RetryLimits;
  readonly #onDurable: OnDurable | undefined;
  #steps = 0;
  #isStopped = false;

  constructor(
    client: SqlClient,
    lease: Lease,
    { onDurable, ...retry }: RetryLimits & { readonly onDurable?: OnDurable | undefined },
  ) {
    this.#client = client;
    this.#lease = lease;
    this.#retry = retry;
    this.#onDurable = onDurable;
  }

  /**
   * Writes rows of the log, all or none. Each statement contains its fence, and has the row's place as
   * its first value. Without statements it only checks that the lease is held. Rejects with `Fenced`,
   * with the error of the database, or, after `retryMs`, with a loss: the write is then ambiguous.
   */
  async commit(statements: readonly Statement[]): Promise<void> {
    const { partition, epoch } = this.#lease;
    const last = statements.at(-1);
    // A commit without rows has no row that could carry the fence.
    if (!last) return await this.#writeOnce([statement(HELD, partition, epoch)], () => false);
    const place = Number(last.args[0]);
    await this.#writeOnce(statements, ({ logged }) => logged === 1, { place });
    this.#onDurable?.(this.#lease, place);
  }

  /**
   * Writes anything else, all or nothing. `isLazy`: as of `SqlClient`. Rejects as `commit` does.
   */
  async write(
    statements: readonly Statement[],
    { isLazy = false }: { readonly isLazy?: boolean } = {},
  ): Promise<void> {
    const { partition, epoch } = this.#lease;
    const steps = this.#steps;
    const fence = [statement(AT_STEP, partition, epoch, steps), statement(TAKE_STEP, partition)];
    const isApplied = ({ step }: SqlRow) => Number(step) > steps;
    await this.#writeOnce([...fence, ...statements], isApplied, { isLazy });
    this.#steps++;
  }

  /**
   * Writes an idempotent statement that contains its fence. Rejects as `commit` does.
   */
  async put(one: Statement): Promise<void> {
    await this.#writeOnce([one], () => false);
  }

  /** Ends retries: a request that is lost from now on rejects. */
  stop(): void {
    this.#isStopped = true;
  }

  async #writeOnce(
    statements: readonly Statement[],
    isApplied: (row: SqlRow) => boolean,
    { place = NO_PLACE, isLazy = false }: {
      readonly place?: number;
      readonly isLazy?: boolean;
    } = {},
  ): Promise<void> {
    const client = this.#client;
    let wasLost = false;
    await withRetries(client, async () => {
      try {
        await client.batch("write", statements, isLazy);
      } catch (cause) {
        if (client.isLost?.(cause)) wasLost = true;
        // The database may refuse a retry because the lost request was applied.
        else if (wasLost && isApplied(await this.#readState(place))) return;
        throw client.isRefused(cause) ? new Fenced() : cause;
      }
    }, { ...this.#retry, isOver: () => this.#isStopped });
  }

  /** A write transaction, so that no replica that lags behind responds. */
  async #readState(place: number): Promise<SqlRow> {
    const { partition, epoch } = this.#lease;
    const [[row] = []] = await this.#client.batch("write", [
      statement(READ_STATE, partition, epoch, place),
    ]);
    if (!row) throw new Fenced();
    return row;
  }
}
