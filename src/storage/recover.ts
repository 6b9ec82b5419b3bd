import { sql } from "kysely";
import { assert } from "../assert.ts";
import { Fenced, type Lease, type SqlClient } from "../ports.ts";
import type { Courier } from "./courier.ts";
import { fold, type FoldLimits } from "./fold.ts";
import { foldSql } from "./fold_sql.ts";
import { Layer } from "./layer.ts";
import { replay } from "./log_codec.ts";
import { insist, type Patience } from "./patience.ts";
import { compile, statement } from "./sql_text.ts";

/** Commits of one partition, before its places run into those of the next: decades. */
const PARTITION_PLACES = 2 ** 40;
/** Partitions that have places of their own in a log: as many as numbers can tell apart. */
const LOGS_MAX = 2 ** 13;
/** What is read at once: rows up to one of these. But one at least, which may be a large one. */
const PAGE_ROWS = 64;
const PAGE_BYTES = 16 * 1024 * 1024;

/** Claims that may come in between while one is made. */
const RIVALS_MAX = 100;

const EPOCH = compile(sql`select epoch, owner from lease where partition = ?1`);
/** Nothing, if somebody raised it in the meantime: also an earlier copy of this very request. */
const RAISE = compile(sql`
  insert into lease (partition, epoch) values (?1, 1)
  on conflict (partition) do update set epoch = epoch + 1, step = 0, folded = 0, owner = ?3
  where epoch = ?2 and (?3 is null or owner = ?3) returning epoch`);
/** Sizes first, which are read without what they are the sizes of. */
const READ_LOG = compile(sql`
  with page as (
    select place, octet_length(rows) + coalesce(octet_length(bytes), 0) as size
    from log where place > ?1 and place <= ?2 order by place limit ?3),
  pile as (select place, size, sum(size) over (order by place) as height from page)
  select log.place, log.rest, log.rows, log.bytes
  from pile cross join log on log.place = pile.place
  where pile.height <= ?4 or pile.height = pile.size order by log.place`);

/** The places in the log that belong to a partition: greater than `from`, up to `to`. */
export function logPlaces(partition: number): { readonly from: number; readonly to: number } {
  assert(partition >= 0 && partition < LOGS_MAX, "A partition has a number within limits");
  const from = partition * PARTITION_PLACES;
  return { from, to: from + PARTITION_PLACES - 1 };
}

/**
 * Takes a partition over: from here on, batches of every earlier owner are refused. Only an epoch
 * we heard of is ours; a request that comes late finds another epoch, and changes nothing. Rejects
 * with `Fenced` when others claim it all the time, or when it is not `owner`'s. No owner: whoever had
 * it, it is nobody's then.
 */
export async function raiseEpoch(
  client: SqlClient,
  partition: number,
  { owner, ...patience }: Patience & { readonly owner?: string | undefined },
): Promise<Lease> {
  for (let rivals = 0; rivals < RIVALS_MAX; rivals++) {
    const epoch = await insist(client, async () => {
      const [[before] = []] = await client.batch("read", [statement(EPOCH, partition)]);
      if (owner !== undefined && before?.["owner"] !== owner) throw new Fenced();
      const raise = statement(RAISE, partition, Number(before?.["epoch"] ?? 0), owner ?? null);
      const [[row] = []] = await client.batch("write", [raise]);
      return row?.["epoch"];
    }, patience);
    if (epoch !== undefined) return { partition, epoch: Number(epoch) };
  }
  throw new Fenced();
}

/**
 * Folds whatever an earlier owner left in the log, bit by bit; afterwards the tables are all there
 * is. May be cut short at any batch and be repeated. Rejects with `Fenced` when the lease is lost.
 */
export async function recover(
  client: SqlClient,
  { lease, courier }: { readonly lease: Lease; readonly courier: Courier },
  limits: FoldLimits & { readonly foldRowsMax: number; readonly foldBytesMax: number },
): Promise<void> {
  const { partition } = lease;
  const { from, to } = logPlaces(partition);
  let layer = new Layer();
  let after = from;
  while (true) {
    const page = statement(READ_LOG, after, to, PAGE_ROWS, PAGE_BYTES);
    const [rows = []] = await client.batch("read", [page]);
    for (const { place, rows: text, bytes } of rows) {
      replay({ rows: text as string, bytes: bytes as Uint8Array | null }, layer);
      after = place as number;
    }
    const isEnd = rows.length === 0;
    // A commit says things that are only true as a whole, so it is folded as a whole.
    const isWhole = rows.at(-1)?.["rest"] === 0;
    const isFull = layer.rows >= limits.foldRowsMax || layer.bytes >= limits.foldBytesMax;
    if (layer.rows > 0 && (isEnd || isFull && isWhole)) {
      await foldAll(courier, partition, { layer, through: after, limits });
      layer = new Layer();
    }
    if (isEnd) return;
  }
}

async function foldAll(
  courier: Courier,
  partition: number,
  { layer, through, limits }: { layer: Layer; through: number; limits: FoldLimits },
): Promise<void> {
  for (const batch of fold(layer, { ...limits, partition, recovered: true })) {
    await courier.write(batch);
  }
  const { from } = logPlaces(partition);
  await courier.write([statement(foldSql.logDrop, from, through)]);
}
