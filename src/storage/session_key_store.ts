import { sql } from "kysely";
import type { SessionKeyStore } from "../auth/session_keys.ts";
import type { SqlClient } from "../ports.ts";
import { compile, statement } from "./codec/sql_text.ts";
import { type RetryLimits, withRetries } from "./retry.ts";

const KEEP = compile(sql`insert or ignore into meta (name, value) values ('session-keys', ?1)`);
const REPLACE = compile(
  sql`update meta set value = ?2 where name = 'session-keys' and value = ?1`,
);
const READ = compile(sql`select value from meta where name = 'session-keys'`);

/**
 * The keys of sessions in the first database of an installation, which `migrate` has prepared. Lost
 * requests are retried with `retry`: each of them does the same when it is repeated.
 */
export function sqlSessionKeyStore(
  client: SqlClient,
  retry: RetryLimits = { retryMs: 0 },
): SessionKeyStore {
  const batch = (mode: "read" | "write", ...statements: Parameters<SqlClient["batch"]>[1]) =>
    withRetries(client, () => client.batch(mode, statements), retry);
  const write = async (...change: Parameters<typeof statement>) => {
    const [, [row] = []] = await batch("write", statement(...change), statement(READ));
    return String(row?.["value"]);
  };
  return {
    async read(fresh) {
      // A session that nobody knows has it read again, which must not lock the database.
      const [[row] = []] = await batch("read", statement(READ));
      return row ? String(row["value"]) : await write(KEEP, fresh);
    },
    replace: (before, after) => write(REPLACE, before, after),
  };
}
