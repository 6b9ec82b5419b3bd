import { sql } from "kysely";
import type { KafkaStore } from "../kafka_port.ts";
import type { SubscriptionReport } from "../model/kafka.ts";
import type { SqlClient, SqlRow } from "../ports.ts";
import { fromJson, fromSafe, toJson, toSafe } from "./codec/safe_text.ts";
import { compile, statement } from "./codec/sql_text.ts";
import { type RetryLimits, withRetries } from "./retry.ts";

const KEEP_TOKEN = compile(
  sql`insert or ignore into meta (name, value) values ('kafka-token', ?1)`,
);
const TOKEN = compile(sql`select value from meta where name = 'kafka-token'`);
const REPORTS = compile(sql`select r.member, m.at, r.body from kafka_report as r
  join kafka_report as m on m.member = r.member and m.subscription = ''
  where r.subscription <> '' order by r.subscription, r.member`);
const REPORTS_OF = compile(sql`select r.member, m.at, r.body from kafka_report as r
  join kafka_report as m on m.member = r.member and m.subscription = ''
  where r.subscription = ?1 order by r.member`);
const FORGET = compile(sql`delete from kafka_report where member in (
  select member from kafka_report where subscription = '' and at < ?1)`);
const KEEP_ONLY = compile(sql`delete from kafka_report where member = ?1
  and subscription <> '' and subscription not in (select value from json_each(?2))`);
/** Only what differs is written. */
const SAVE = compile(sql`insert into kafka_report (member, subscription, at, body)
  select ?1, value ->> 0, ?2, value ->> 1 from json_each(?3) where true
  on conflict (member, subscription) do update set at = excluded.at, body = excluded.body
  where body <> excluded.body`);
const HEARD = compile(sql`insert into kafka_report (member, subscription, at, body)
  values (?1, '', ?2, '{}')
  on conflict (member, subscription) do update set at = max(at, excluded.at)`);

/**
 * The reports of sidecars in the first database of an installation, which `migrate` has prepared. Lost
 * requests are retried with `retry`: each of them does the same when it is repeated.
 */
export function sqlKafkaStore(
  client: SqlClient,
  retry: RetryLimits = { retryMs: 0 },
): KafkaStore {
  const batch = (mode: "read" | "write", ...statements: Parameters<SqlClient["batch"]>[1]) =>
    withRetries(client, () => client.batch(mode, statements), retry);
  return {
    async token(fresh) {
      const [, [row] = []] = await batch("write", statement(KEEP_TOKEN, fresh), statement(TOKEN));
      return String(row?.["value"]);
    },
    async reports(subscription) {
      const asked = subscription === undefined
        ? statement(REPORTS)
        : statement(REPORTS_OF, toSafe(subscription));
      const [rows = []] = await batch("read", asked);
      return rows.map(readReport);
    },
    async save(member, { all, at }, forgottenAt) {
      const name = toSafe(member);
      const rows = all.map((one) => [toSafe(one.id), toJson(one)]);
      await batch(
        "write",
        statement(FORGET, forgottenAt),
        statement(KEEP_ONLY, name, JSON.stringify(rows.map(([id]) => id))),
        ...inParts(rows).map((part) => statement(SAVE, name, at, JSON.stringify(part))),
        statement(HEARD, name, at),
      );
    },
  };
}

/** Characters of the rows of one statement: some databases bind no more than 1.5 MB. */
const CHARACTERS_MAX = 256 * 1024;

/** Rows in lists of up to `CHARACTERS_MAX` characters, or of one row that is larger. */
function inParts(rows: readonly (readonly string[])[]): (readonly string[])[][] {
  const parts: (readonly string[])[][] = [];
  let size = CHARACTERS_MAX;
  for (const row of rows) {
    const characters = row.reduce((sum, text) => sum + text.length, 0);
    size += characters;
    const open = parts.at(-1);
    if (open && size <= CHARACTERS_MAX) open.push(row);
    else [size] = [characters, parts.push([row])];
  }
  return parts;
}

function readReport({ member, at, body }: SqlRow) {
  const report = fromJson(body as string) as SubscriptionReport;
  return { member: fromSafe(member as string), at: Number(at), report };
}
