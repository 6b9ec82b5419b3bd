import { peerOf, type Rows, type Timer, timerItem } from "../../model/rows.ts";
import type { Queued } from "../../engine/flow/slots.ts";
import type { SqlRow, Statement } from "../../ports.ts";
import type { DamagedHolder, Holder, OfSubscription, Scan, ScanRow } from "../../scan.ts";
import { decodeOutbox, decodeTimer } from "./load.ts";
import { compareOutbox, compareText, compareTimers } from "../codec/order.ts";
import type { Overlay } from "../overlay/overlay.ts";
import { holders, ingested, letters, queued } from "./scan_slots.ts";
import { scanSql } from "./sql.ts";
import { fromSafe, toSafe } from "../codec/safe_text.ts";
import { statement } from "../codec/sql_text.ts";

/** A row that a scan may return: the fields that order it, and the result. */
export interface Candidate {
  /** Empty for a message. */
  readonly id: string;
  /** When it is due, of rows that are scanned by time. */
  readonly time?: number;
  readonly timer?: Timer;
  readonly message?: Rows["outbox"];
  readonly holder?: Holder | DamagedHolder;
  readonly queued?: Queued;
  readonly ingested?: OfSubscription;
}

/** One kind of scan: how to page through the tables, and its rows in the overlay. */
export interface Kind<C = Candidate> {
  /** The next page of the tables, after a candidate (undefined: from the start). */
  page(after: C | undefined): Statement;
  decode(columns: SqlRow): C;
  compare(a: C, b: C): number;
  /** Rows of the overlay that the scan may return. */
  readonly live: readonly C[];
  /** Whether the overlay has a newer version of this row, or its tombstone. */
  isStale(found: C): boolean;
}

/** What a scan reads. */
interface Tables {
  readonly overlay: Overlay;
  readonly partition: number;
}

/** Runs one query. */
export type Read = (statement: Statement) => Promise<readonly SqlRow[]>;

/**
 * Runs a scan over the tables and the overlay, which it reads at once. It mostly takes one round trip,
 * more only when many rows of a page are stale. No fold may start meanwhile.
 */
export function scanRows<Q extends Scan>(
  scan: Q,
  read: Read,
  { overlay, partition }: Tables,
): Promise<readonly ScanRow<Q>[]> {
  const kind = kindOf(scan, overlay, partition);
  return gather(kind, read, scan.limit).then((rows) =>
    rows.map(({ id, timer, message, holder, queued, ingested }) =>
      timer ?? message ?? holder ?? queued ?? ingested ?? { id }
    ) as unknown as ScanRow<Q>[]
  );
}

/** At most `limit` rows in the order of `kind`, from the tables page by page and from `kind.live`. */
export async function gather<C>(kind: Kind<C>, read: Read, limit: number): Promise<C[]> {
  if (limit <= 0) return [];
  const found: C[] = [];
  let last: C | undefined;
  while (true) {
    const page = (await read(kind.page(last))).map((columns) => kind.decode(columns));
    for (const row of page) if (!kind.isStale(row)) found.push(row);
    const isEnd = page.length < limit;
    last = page.at(-1);
    const rows = [...found, ...kind.live].sort((a, b) => kind.compare(a, b));
    if (isEnd) return rows.slice(0, limit);
    // Rows of the overlay after the last row that was read must wait: the tables may have earlier ones.
    const known = rows.filter((row) => last && kind.compare(row, last) <= 0);
    if (known.length >= limit) return known.slice(0, limit);
  }
}

function kindOf(scan: Scan, overlay: Overlay, partition: number): Kind {
  switch (scan.kind) {
    case "holders":
      return holders(scan, overlay, partition);
    case "queued":
      return queued(scan, overlay, partition);
    case "ingested":
      return ingested(scan, overlay, partition);
    case "letters":
      return letters(scan, overlay, partition);
    case "fullBuckets": {
      const timeOf = ({ fullAt }: Rows["bucket"]) => fullAt;
      return due(scan, { overlay, partition }, {
        table: "bucket",
        timeOf,
        sql: scanSql.fullBuckets,
      });
    }
    case "expired": {
      const timeOf = ({ expiresAt }: Rows["invocation"]) => expiresAt;
      return due(scan, { overlay, partition }, {
        table: "invocation",
        timeOf,
        sql: scanSql.expired,
      });
    }
    case "timers":
      return timers(scan, overlay, partition);
    case "outbox":
      return outbox(scan, overlay, partition);
  }
}

