import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { inlineCommits } from "../../adapters/libsql/file/inline_commits.ts";
import { openLocal } from "../../adapters/libsql/file/local_client.ts";
import type { SqlClient } from "../../src/ports.ts";

let folder: string, far: SqlClient, near: SqlClient;
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "near-"));
  const options = { url: pathToFileURL(path.join(folder, "a.db")).href };
  far = await openLocal(options);
  near = inlineCommits(far, options);
  await far.batch("write", [{ sql: "create table t (a integer)", args: [] }]);
});
afterEach(async () => {
  await near.close().catch(() => {});
  rmSync(folder, { recursive: true });
});

const SELECT = { sql: "select a from t order by a", args: [], isQuick: true } as const;

test("a quick read with more rows than are read near has all of them", async () => {
  const values = Array.from({ length: 1_000 }, (_, i) => `(${i + 1})`).join(",");
  await far.batch("write", [{ sql: `insert into t values ${values}`, args: [] }]);
  const [rows = []] = await near.batch("read", [SELECT]);
  expect(rows.length).toBe(1_000);
  expect(rows.at(-1)).toEqual({ a: 1_000 });
});
