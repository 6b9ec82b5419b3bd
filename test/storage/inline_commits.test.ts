import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { inlineCommits } from "../../adapters/libsql/file/inline_commits.ts";
import { openLocal } from "../../adapters/libsql/file/local_client.ts";
import type { SqlClient } from "../../src/ports.ts";

let folder: string, onWorker: SqlClient, inline: SqlClient;
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "inline-"));
  const options = { url: pathToFileURL(path.join(folder, "a.db")).href };
  onWorker = await openLocal(options);
  inline = inlineCommits(onWorker, options);
  await onWorker.batch("write", [{ sql: "create table t (a integer)", args: [] }]);
});
afterEach(async () => {
  await inline.close().catch(() => {});
  rmSync(folder, { recursive: true });
});

const SELECT = { sql: "select a from t order by a", args: [], isQuick: true } as const;

test("a quick read with more rows than are read inline has all of them", async () => {
  const values = Array.from({ length: 1_000 }, (_, i) => `(${i + 1})`).join(",");
  await onWorker.batch("write", [{ sql: `insert into t values ${values}`, args: [] }]);
  const [rows = []] = await inline.batch("read", [SELECT]);
  expect(rows.length).toBe(1_000);
  expect(rows.at(-1)).toEqual({ a: 1_000 });
});
