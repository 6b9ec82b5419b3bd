import { sql } from "kysely";
import type { Statement } from "../../ports.ts";
import { compile, statement } from "../codec/sql_text.ts";
import { BYTE_COLUMNS } from "../schema/large_tables.ts";

/** References of all tables, as a list of ids. */
const REFERRED = BYTE_COLUMNS.map(([table]) =>
  `select large ->> 0 from ${table} where large is not null`
).join(" union all ");
/** `+`: compared with a column of texts, an index of an expression is walked through from end to end. */
const IS_REFERRED = BYTE_COLUMNS.map(([table]) =>
  `exists (select 1 from ${table} where large is not null and large ->> 0 = +large_unused.id)`
).join(" or ");

/** What precedes the id of a value that is deleted soon: no partition begins with it. */
const DEAD = "!";

/** ?1 and ?2: a range of ids, without the upper one. */
const texts = {
  give: compile(sql`insert or ignore into large_unused select value from json_each(?1)`),
  /** ?3: ids to which later commits may refer. */
  condemn: compile(sql`update or replace large_unused set id = '!' || id
    where id >= ?1 and id < ?2 and id not in (select value from json_each(?3))
    and not (${sql.raw(IS_REFERRED)})`),
  acquit: compile(sql`delete from large_unused
    where id >= ?1 and id < ?2 and id not in (select value from json_each(?3))`),
  /** ?3: how many values. */
  dropDead: compile(sql`delete from large_piece where id in (
    select substr(id, 2) from large_unused where id >= ?1 and id < ?2 order by id limit ?3)`),
  forgetDead: compile(sql`delete from large_unused where id in (
    select id from large_unused where id >= ?1 and id < ?2 order by id limit ?3)`),
  forgetAll: compile(sql`delete from large_unused where id >= ?1 and id < ?2`),
  orphans: compile(sql`select 1 from large_piece
    where id >= ?1 and id < ?2 and id not in (${sql.raw(REFERRED)}) limit 1`),
  dropOrphans: compile(sql`delete from large_piece
    where id >= ?1 and id < ?2 and id not in (${sql.raw(REFERRED)})`),
};

export interface Candidates {
  /** Values to which no row of the tables and no unfolded commit refers. */
  readonly given: readonly string[];
  /** Values to which later commits may refer. */
  readonly kept: readonly string[];
}

/**
 * Statements that decide which values `drop` deletes: those of `given`, and those that a row of the
 * tables ceased to refer to, unless another row does. They belong into the first batch of a fold: reads
 * that may follow a reference which has gone before it have ended by then.
 */
export function condemn(partition: number, { given, kept }: Candidates): Statement[] {
  const ids = JSON.stringify(kept);
  const [from, to] = idsOf(partition);
  return [
    ...given.length > 0 ? [statement(texts.give, JSON.stringify(given))] : [],
    statement(texts.condemn, from, to, ids),
    statement(texts.acquit, from, to, ids),
  ];
}

/** Deletes values that `condemn` chose, `count` at most. May run at any later time. */
export function dropCondemned(partition: number, count: number): Statement[] {
  const [from, to] = idsOf(partition, DEAD);
  return [
    statement(texts.dropDead, from, to, count),
    statement(texts.forgetDead, from, to, count),
  ];
}

/** Selects one row if there are values of a partition to which no row of the tables refers. */
export function findOrphans(partition: number): Statement {
  return statement(texts.orphans, ...idsOf(partition));
}

/** Deletes these values. The log of the partition must be empty, since its rows refer to values, too. */
export function dropOrphans(partition: number): Statement[] {
  return [
    statement(texts.dropOrphans, ...idsOf(partition)),
    statement(texts.forgetAll, ...idsOf(partition)),
    statement(texts.forgetAll, ...idsOf(partition, DEAD)),
  ];
}

/** The range of ids of a partition, without the upper one: "0" is the character after "/". */
function idsOf(partition: number, mark = ""): [string, string] {
  return [`${mark}${partition}/`, `${mark}${partition}0`];
}
