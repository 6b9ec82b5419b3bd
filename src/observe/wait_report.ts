import type { Clock, Log } from "../ports.ts";
import type { Introspection, RunningAttempt } from "../query_port.ts";

export interface WaitReportOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly introspection: Pick<Introspection, "query">;
  /** Our own version. */
  readonly version: string;
  readonly running: () => readonly RunningAttempt[];
  /** Whether this process is the one that reports: of a fleet, one does. */
  readonly isHere: () => boolean;
  /** How long an invocation must have waited to be logged, in milliseconds. More than 0. */
  readonly afterMs: number;
  /** Whether records hold keys, scopes and limit keys, which may be secret. */
  readonly isDetailed: boolean;
}

/** Invocations that one check logs. Of the others it logs how many there are. */
export const LOGGED_MAX = 10;
/** Invocations that one check counts. */
const COUNTED_MAX = 1_000;
/** The longest time between two checks. */
const CHECK_MS_MAX = 5 * 60_000;

/** Could run if nothing held it up: it waits for a lock, a limit, a rate, a pause, or a slot. */
const HELD_UP = "status in ('pending', 'ready')";

type Row = Readonly<Record<string, unknown>>;

/**
 * Logs why invocations do not run that have waited for long: each wait once, a few at a time. The reason
 * is the sentence that `sys_invocation.waiting_reason` has, since it is asked by SQL (decision 070): what
 * does not wait for long costs nothing.
 */
export class WaitReport {
  readonly #options: WaitReportOptions;
  /** Waits that began up to then are logged. Milliseconds since the epoch. */
  #done = 0;
  #cancel: (() => void) | undefined;
  #isStopped = false;

  constructor(options: WaitReportOptions) {
    this.#options = options;
    this.#later();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  #later(): void {
    if (this.#isStopped) return;
    const { clock, log, afterMs } = this.#options;
    const due = clock.now() + Math.min(afterMs, CHECK_MS_MAX);
    this.#cancel = clock.at(due, () => {
      // What cannot be asked now is asked again: the database or the query processes may be busy.
      this.#check().catch((cause) => log("debug", "Waits cannot be read", { cause: String(cause) }))
        .finally(() => this.#later());
    });
  }

  async #check(): Promise<void> {
    const { clock, afterMs, isHere } = this.#options;
    if (!isHere()) return;
    const until = clock.now() - afterMs;
    // A row changes when its wait begins. What has changed since then is logged later.
    const found = await this.#rows(
      `select id from sys_invocation where ${HELD_UP} and modified_at > '${iso(this.#done)}'
      and modified_at <= '${iso(until)}' order by modified_at, id limit ${COUNTED_MAX}`,
    );
    const ids = found.slice(0, LOGGED_MAX).map(({ id }) => `'${id}'`);
    const rows = ids.length === 0 ? [] : await this.#rows(
      `select id, target_service_name as service, target_service_key as key,
      target_handler_name as handler, modified_at as since, waiting_on, waiting_reason
      from sys_invocation where id in (${ids.join()}) and ${HELD_UP} order by modified_at, id`,
    );
    if (this.#isStopped) return;
    this.#done = until;
    for (const row of rows) this.#report(row);
    const others = found.length - ids.length;
    if (others > 0) this.#reportOthers(others, found.length === COUNTED_MAX);
  }

  #report({ id, service, key, handler, since, waiting_on, waiting_reason }: Row): void {
    const { log, isDetailed } = this.#options;
    if (typeof waiting_on !== "string") return;
    const { for: kind } = JSON.parse(waiting_on) as { readonly for: string };
    log("warn", "An invocation has waited for long", {
      invocation: id,
      service,
      ...(isDetailed && key !== undefined && { key }),
      handler,
      since,
      for: kind,
      ...(isDetailed && { reason: waiting_reason }),
      more: `SELECT waiting_reason FROM sys_invocation WHERE id = '${id}'`,
    });
  }

  #reportOthers(count: number, isMore: boolean): void {
    const { log } = this.#options;
    log("warn", "More invocations have waited for long", {
      count,
      ...(isMore && { isMore }),
      more: "SELECT id, waiting_reason FROM sys_invocation WHERE status IN ('pending', 'ready') " +
        "ORDER BY modified_at LIMIT 100",
    });
  }

  /** Rejects as queries do. */
  async #rows(sql: string): Promise<readonly Row[]> {
    const { introspection, version, running } = this.#options;
    const query = { sql, format: "json", version, running: running() } as const;
    const { rows } = await new Response(await introspection.query(query)).json();
    return rows;
  }
}

function iso(ms: number): string {
  return new Date(Math.max(0, ms)).toISOString();
}
