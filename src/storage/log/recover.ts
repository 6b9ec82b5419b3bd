import { sql } from "kysely";
import { assert } from "../../assert.ts";
import { Failure } from "../../errors.ts";
import { Fenced, type Lease, type SqlClient, type SqlRow } from "../../ports.ts";
import type { FencedWriter } from "./fenced_writer.ts";
import { fold, type FoldLimits } from "../fold/fold.ts";
import { foldSql } from "../fold/sql.ts";
import { Layer } from "../overlay/layer.ts";
import { type CheckedRow, LogChecker } from "./check.ts";
import { keysIn, type LargeBytes, largeIn, replay } from "./records.ts";
import { partOf } from "../codec/large_ref.ts";
import { DamagedValue, type FoundValues, readValues } from "../large/read.ts";
import { dropOrphans, findOrphans } from "../large/unused.ts";
import { type RetryLimits, withRetries } from "../retry.ts";
import { compile, statement } from "../codec/sql_text.ts";

/** Places of one partition in the log: enough for decades of commits. */
const PARTITION_PLACES = 2 ** 40;
/** Partitions with their own range of places: beyond it a place is not a safe integer. */
const LOGS_MAX = 2 ** 13;
/** Limits of one read. It returns at least one row, which may be larger. */
const PAGE_ROWS = 64;
const PAGE_BYTES = 16 * 1024 * 1024;

/** Keys of lost rows that a report names. */
const KEYS_MAX = 500;

/** How often a claim is repeated because another one raised the epoch meanwhile. */
const CONFLICTS_MAX = 100;

const EPOCH = compile(sql`select epoch, owner from lease where partition = ?1`);
/** Returns no row if another claim, or a duplicate of this one, has raised the epoch from ?2. */
const RAISE = compile(sql`
  insert into lease (partition, epoch) values (?1, 1)
  on conflict (partition) do update set epoch = epoch + 1, step = 0, folded = 0, owner = ?3
  where epoch = ?2 and (?3 is null or owner = ?3) returning epoch`);
/** Selects a page by the sizes of its rows, which SQLite knows without reading their content. */
const READ_LOG = compile(sql`
  with page as (
    select place, octet_length(rows) + coalesce(octet_length(bytes), 0) as size
    from log where place > ?1 and place <= ?2 order by place limit ?3),
  pile as (select place, size, sum(size) over (order by place) as height from page)
  select log.place, log.rest, cast(log.rows as blob) as rows, log.bytes, log.sum
  from pile cross join log on log.place = pile.place
  where pile.height <= ?4 or pile.height = pile.size order by log.place`);

/** The places in the log that belong to a partition: greater than `from`, up to `to`. */
export function logPlaces(partition: number): { readonly from: number; readonly to: number } {
  assert(partition >= 0 && partition < LOGS_MAX, "A partition has a number within limits");
  const from = partition * PARTITION_PLACES;
  return { from, to: from + PARTITION_PLACES - 1 };
}

/**
 * Claims a partition by raising its epoch: from then on, writes of every earlier owner are refused.
 * Only an epoch that was returned counts as claimed; a delayed duplicate of the request finds another
 * epoch and changes nothing. Rejects with `Fenced` when other processes claim it again and again, or
 * when the membership gives it to another member than `owner`. Without `owner` (no fleet), the claim
 * replaces any earlier lease and clears the owner.
 */
export async function raiseEpoch(
  client: SqlClient,
  partition: number,
  { owner, ...retry }: RetryLimits & { readonly owner?: string | undefined },
): Promise<Lease> {
  for (let conflicts = 0; conflicts < CONFLICTS_MAX; conflicts++) {
    const epoch = await withRetries(client, async () => {
      const [[before] = []] = await client.batch("read", [statement(EPOCH, partition)]);
      if (owner !== undefined && before?.["owner"] !== owner) throw new Fenced();
      const raise = statement(RAISE, partition, Number(before?.["epoch"] ?? 0), owner ?? null);
      const [[row] = []] = await client.batch("write", [raise]);
      return row?.["epoch"];
    }, retry);
    if (epoch !== undefined) return { partition, epoch: Number(epoch) };
  }
  throw new Fenced();
}

/** Commits that were dropped because the log is damaged. */
export interface Loss {
  readonly partition: number;
  /** The damage of the first of them. */
  readonly problem: string;
  /** How many rows of the log were dropped. */
  readonly rows: number;
  /** Tables and groups of their writes, as far as they can be read: up to `KEYS_MAX`. */
  readonly keys: readonly string[];
}

export interface RecoverLimits extends FoldLimits {
  readonly foldRowsMax: number;
  readonly foldBytesMax: number;
  /** Present: the first damaged commit and all later ones are dropped, and reported here. */
  readonly acceptLoss?: ((loss: Loss) => void) | undefined;
}

/** Pages of one partition's log, in order. The last one is empty. */
export async function* readLog(
  client: SqlClient,
  partition: number,
): AsyncGenerator<readonly SqlRow[]> {
  const { from, to } = logPlaces(partition);
  let after = from;
  for (;;) {
    const page = statement(READ_LOG, after, to, PAGE_ROWS, PAGE_BYTES);
    const [rows = []] = await client.batch("read", [page]);
    yield rows;
    if (rows.length === 0) return;
    after = rows.at(-1)?.["place"] as number;
  }
}

/**
 * Folds the log that an earlier owner left, page by page; afterwards the log is empty and the tables
 * are complete. It may be interrupted at any batch and repeated. Rejects with `Fenced` when the lease
 * is lost, and with `Failure` RT0028 at the first damaged row, unless loss is accepted: then the
 * commit of that row and all later ones are dropped, since later commits build upon earlier ones.
 */
