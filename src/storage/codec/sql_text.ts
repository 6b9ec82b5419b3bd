import {
  DummyDriver,
  Kysely,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { assert } from "../../assert.ts";
import type { SqlValue, Statement } from "../../ports.ts";

/** Kysely only writes SQL here; it never holds a connection (decision 006). */
const writer = new Kysely<Record<string, never>>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/**
 * The text of a fixed query. Called once per query, when its module loads: compiling costs more
 * than running. Its parameters are written `?1`, `?2` …, so that one may occur twice.
 */
export function compile(query: RawBuilder<unknown>): string {
  const { sql, parameters } = query.compile(writer);
  assert(parameters.length === 0, "A fixed query takes its values by number");
  return sql;
}

/** A query and its values, in the order of their numbers. */
export function statement(text: string, ...args: SqlValue[]): Statement {
  return { sql: text, args };
}
