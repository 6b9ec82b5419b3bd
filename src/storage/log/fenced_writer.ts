import { sql } from "kysely";
import { Fenced, type Lease, type SqlClient, type SqlRow, type Statement } from "../../ports.ts";
import { type RetryLimits, withRetries } from "../retry.ts";
import { compile, statement } from "../codec/sql_text.ts";

/** Puts 0 where 1 must be, unless the lease is held. Writes nothing when it is. */
const HELD = compile(sql`insert into fence (held) select 0 where not exists (
  select 1 from lease where partition = ?1 and epoch = ?2)`);
/** The same, unless so many steps were taken under the lease. */
const AT_STEP = compile(sql`insert into fence (held) select 0 where not exists (
  select 1 from lease where partition = ?1 and epoch = ?2 and step = ?3)`);
const TAKE_STEP = compile(sql`update lease set step = step + 1 where partition = ?1`);
/** What there is of a batch nobody heard of. No row: the lease is not held any more. */
const READ_STATE = compile(sql`
  select step, exists (select 1 from log where place = ?3) as logged
  from lease where partition = ?1 and epoch = ?2`);

/** No row of the log has it. */
const NO_PLACE = -1;

/**
 * Hears of every commit once it is durable and before anybody else does. `place`: of its last row in
 * the log. Must not throw.
 */
export type OnDurable = (lease: Lease, place: number) => void;

/**
 * Brings the writes of one lease to the database, one after the other, each of them exactly once,
 * although answers get lost, and requests get lost, doubled and late (decision 024).
 *
 * Commits are told apart by the places of their rows, everything else by a number it takes with it,
 * the step. So a request that was applied is refused when it comes again, as long as the epoch is
 * the same; and when it is not, everything is.
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
   * Writes rows of the log, all or none. Each statement has its fence in it, and the row's place as
   * its first value. None: only looks whether the lease is held. Rejects with `Fenced`, with why
   * the database refused, or, when its patience is used up, not knowing.
   */
  async commit(statements: readonly Statement[]): Promise<void> {
    const { partition, epoch } = this.#lease;
    const last = statements.at(-1);
    // A commit without rows has no row that could carry the fence.
    if (!last) return await this.#writeOnce([statement(HELD, partition, epoch)], () => false);
    const place = Number(last.args[0]);
    await this.#writeOnce(statements, ({ logged }) => logged === 1, place);
    this.#onDurable?.(this.#lease, place);
  }

  /** Writes anything else, all or nothing. Rejects as `commit` does. */
  async write(statements: readonly Statement[]): Promise<void> {
    const { partition, epoch } = this.#lease;
    const steps = this.#steps;
    const fence = [statement(AT_STEP, partition, epoch, steps), statement(TAKE_STEP, partition)];
    await this.#writeOnce([...fence, ...statements], ({ step }) => Number(step) > steps);
    this.#steps++;
  }

  /**
   * Writes something that has its fence in it and may be written twice. Rejects as `commit` does.
   */
  async put(one: Statement): Promise<void> {
    await this.#writeOnce([one], () => false);
  }

  /** Nobody waits any more: what gets lost from now on is not repeated. */
  stop(): void {
    this.#isStopped = true;
  }

  async #writeOnce(
    statements: readonly Statement[],
    isApplied: (row: SqlRow) => boolean,
    place = NO_PLACE,
  ): Promise<void> {
    const client = this.#client;
    let wasLost = false;
    await withRetries(client, async () => {
      try {
        await client.batch("write", statements);
      } catch (cause) {
        if (client.isLost?.(cause)) wasLost = true;
        // It may be refused because an earlier one was taken.
        else if (wasLost && isApplied(await this.#readState(place))) return;
        throw client.isRefused(cause) ? new Fenced() : cause;
      }
    }, { ...this.#retry, isOver: () => this.#isStopped });
  }

  /** Asked as a write is, so that a copy of the database that lags behind does not answer. */
  async #readState(place: number): Promise<SqlRow> {
    const { partition, epoch } = this.#lease;
    const [[row] = []] = await this.#client.batch("write", [
      statement(READ_STATE, partition, epoch, place),
    ]);
    if (!row) throw new Fenced();
    return row;
  }
}
