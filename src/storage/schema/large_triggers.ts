import { BYTE_COLUMNS } from "./large_tables.ts";

const unused = `insert into large_unused select old.large ->> 0
  where not exists (select 1 from large_unused where id = old.large ->> 0);`;

/**
 * The triggers of `largeTables` once more: a part of a migration, so it is never edited. A row that is
 * replaced by an upsert gives its conflict policy to the statements of its triggers
 * (https://sqlite.org/lang_createtrigger.html), so that `or ignore` there is void: a fold that replaced two
 * rows with one value failed, each time that it was tried.
 */
export const largeTriggers: readonly string[] = BYTE_COLUMNS.flatMap(([table]) => [
  `drop trigger ${table}_large_replaced`,
  `drop trigger ${table}_large_dropped`,
  `create trigger ${table}_large_replaced after update of large on ${table}
    when old.large is not null and old.large is not new.large begin ${unused} end`,
  `create trigger ${table}_large_dropped after delete on ${table}
    when old.large is not null begin ${unused} end`,
]);