/** The rows of a table that are due, by time and id. */
function due<T extends "invocation" | "bucket">(
  { until, limit }: Scan & { readonly until: number },
  { overlay, partition }: Tables,
  { table, timeOf, sql }: {
    readonly table: T;
    readonly timeOf: (row: Rows[T]) => number | undefined;
    /** A page, with the columns `id` and `time`. */
    readonly sql: string;
  },
): Kind {
  const live: Candidate[] = [];
  const known = new Set<string>();
  for (const [id, , { row }] of overlay.known(table)) {
    known.add(id);
    const time = row && timeOf(row);
    if (time !== undefined && time <= until) live.push({ id, time });
  }
  return {
    page: (last) => {
      const after = last?.time ?? -Number.MAX_VALUE;
      return statement(sql, partition, after, toSafe(last?.id ?? ""), until, limit);
    },
    decode: ({ id, time }) => ({ id: fromSafe(id as string), time: time as number }),
    compare: (a, b) => (a.time ?? 0) - (b.time ?? 0) || compareText(a.id, b.id),
    live,
    isStale: ({ id }) => known.has(id),
  };
}

function timers(
  { after, limit }: Scan & { kind: "timers" },
  overlay: Overlay,
  partition: number,
): Kind {
  const live: Candidate[] = [];
  const known = new Set<string>();
  for (const [id, item, { row }] of overlay.known("timer")) {
    known.add(`${item} ${id}`);
    if (row && (!after || compareTimers(row, after) > 0)) live.push({ id, timer: row });
  }
  return {
    page: (last) => timersPage(partition, last?.timer ?? after, limit),
    decode: (columns) => {
      const timer = decodeTimer(columns);
      return { id: timer.id, timer };
    },
    compare: (a, b) => a.timer && b.timer ? compareTimers(a.timer, b.timer) : 0,
    live,
    isStale: ({ id, timer }) => timer !== undefined && known.has(`${timerItem(timer)} ${id}`),
  };
}

function timersPage(partition: number, after: Timer | undefined, limit: number): Statement {
  if (!after) return statement(scanSql.timers, partition, -Number.MAX_VALUE, "", "", limit);
  const { due, id, kind, index } = after;
  return statement(scanSql.timers, partition, due, toSafe(id), `${kind}/${index}`, limit);
}

function outbox(
  { after, limit }: Scan & { kind: "outbox" },
  overlay: Overlay,
  partition: number,
): Kind {
  const live: Candidate[] = [];
  const known = new Set<string>();
  for (const [group, item, { row }] of overlay.known("outbox")) {
    known.add(`${item} ${group}`);
    if (row && (!after || compareOutbox(row, { ...after, from: partition }) > 0)) {
      live.push({ id: "", message: row });
    }
  }
  return {
    page: (last) => outboxPage(partition, last?.message ?? after, limit),
    decode: (columns) => ({ id: "", message: decodeOutbox(columns) }),
    compare: (a, b) => a.message && b.message ? compareOutbox(a.message, b.message) : 0,
    live,
    isStale: ({ message }) =>
      message !== undefined && known.has(`${message.seq} ${peerOf(message)}`),
  };
}

/** The keys of a partition's peers begin with its number and a slash; "0" is the character after "/". */
function outboxPage(
  from: number,
  after: Pick<Rows["outbox"], "to" | "seq"> | undefined,
  limit: number,
): Statement {
  const end = `${from}0`;
  if (!after) return statement(scanSql.outbox, `${from}/`, 0, end, limit);
  return statement(scanSql.outbox, peerOf({ from, to: after.to }), after.seq, end, limit);
}
