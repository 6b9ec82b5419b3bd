/** The tables that have bytes, and the columns in which these are. */
export const BYTE_COLUMNS = [
  ["invocation", "output"],
  ["journal", "bytes"],
  ["state", "value"],
  ["promise", "value"],
  ["outbox", "value"],
] as const;

/** The other columns of these tables that the views show. */
const OTHER_COLUMNS = {
  invocation: "id, partition, status, expires_at, body, service, handler, key, modified_at, " +
    "created_at",
  journal: "id, first, entries",
  state: "object, name",
  promise: "object, name, body, service, key, result",
  outbox: "peer, seq, body",
};

/**
 * The tables of large values (`large/values.ts`): a part of a migration, so it is never edited. A value
 * is stored once, in pieces, before the commit that holds it. Rows then have a reference in `large` and
 * no bytes: JSON `[id, from, size]`, where `from` is the first byte of the value that belongs to the
 * row, counted from 0.
 */
export const largeTables: readonly string[] = [
  // id: partition/epoch/number.
  `create table large_piece (
    id text not null,
    seq integer not null,
    bytes blob not null,
    sum integer not null,
    held integer not null check (held = 1),
    primary key (id, seq)
  )`,
  // Values of which a row has dropped its reference. Other rows may still refer to them.
  `create table large_unused (id text primary key) without rowid`,
  ...BYTE_COLUMNS.flatMap(([table]) => [
    `alter table ${table} add column large text`,
    `create index ${table}_large on ${table} (large ->> 0) where large is not null`,
    `create trigger ${table}_large_replaced after update of large on ${table}
      when old.large is not null and old.large is not new.large
      begin insert or ignore into large_unused values (old.large ->> 0); end`,
    `create trigger ${table}_large_dropped after delete on ${table} when old.large is not null
      begin insert or ignore into large_unused values (old.large ->> 0); end`,
  ]),
  ...BYTE_COLUMNS.map(([table, bytes]) => wholeView(table, bytes)),
];

/** A table, with the bytes of its large values, and their size without reading them. */
function wholeView(table: keyof typeof OTHER_COLUMNS, bytes: string): string {
  return `create view whole_${table} as select ${OTHER_COLUMNS[table]},
    case when large is null then ${bytes} else (
      select substr(cast(group_concat(p.bytes, '') as blob), 1 + (large ->> 1), large ->> 2)
      from (select bytes from large_piece where id = large ->> 0 order by seq) as p
    ) end as ${bytes},
    coalesce(large ->> 2, octet_length(${bytes})) as size
    from ${table}`;
}
