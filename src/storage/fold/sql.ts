import { sql } from "kysely";
import { compile } from "../codec/sql_text.ts";

/**
 * The queries of a fold. Rows are passed as one JSON array (?1); long texts (?2) and bytes (?3) are a
 * blob each, and the array has their positions and sizes. It is the only bulk form that every SQLite
 * service accepts (docs/spec/storage-layout.md#folded-rows). Text in a blob costs a third of text in
 * JSON.
 */
export const foldSql = {
  invocationPut: compile(sql`
    insert into invocation (id, partition, status, expires_at, created_at, body, output, large,
      subscription)
    select value ->> 0, ?4, value ->> 1, value ->> 2, value ->> 3,
      cast(substr(?2, value ->> 4, value ->> 5) as text), substr(?3, value ->> 6, value ->> 7),
      value ->> 8, value ->> 9
    from json_each(?1) where true
    on conflict (id) do update set status = excluded.status, expires_at = excluded.expires_at,
      created_at = excluded.created_at, body = excluded.body, output = excluded.output,
      large = excluded.large, subscription = excluded.subscription`),
  invocationDrop: compile(sql`
    delete from invocation where id in (select value from json_each(?1))`),

  journalPut: compile(sql`
    insert into journal (id, first, entries, bytes, large)
    select value ->> 0, value ->> 1,
      cast(substr(?2, value ->> 2, value ->> 3) as text), substr(?3, value ->> 4, value ->> 5),
      value ->> 6
    from json_each(?1) where true
    on conflict (id, first) do update set entries = excluded.entries, bytes = excluded.bytes,
      large = excluded.large`),
  journalDrop: compile(sql`
    delete from journal where id in (select value from json_each(?1))`),
  journalCut: compile(sql`
    delete from journal where rowid in (
      select j.rowid from json_each(?1) as w cross join journal as j
      where j.id = w.value ->> 0 and j.first >= w.value ->> 1)`),

  eventPut: compile(sql`
    insert or replace into event (id, seq, body)
    select value ->> 'id', value ->> 'seq', value from json_each(?1)`),
  eventDrop: compile(sql`
    delete from event where (id, seq) in (
      select value ->> 0, value ->> 1 from json_each(?1))`),

  lockPut: compile(sql`
    insert or replace into lock (object, holder, head, tail)
    select value ->> 'object', value ->> 'holder', value ->> 'head', value ->> 'tail'
    from json_each(?1)`),
  lockDrop: compile(sql`
    delete from lock where object in (select value ->> 0 from json_each(?1))`),

  inboxPut: compile(sql`
    insert or replace into inbox (object, seq, id, edit)
    select value ->> 'object', value ->> 'seq', value ->> 'id', value ->> 'edit'
    from json_each(?1)`),
  inboxDrop: compile(sql`
    delete from inbox where (object, seq) in (
      select value ->> 0, value ->> 1 from json_each(?1))`),

  statePut: compile(sql`
    insert into state (object, name, value, large)
    select value ->> '$[0].object', value ->> '$[0].name',
      coalesce(substr(?2, value ->> 1, value ->> 2), x''), value ->> 3
    from json_each(?1) where true
    on conflict (object, name) do update set value = excluded.value, large = excluded.large`),
  stateDrop: compile(sql`
    delete from state where (object, name) in (
      select value ->> 0, value ->> 1 from json_each(?1))`),

  promisePut: compile(sql`
    insert into promise (object, name, body, value, large)
    select value ->> '$[0].object', value ->> '$[0].name', value -> '$[0]',
      substr(?2, value ->> 1, value ->> 2), value ->> 3
    from json_each(?1) where true
    on conflict (object, name) do update set body = excluded.body, value = excluded.value,
      large = excluded.large`),
  promiseDrop: compile(sql`
    delete from promise where (object, name) in (
      select value ->> 0, value ->> 1 from json_each(?1))`),

  timerPut: compile(sql`
    insert or replace into timer (partition, due, id, kind, idx)
    select ?2, value ->> 'due', value ->> 'id', value ->> 'kind', value ->> 'index'
    from json_each(?1)`),
  timerDrop: compile(sql`
    delete from timer where (partition, due, id, kind, idx) in (
      select ?2, value ->> 1, value ->> 0, value ->> 2, value ->> 3 from json_each(?1))`),

  outboxPut: compile(sql`
    insert into outbox (peer, seq, body, value, large)
    select (value ->> '$[0].from') || '/' || (value ->> '$[0].to'), value ->> '$[0].seq',
      value -> '$[0].message', substr(?2, value ->> 1, value ->> 2), value ->> 3
    from json_each(?1) where true
    on conflict (peer, seq) do update set body = excluded.body, value = excluded.value,
      large = excluded.large`),
  outboxDrop: compile(sql`
    delete from outbox where (peer, seq) in (
      select value ->> 0, value ->> 1 from json_each(?1))`),

  peerPut: compile(sql`
    insert or replace into peer (peer, sent, heard)
    select (value ->> 'from') || '/' || (value ->> 'to'), value ->> 'sent', value ->> 'heard'
    from json_each(?1)`),
  peerDrop: compile(sql`
    delete from peer where peer in (select value ->> 0 from json_each(?1))`),

  bucketPut: compile(sql`
    insert or replace into bucket (counter, partition, tokens, at, full_at)
    select value ->> 'counter', ?2, value ->> 'tokens', value ->> 'at', value ->> 'fullAt'
    from json_each(?1)`),
  bucketDrop: compile(sql`
    delete from bucket where counter in (select value ->> 0 from json_each(?1))`),

  sharePut: compile(sql`
    insert or replace into share (share, body)
    select (value ->> 'partition') || '/' || (value ->> 'counter'), value from json_each(?1)`),
  shareDrop: compile(sql`
    delete from share where share in (select value ->> 0 from json_each(?1))`),

  bankPut: compile(sql`
    insert or replace into bank (counter, body)
    select value ->> 'counter', value from json_each(?1)`),
  bankDrop: compile(sql`
    delete from bank where counter in (select value ->> 0 from json_each(?1))`),

  sourcePut: compile(sql`
    insert or replace into source (source, body)
    select (value ->> 'home') || '/' || (value ->> '$.source.subscription') || '/' ||
      (value ->> '$.source.partition') || '/' || (value ->> '$.source.topic') || '/' ||
      (value ->> '$.source.group'), value
    from json_each(?1)`),
  sourceDrop: compile(sql`
    delete from source where source in (select value ->> 0 from json_each(?1))`),

  /** Deletes the rows of the log after place ?1, up to place ?2. */
  logDrop: compile(sql`delete from log where place > ?1 and place <= ?2`),
  logFolded: compile(sql`update lease set folded = ?2 where partition = ?1`),
};
