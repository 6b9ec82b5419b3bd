import { objectOfInvocation } from "./object_name.ts";

/**
 * The place of every invocation that waits for limits in its queue. SQLite makes it once for a statement,
 * which for 100,000 takes a tenth of a second: to count those before each one would take minutes.
 */
const PLACES = `(select q.id, row_number() over
  (partition by q.partition, q.queue order by q.queue_seq) as place
  from invocation as q where q.status = 'queued')`;

/** The place of the invocation `t` in the queue where it waits, from 1 on, as SQL. */
export const QUEUE_PLACE = `case t.status
  when 'queued' then (select p.place from ${PLACES} as p where p.id = t.id)
  when 'inboxed' then (select (t.body ->> '$.status.seq') - k.head + 1 from lock as k
    where k.object = ${objectOfInvocation}) end`;
