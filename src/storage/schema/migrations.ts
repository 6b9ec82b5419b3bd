import { Failure } from "../../errors.ts";
import type { SqlClient, Statement } from "../../ports.ts";
import { largeTables } from "./large_tables.ts";
import { compile, statement } from "../codec/sql_text.ts";
import { sql } from "kysely";

/**
 * The durable layout, as numbered migrations: the first one makes format version 1, and so on.
 * A migration that was released is never edited; a change is a new one.
 *
 * Text columns are spelled by `safe_text.ts`. Generated columns cost nothing when a row is
 * written, and spare queries the JSON paths.
 */
export const migrations: readonly (readonly string[])[] = [[
  `create table lease (partition integer primary key, epoch integer not null)`,
  // Stays empty: a batch whose epoch is stale tries to insert 0, and so rolls back.
  `create table fence (held integer not null check (held = 1))`,
  // Commits that are not in the tables below yet. place: partition * 2^40 + sequence number.
  // rest: how many rows of the same commit follow. held: 1, or the epoch was stale.
  `create table log (
    place integer primary key,
    rest integer not null,
    rows text not null,
    bytes blob,
    held integer not null check (held = 1)
  )`,
  `create table invocation (
    id text primary key,
    partition integer not null,
    status text not null,
    expires_at integer,
    body text not null,
    output blob,
    service text as (body ->> '$.target.service') virtual,
    handler text as (body ->> '$.target.handler') virtual,
    key text as (body ->> '$.target.key') virtual,
    created_at integer as (body ->> '$.createdAt') virtual,
    modified_at integer as (body ->> '$.modifiedAt') virtual
  )`,
  `create index invocation_invoked on invocation (partition, id) where status = 'invoked'`,
  `create index invocation_expires on invocation (partition, expires_at, id)
    where expires_at is not null`,
  // One row per segment: consecutive entries, what they are as JSON, and their bytes in a row.
  `create table journal (
    id text not null,
    first integer not null,
    entries text not null,
    bytes blob not null,
    primary key (id, first)
  )`,
  `create table lock (
    object text primary key,
    holder text not null,
    head integer not null,
    tail integer not null
  ) without rowid`,
  `create table inbox (
    object text not null,
    seq integer not null,
    id text not null,
    primary key (object, seq)
  ) without rowid`,
  // Values may be large, and large rows are slow without a rowid.
  `create table state (
    object text not null,
    name text not null,
    value blob not null,
    primary key (object, name)
  )`,
  `create table timer (
    partition integer not null,
    due integer not null,
    id text not null,
    kind text not null,
    idx integer not null,
    primary key (partition, due, id, kind, idx)
  ) without rowid`,
  `create index timer_id on timer (id)`,
  `create table deployment (id text primary key, body text not null)`,
], [
  // Durable promises. result: of what kind it is, null while there is none.
  `create table promise (
    object text not null,
    name text not null,
    body text not null,
    value blob,
    service text as (substr(object, 1, instr(object, '/') - 1)) virtual,
    key text as (substr(object, instr(object, '/') + 1)) virtual,
    result text as (body ->> '$.result.kind') virtual,
    primary key (object, name)
  )`,
  // What is awaited became a tree, of which the flat form is the kind "unknown". The pattern has
  // bare quotes, so it is never a part of a string in the JSON.
  `update invocation set body = ${withKind("body")} where status = 'suspended'`,
  `update log set rows = ${withKind("rows")}`,
  // An operator's edit of an object's state that waits for its turn.
  `alter table inbox add column edit text`,
], [
  // step: batches other than commits that this epoch has written. folded: the last place of the log
  // that this epoch has folded. By these, a request that comes twice is known (decision 024).
  `alter table lease add column step integer not null default 0`,
  `alter table lease add column folded integer not null default 0`,
], [
  // What befell an invocation beside its journal, as JSON.
  `create table event (
    id text not null,
    seq integer not null,
    body text not null,
    at integer as (body ->> '$.at') virtual,
    kind text as (body ->> '$.kind') virtual,
    primary key (id, seq)
  )`,
], [
  // A column of its own, since lists are in its order: an index over a generated one would have the
  // JSON of a row read again with every change and at its end (decision 018).
  `alter table invocation drop column created_at`,
  `alter table invocation add column created_at integer`,
  `update invocation set created_at = body ->> '$.createdAt'`,
  `create index invocation_created on invocation (created_at)`,
  // The few of many that are not at their end.
  `create index invocation_open on invocation (status) where status <> 'completed'`,
], [
  // Messages on their way to other partitions. peer: from/to.
  `create table outbox (
    peer text not null,
    seq integer not null,
    body text not null,
    value blob,
    primary key (peer, seq)
  )`,
  `create table peer (
    peer text primary key,
    sent integer not null,
    heard integer not null
  ) without rowid`,
  // What was made before there could be several has one. What is made now says so itself.
  `insert or ignore into meta (name, value) select 'partitions', '1' from meta where name = 'format'`,
], [
  // The processes of a fleet: beat grows while one lives. owner: the one that has a partition, unless
  // it is not in the table any more (decision 032).
  `create table node (
    id text primary key,
    address text not null,
    beat integer not null
  ) without rowid`,
  `alter table lease add column owner text`,
  // Grows with every change of a deployment.
  `insert or ignore into meta (name, value) values ('deployments', '0')`,
], [
  // The checksum of a row (`log/check.ts`). Null: an earlier version wrote it, or a migration changed
  // it, which must set this to null.
  `alter table log add column sum integer`,
], [
  // Which of the other processes one cannot reach: their ids, with commas in between.
  `alter table node add column unreached text not null default ''`,
], largeTables];

