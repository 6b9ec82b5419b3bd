import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
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

const CLEAR = { sql: "delete from t", args: [], isQuick: true } as const;
const SELECT = { sql: "select a from t order by a", args: [], isQuick: true } as const;

test("a quick read with more rows than are read inline has all of them", async () => {
  const values = Array.from({ length: 1_000 }, (_, i) => `(${i + 1})`).join(",");
  await onWorker.batch("write", [{ sql: `insert into t values ${values}`, args: [] }]);
  const [rows = []] = await inline.batch("read", [SELECT]);
  expect(rows.length).toBe(1_000);
  expect(rows.at(-1)).toEqual({ a: 1_000 });
});

test("a commit of several small statements is made inline, all of it or nothing", async () => {
  let onWorkers = 0;
  const counted: SqlClient = {
    batch: (mode, statements) => (onWorkers++, onWorker.batch(mode, statements)),
    isRefused: (cause) => onWorker.isRefused(cause),
    close: () => Promise.resolve(),
  };
  const url = pathToFileURL(path.join(folder, "a.db")).href;
  const commits = inlineCommits(counted, { url });
  try {
    const insert = (value: unknown) => ({
      sql: "insert into t values (?1)",
      args: [value as string],
      isQuick: true,
    });
    // After a slow one, commits go to the worker for a while.
    await vi.waitFor(async () => {
      onWorkers = 0;
      await commits.batch("write", [CLEAR, insert(1), insert(2)]);
      expect(onWorkers).toBe(0);
    }, 20_000);
    const broken = { sql: "insert into nowhere values (1)", args: [], isQuick: true };
    await expect(commits.batch("write", [insert(3), broken])).rejects.toThrow("nowhere");
    expect(await onWorker.batch("read", [SELECT])).toEqual([[{ a: 1 }, { a: 2 }]]);
    // A batch of a fold, and one that is large.
    onWorkers = 0;
    await commits.batch("write", [insert(3), { ...insert(4), isQuick: false }]);
    await commits.batch("write", [insert(5), insert("x".repeat(70_000))]);
    expect(onWorkers).toBe(2);
  } finally {
    await commits.close();
  }
});