export async function recover(
  client: SqlClient,
  { lease, writer }: { readonly lease: Lease; readonly writer: FencedWriter },
  limits: RecoverLimits,
): Promise<void> {
  const { partition } = lease;
  let layer = new Layer();
  /** Rows of a commit whose last row has not been read yet: a commit is folded as a whole. */
  const open: ReadRow[] = [];
  let through = logPlaces(partition).from;
  for await (const { rows, sound, damage } of checkedLog(client, partition)) {
    for (const row of sound) {
      open.push(row);
      if (row.rest !== 0) continue;
      for (const one of open.splice(0)) replay(one, layer, one.values);
      through = row.place;
    }
    const isEnd = rows.length === 0 || damage !== undefined;
    const isFull = layer.rows >= limits.foldRowsMax || layer.bytes >= limits.foldBytesMax;
    if (layer.rows > 0 && (isEnd || isFull)) {
      await foldAll(writer, partition, { layer, through, limits });
      layer = new Layer();
    }
    if (!damage) continue;
    const { acceptLoss } = limits;
    if (!acceptLoss) throw damaged(partition, damage);
    acceptLoss(await giveUp(client, writer, { partition, through, damage }));
    break;
  }
  const [[orphan] = []] = await client.batch("read", [findOrphans(partition)]);
  if (orphan) await writer.write(dropOrphans(partition));
}

/** A row of the log, and the large values to which it refers. */
export interface ReadRow extends CheckedRow {
  readonly values: LargeBytes;
}

/** A page of the log up to the first damaged row. */
interface CheckedPage {
  /** All rows of the page, as they were read. The last page is empty. */
  readonly rows: readonly SqlRow[];
  readonly sound: readonly ReadRow[];
  readonly damage?: Damage | undefined;
}

/**
 * Pages of one partition's log with their large values, checked, up to the end or the first damage. A
 * large value that is missing or damaged counts as damage of the row that refers to it.
 */
export async function* checkedLog(
  client: SqlClient,
  partition: number,
): AsyncGenerator<CheckedPage> {
  const checker = new LogChecker();
  for await (const rows of readLog(client, partition)) {
    const { sound, damage } = checkPage(checker, rows);
    const read: ReadRow[] = [];
    // A log has no more of them than memory may hold: a fold begins when the rows of commits, with
    // their values, have reached a limit.
    const found = await readValues(client, sound.flatMap((row) => largeIn(row)));
    for (const row of sound) {
      const values = valuesOf(found, row);
      if (values instanceof DamagedValue) {
        return yield { rows, sound: read, damage: { place: row.place, problem: values.message } };
      }
      read.push({ ...row, values });
    }
    yield { rows, sound: read, damage };
    if (damage) return;
  }
}

function valuesOf(found: FoundValues, row: CheckedRow): LargeBytes | DamagedValue {
  const values = new Map<string, Uint8Array>();
  for (const ref of largeIn(row)) {
    const { id } = ref;
    const value = found.get(id);
    if (value instanceof DamagedValue) return value;
    if (!value || !partOf(value, ref)) return new DamagedValue(id, "its last bytes are missing");
    values.set(id, value);
  }
  return values;
}

/** The first damaged row of the log, and its problem. */
export interface Damage {
  readonly place: number;
  readonly problem: string;
}

/** Checks a page of the log, or its end when the page is empty. `sound`: the rows before the damage. */
function checkPage(
  checker: LogChecker,
  rows: readonly SqlRow[],
): { readonly sound: readonly CheckedRow[]; readonly damage?: Damage } {
  const sound: CheckedRow[] = [];
  for (const row of rows) {
    const checked = checker.check(row);
    if (typeof checked === "string") {
      return { sound, damage: { place: checker.place, problem: checked } };
    }
    sound.push(checked);
  }
  const problem = rows.length === 0 ? checker.endProblem() : undefined;
  return problem === undefined ? { sound } : { sound, damage: { place: checker.place, problem } };
}

/** RT0028, with the number of the row within its partition's log. */
export function damaged(partition: number, { place, problem }: Damage): Failure {
  const row = place - logPlaces(partition).from;
  return new Failure(
    "RT0028",
    `Cannot read row ${row} of the log of partition ${partition}: ${problem}`,
  );
}

/** Drops the log after the place `through`, the last whole commit. Returns what was lost. */
async function giveUp(
  client: SqlClient,
  writer: FencedWriter,
  { partition, through, damage }: {
    readonly partition: number;
    readonly through: number;
    readonly damage: Damage;
  },
): Promise<Loss> {
  const keys = new Set<string>();
  let gone = 0;
  for await (const rows of readLog(client, partition)) {
    for (const row of rows) {
      if (row["place"] as number <= through) continue;
      gone++;
      for (const key of keysIn(row["rows"])) if (keys.size < KEYS_MAX) keys.add(key);
    }
  }
  await writer.write([statement(foldSql.logDrop, through, logPlaces(partition).to)]);
  return { partition, problem: damage.problem, rows: gone, keys: [...keys] };
}

async function foldAll(
  writer: FencedWriter,
  partition: number,
  { layer, through, limits }: { layer: Layer; through: number; limits: FoldLimits },
): Promise<void> {
  for (const batch of fold(layer, { ...limits, partition, recovered: true })) {
    await writer.write(batch);
  }
  const { from } = logPlaces(partition);
  await writer.write([statement(foldSql.logDrop, from, through)]);
}
