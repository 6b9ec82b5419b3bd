import { Failure } from "../../errors.ts";
import type { SqlClient, Statement } from "../../ports.ts";
import { largeTables } from "./large_tables.ts";
import { largeTriggers } from "./large_triggers.ts";
import { compile, statement } from "../codec/sql_text.ts";
import { sql } from "kysely";

/**
 * The durable layout, as numbered migrations: the first one makes format version 1, and so on.
 * A migration that was released is never edited; a change is a new one.
 *
 * Text columns have the spelling of `safe_text.ts`. Generated columns cost nothing when a row is
 * written, and let queries do without JSON paths.
 */
export const migrations: readonly (readonly string[])[] = [
  [
    `create table lease (partition integer primary key, epoch integer not null)`,
    // Always empty: a batch with a stale epoch inserts 0, which fails, and so is rolled back.
    `create table fence (held integer not null check (held = 1))`,
    // The write-ahead log: commits that are not folded. place: partition * 2^40 + sequence number.
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
    // One row per segment: consecutive entries as JSON, and their bytes, concatenated.
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
  ],
  [
    // Durable promises. result: the kind of the result, null while there is none.
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
    // Awaited notifications became a tree, in which the flat form is the kind "unknown". The pattern
    // has bare quotes, so it never matches within a string of the JSON.
    `update invocation set body = ${withKind("body")} where status = 'suspended'`,
    `update log set rows = ${withKind("rows")}`,
    // An operator's edit of an object's state that waits for its turn.
    `alter table inbox add column edit text`,
  ],
  [
    // step: batches other than commits that this epoch has written. folded: the last place of the log
    // that this epoch has folded. They identify a duplicate of a request (decision 024).
    `alter table lease add column step integer not null default 0`,
    `alter table lease add column folded integer not null default 0`,
  ],
  [
    // Events of an invocation that are not in its journal, such as failures, as JSON.
    `create table event (
    id text not null,
    seq integer not null,
    body text not null,
    at integer as (body ->> '$.at') virtual,
    kind text as (body ->> '$.kind') virtual,
    primary key (id, seq)
  )`,
  ],
  [
    // A stored column, because lists are ordered by it: with an index over a generated column SQLite
    // reads the JSON of a row at every change and at its deletion (decision 018).
    `alter table invocation drop column created_at`,
    `alter table invocation add column created_at integer`,
    `update invocation set created_at = body ->> '$.createdAt'`,
    `create index invocation_created on invocation (created_at)`,
    // Invocations that are not completed: few of many.
    `create index invocation_open on invocation (status) where status <> 'completed'`,
  ],
  [
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
    // Installations of earlier versions have one partition. A new one records its number itself.
    `insert or ignore into meta (name, value) select 'partitions', '1' from meta where name = 'format'`,
  ],
  [
    // The members of a fleet; each heartbeat raises beat. owner: the member that owns a partition, if it
    // is still in table node (decision 032).
    `create table node (
    id text primary key,
    address text not null,
    beat integer not null
  ) without rowid`,
    `alter table lease add column owner text`,
    // The version of the deployments: every change raises it.
    `insert or ignore into meta (name, value) values ('deployments', '0')`,
  ],
  [
    // The checksum of a row (`log/check.ts`). Null: an earlier version wrote it, or a migration changed
    // it, which must set this to null.
    `alter table log add column sum integer`,
  ],
  [
    // The ids of the members that this one cannot reach, separated by commas.
    `alter table node add column unreached text not null default ''`,
  ],
  largeTables,
  [
    // Waiting for limits (decision 050). Both are null unless the status is queued.
    `alter table invocation add column queue text as (body ->> '$.status.queue') virtual`,
    `alter table invocation add column queue_seq integer as (body ->> '$.status.seq') virtual`,
    `create index invocation_queued on invocation (partition, queue, queue_seq)
    where status = 'queued'`,
    // Backing off, with slots that stay taken.
    `create index invocation_holding on invocation (partition, id)
    where status = 'backingOff' and (body ->> '$.status.holds') = 1`,
    // Token buckets that are not full. tokens: in millionths. full_at: when it is full again.
    `create table bucket (
    counter text primary key,
    partition integer not null,
    tokens integer not null,
    at integer not null,
    full_at integer not null
  ) without rowid`,
    `create index bucket_full on bucket (partition, full_at, counter)`,
    // What operators have limited: the rule book, and what is set of services, deployments, queues.
    `create table rule (pattern text primary key, body text not null) without rowid`,
    `create table control (
    kind text not null,
    name text not null,
    body text not null,
    primary key (kind, name)
  ) without rowid`,
    // The version of the rule book.
    `insert or ignore into meta (name, value) values ('rules', '0')`,
  ],
  [
    // The version of the rule book is a row of control, so that it is moved with the rules.
    `delete from meta where name = 'rules'`,
  ],
  [
    // Counters that all partitions share (decision 051). share: partition/counter.
    `create table share (share text primary key, body text not null) without rowid`,
    `create table bank (counter text primary key, body text not null) without rowid`,
  ],
  [
    // How far records of Kafka have become invocations (decision 052). source: `sourceOf`.
    `create table source (source text primary key, body text not null) without rowid`,
    // The subscription that made an invocation. A stored column, as `created_at` is.
    `alter table invocation add column subscription text`,
    `create index invocation_ingested on invocation (partition, id, subscription)
    where subscription is not null and status <> 'completed'`,
  ],
  [
    // What the sidecars of Kafka have reported last. Without a subscription: when a sidecar did.
    `create table kafka_report (
    member text not null,
    subscription text not null,
    at integer not null,
    body text not null,
    primary key (member, subscription)
  )`,
  ],
  [
    // Invocations of records that owe a dead letter (decision 053), among those that are paused.
    `create index invocation_letters on invocation (partition, id)
    where status = 'paused' and subscription is not null`,
  ],
  [
    // What clients did through the admin API (decision 061). Ids sort by time.
    `create table audit (id text primary key, body text not null) without rowid`,
  ],
  largeTriggers,
];

function withKind(column: string): string {
  return `replace(${column}, '"awaiting":{"completions":',
    '"awaiting":{"kind":"unknown","completions":')`;
}

/** The format version after `migrate`: the number of all migrations. */
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
 * Migrates a database, also an empty one, to the current format, in one transaction. Of several
 * processes that start at once, one does it.
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
    // Another process has migrated it, or this one has and the response was lost.
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
