import { sql } from "kysely";
import type { AuditRecord, AuditStore } from "../audit_port.ts";
import type { Random, SqlClient } from "../ports.ts";
import { toJson } from "./codec/safe_text.ts";
import { compile, statement } from "./codec/sql_text.ts";
import { type RetryLimits, withRetries } from "./retry.ts";

/** A retry of a lost request adds nothing twice. */
const ADD = compile(sql`insert or ignore into audit (id, body)
  select value ->> 0, value ->> 1 from json_each(?1)`);
const DROP_OLD = compile(sql`delete from audit where id < ?1`);
const DROP_MANY = compile(sql`delete from audit where id <= (
  select id from audit order by id desc limit 1 offset ?1)`);

/** Digits of a time in base 36, until the year 5188. */
const TIME_DIGITS = 9;

/**
 * The records of the admin API in the first database of an installation, which `migrate` has prepared.
 * Their ids sort by time. Lost requests are retried with `retry`.
 */
export function sqlAuditStore(
  client: SqlClient,
  { random, ...retry }: RetryLimits & { readonly random: Random },
): AuditStore {
  const idOf = ({ at }: AuditRecord, place: number) =>
    `${timeOf(at)}-${String(place).padStart(4, "0")}-${hex(random(8))}`;
  return {
    async add(records) {
      const rows = records.map((record, place) => [idOf(record, place), toJson(record)]);
      const write = [statement(ADD, JSON.stringify(rows))];
      await withRetries(client, () => client.batch("write", write), retry);
    },
    async prune({ before, rowsMax }) {
      const writes = [statement(DROP_OLD, timeOf(before)), statement(DROP_MANY, rowsMax)];
      await withRetries(client, () => client.batch("write", writes), retry);
    },
  };
}

function timeOf(ms: number): string {
  return Math.max(0, Math.trunc(ms)).toString(36).padStart(TIME_DIGITS, "0");
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
