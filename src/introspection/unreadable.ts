import { Failure } from "../errors.ts";
import { failed } from "./refusal.ts";
import type { Row } from "./render/format.ts";
import type { StoredRelation } from "./translate/scope.ts";

/** A stored row that cannot be decoded: damage on disk. For the log. */
export interface UnreadableRow {
  /** As it is stored. */
  readonly table: string;
  readonly key: string;
  readonly cause: string;
}

/** Rows of one table that are named in a refusal and in the log. */
const NAMED_MAX = 10;
/** Stored tables whose column `body` is JSON. */
const WITH_BODY = /^(invocation|promise|event) as t$/;

/**
 * What a query fails with, given what it failed with: where SQLite found JSON malformed, a `Failure` 500
 * that names the rows, which SQLite does not. `ask`: reads stored rows, of all databases.
 */
export async function explained(
  cause: unknown,
  relations: readonly StoredRelation[],
  { ask, unreadable }: {
    readonly ask: (sql: string) => Promise<readonly Row[]>;
    readonly unreadable: (row: UnreadableRow) => void;
  },
): Promise<unknown> {
  if (
    !(cause instanceof Failure) || !`${cause.message} ${cause.cause}`.includes("malformed JSON")
  ) {
    return cause;
  }
  const found: string[] = [];
  const tables = new Map(relations.map(({ table }) => [table.name, table]));
  for (const { name, ...one } of tables.values()) {
    // Groups are groups of invocations.
    const { from, keys = [] } = one.parts ? { from: "invocation as t", keys: ["t.id"] } : one;
    const [, table] = WITH_BODY.exec(from) ?? [];
    if (table === undefined) continue;
    const rows = await ask(
      `select cast(${keys.join(" || '/' || ")} as blob) as k from ${from}
        where not json_valid(t.body) limit ${NAMED_MAX}`,
    );
    const named = rows.map(([key]) => new TextDecoder().decode(key as Uint8Array));
    for (const key of named) unreadable({ table, key, cause: "malformed JSON" });
    if (named.length > 0) found.push(`${name} (${named.join(", ")})`);
  }
  if (found.length === 0) return cause;
  return failed(
    `Cannot run the query: rows are damaged and cannot be read, of ${found.join(" and ")}; leave ` +
      `them out by a condition such as id NOT IN ('…'), and restore the database from a backup`,
    { cause },
  );
}