function withKind(column: string): string {
  return `replace(${column}, '"awaiting":{"completions":',
    '"awaiting":{"kind":"unknown","completions":')`;
}

/** What `migrate` leaves behind: the number of all migrations. */
export const FORMAT_VERSION = migrations.length;

const texts = {
  tables: compile(sql`select name from sqlite_master where type = 'table'
    and substr(name, 1, 7) <> 'sqlite_' and substr(name, 1, 1) <> '_'`),
  makeMeta: compile(sql`create table if not exists meta (name text primary key, value text)`),
  version: compile(sql`select value from meta where name = 'format'`),
  setVersion: compile(sql`insert into meta (name, value) values ('format', ?1)
    on conflict (name) do update set value = excluded.value`),
};

/**
 * Brings a database to the current layout; an empty one is filled. One batch: it happens whole or
 * not at all. Of several processes on one server, one does it.
 *
 * Throws `Failure` RT0009 when there are tables but no format version, META0010 when a newer
 * version of this server made them.
 */
export async function migrate(client: SqlClient): Promise<void> {
  const version = await readVersion(client);
  if (version > FORMAT_VERSION) {
    throw new Failure(
      "META0010",
      `Cannot open the database: its format is ${version}, this server knows ${FORMAT_VERSION}`,
    );
  }
  if (version === FORMAT_VERSION) return;
  const steps: Statement[] = migrations.slice(version).flat().map((text) => statement(text));
  try {
    await client.batch("write", [
      statement(texts.makeMeta),
      ...steps,
      statement(texts.setVersion, String(FORMAT_VERSION)),
    ]);
  } catch (cause) {
    // Another process was quicker, or it was us and the answer was lost.
    if (await readVersion(client) !== FORMAT_VERSION) throw cause;
  }
}

/** The format version of a database; 0 when it is empty. */
async function readVersion(client: SqlClient): Promise<number> {
  const [tables = []] = await client.batch("read", [statement(texts.tables)]);
  if (tables.length === 0) return 0;
  if (!tables.some(({ name }) => name === "meta")) {
    throw new Failure("RT0009", "Cannot open the database: it holds tables of somebody else");
  }
  const [[row] = []] = await client.batch("read", [statement(texts.version)]);
  return Number(row?.["value"] ?? 0);
}
