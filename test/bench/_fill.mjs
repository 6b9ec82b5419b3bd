// Copies of a completed invocation, written into the file of a server that is stopped.
import { createClient } from "@libsql/client/sqlite3";

/** Rows of one statement. */
const STEP = 50_000;
const DAY_MS = 86_400_000;

/**
 * Copies the completed invocation of a file `count` times, a millisecond older each. `first`: what ids
 * begin with. Answers how many invocations the file then has.
 */
export async function fill(file, { count, first = 0 }) {
  const client = createClient({ url: `file:${file}` });
  await client.execute("pragma synchronous = off");
  for (let from = 1; from <= count; from += STEP) {
    await client.execute({
      sql: `insert into invocation (id, partition, status, expires_at, created_at, body, output)
        select printf('inv_100000000000%022d', ?4 + n), partition, status, ?3,
          created_at - n - 100000,
          json_set(body, '$.id', printf('inv_100000000000%022d', ?4 + n)), output
        from (select * from invocation where status = 'completed' limit 1),
          (select value as n from generate_series(?1, ?2))`,
      args: [from, Math.min(count, from + STEP - 1), Date.now() + DAY_MS, first],
    });
  }
  const { rows: [{ n }] } = await client.execute("select count(*) as n from invocation");
  client.close();
  return Number(n);
}
