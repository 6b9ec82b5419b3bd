import { sql } from "kysely";
import { compile } from "../codec/sql_text.ts";

/**
 * The queries of a load. The keys are one JSON array (?1); column `n` is the index of the key to which
 * a row belongs. `cross join` keeps the keys in the outer loop. JSON is returned as bytes
 * (`fromUtf8`).
 */
export const loadSql = {
  invocation: compile(sql`
    select w.key as n, t.status, cast(t.body as blob) as body, t.output, t.large
    from json_each(?1) as w cross join invocation as t where t.id = w.value`),
  lock: compile(sql`
    select w.key as n, t.object, t.holder, t.head, t.tail
    from json_each(?1) as w cross join lock as t where t.object = w.value`),
  journal: compile(sql`
    select w.key as n, t.id, cast(t.entries as blob) as entries, t.bytes, t.large
    from json_each(?1) as w cross join journal as t where t.id = w.value`),
  journalItem: compile(sql`
    select w.key as n, t.id, cast(t.entries as blob) as entries, t.bytes, t.large
    from json_each(?1) as w cross join journal as t
    where t.id = w.value ->> 0 and t.first = (
      select max(first) from journal where id = w.value ->> 0 and first <= w.value ->> 1)`),
  event: compile(sql`
    select w.key as n, cast(t.body as blob) as body
    from json_each(?1) as w cross join event as t where t.id = w.value`),
  eventItem: compile(sql`
    select w.key as n, cast(t.body as blob) as body
    from json_each(?1) as w cross join event as t
    where t.id = w.value ->> 0 and t.seq = w.value ->> 1`),
  inbox: compile(sql`
    select w.key as n, t.object, t.seq, t.id, t.edit
    from json_each(?1) as w cross join inbox as t where t.object = w.value`),
  inboxItem: compile(sql`
    select w.key as n, t.object, t.seq, t.id, t.edit
    from json_each(?1) as w cross join inbox as t
    where t.object = w.value ->> 0 and t.seq = w.value ->> 1`),
  state: compile(sql`
    select w.key as n, t.object, t.name, t.value, t.large
    from json_each(?1) as w cross join state as t where t.object = w.value`),
  stateItem: compile(sql`
    select w.key as n, t.object, t.name, t.value, t.large
    from json_each(?1) as w cross join state as t
    where t.object = w.value ->> 0 and t.name = w.value ->> 1`),
  promise: compile(sql`
    select w.key as n, cast(t.body as blob) as body, t.value, t.large
    from json_each(?1) as w cross join promise as t where t.object = w.value`),
  promiseItem: compile(sql`
    select w.key as n, cast(t.body as blob) as body, t.value, t.large
    from json_each(?1) as w cross join promise as t
    where t.object = w.value ->> 0 and t.name = w.value ->> 1`),
  timer: compile(sql`
    select w.key as n, t.due, t.id, t.kind, t.idx
    from json_each(?1) as w cross join timer as t where t.id = w.value`),
  outbox: compile(sql`
    select w.key as n, t.peer, t.seq, cast(t.body as blob) as body, t.value, t.large
    from json_each(?1) as w cross join outbox as t where t.peer = w.value`),
  outboxItem: compile(sql`
    select w.key as n, t.peer, t.seq, cast(t.body as blob) as body, t.value, t.large
    from json_each(?1) as w cross join outbox as t
    where t.peer = w.value ->> 0 and t.seq = w.value ->> 1`),
  peer: compile(sql`
    select w.key as n, t.peer, t.sent, t.heard
    from json_each(?1) as w cross join peer as t where t.peer = w.value`),
  bucket: compile(sql`
    select w.key as n, t.counter, t.tokens, t.at, t.full_at
    from json_each(?1) as w cross join bucket as t where t.counter = w.value`),
  share: compile(sql`
    select w.key as n, cast(t.body as blob) as body
    from json_each(?1) as w cross join share as t where t.share = w.value`),
  bank: compile(sql`
    select w.key as n, cast(t.body as blob) as body
    from json_each(?1) as w cross join bank as t where t.counter = w.value`),
  source: compile(sql`
    select w.key as n, cast(t.body as blob) as body
    from json_each(?1) as w cross join source as t where t.source = w.value`),
};

/** The queries of a scan. ?1: the partition. The last parameter: how many rows. */
export const scanSql = {
  /** Invocations that hold slots, after ?2. */
  holders: compile(sql`
    select id, status, cast(body as blob) as body from (
      select id, status, body from invocation
      where partition = ?1 and status = 'invoked' and id > ?2
      union all
      select id, status, body from invocation
      where partition = ?1 and status = 'backingOff' and (body ->> '$.status.holds') = 1 and id > ?2)
    order by id limit ?3`),
  /** Invocations of subscriptions that are not completed, after ?2. */
  ingested: compile(sql`
    select id, subscription from invocation
    where partition = ?1 and subscription is not null and status <> 'completed' and id > ?2
    order by id limit ?3`),
  /** Invocations that owe a dead letter, after ?2. */
  letters: compile(sql`
    select id from invocation
    where partition = ?1 and status = 'paused' and subscription is not null
      and (body ->> '$.status.letterSince') is not null and id > ?2
    order by id limit ?3`),
  /** After (?2 queue, ?3 seq), up to queue ?4. */
  queued: compile(sql`
    select id, queue, queue_seq from invocation
    where partition = ?1 and status = 'queued' and (queue, queue_seq) > (?2, ?3) and queue <= ?4
    order by queue, queue_seq limit ?5`),
  /** After (?2 full_at, ?3 counter), up to ?4. */
  fullBuckets: compile(sql`
    select counter as id, full_at as time from bucket
    where partition = ?1 and (full_at, counter) > (?2, ?3) and full_at <= ?4
    order by full_at, counter limit ?5`),
  /** After (?2 expires_at, ?3 id), up to ?4. */
  expired: compile(sql`
    select id, expires_at as time from invocation
    where partition = ?1 and expires_at is not null and expires_at <= ?4
      and (expires_at, id) > (?2, ?3)
    order by expires_at, id limit ?5`),
  /** After (?2 due, ?3 id, ?4 kind and index). The first condition lets SQLite use the index. */
  timers: compile(sql`
    select due, id, kind, idx from timer
    where partition = ?1 and (due, id) >= (?2, ?3) and (due, id, kind || '/' || idx) > (?2, ?3, ?4)
    order by due, id, kind || '/' || idx limit ?5`),
  /** After (?1 peer, ?2 seq), of peers before ?3. */
  outbox: compile(sql`
    select peer, seq, cast(body as blob) as body, value, large from outbox
    where (peer, seq) > (?1, ?2) and peer < ?3 order by peer, seq limit ?4`),
  /** The status of every invocation after ?2. The plus keeps SQLite off indices of partitions. */
  scanStatuses: compile(sql`
    select id, status, service, handler from invocation
    where +partition = ?1 and id > ?2 order by id limit ?3`),
};
