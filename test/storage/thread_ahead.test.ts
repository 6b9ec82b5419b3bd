import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import {
  databaseThread,
  endThreadAhead,
  startThreadAhead,
} from "../../adapters/libsql/file/thread_ahead.ts";
import { built } from "./_built.ts";

const program = built("adapters/libsql/file/worker.ts");
let folder: string;

beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), "thread-ahead-"))));
afterEach(async () => {
  await endThreadAhead();
  rmSync(folder, { recursive: true, force: true });
});

const url = (name: string) => pathToFileURL(path.join(folder, name)).href;

test("the first database of a program has the thread that was started ahead, others a new one", async () => {
  startThreadAhead(program);
  const first = databaseThread(program), second = databaseThread(program);
  expect(second).not.toBe(first);
  expect(second.threadId).toBeGreaterThan(first.threadId);
  await Promise.all([first.terminate(), second.terminate()]);

  startThreadAhead(program);
  const clients = await Promise.all(
    ["a.db", "b.db"].map((name) => openLibsql({ url: url(name), worker: program })),
  );
  for (const client of clients) {
    await client.batch("write", [{ sql: "create table t (n)", args: [] }]);
    expect(await client.batch("read", [{ sql: "select count(*) as n from t", args: [] }]))
      .toEqual([[{ n: 0 }]]);
    await client.close();
  }
});

test("a thread for another program is not taken, and ends when no database needs it", async () => {
  startThreadAhead(program);
  const other = databaseThread(new URL(`${program.href}?other`));
  await endThreadAhead();
  const next = databaseThread(program);
  expect(next.threadId).toBeGreaterThan(other.threadId);
  await Promise.all([other.terminate(), next.terminate()]);
});

test("a thread that ended before it was needed is not taken", async () => {
  const file = path.join(folder, "ends.mjs");
  writeFileSync(file, "process.exit(1);");
  const ends = pathToFileURL(file);
  const ahead = startThreadAhead(ends);
  await new Promise((resolve) => ahead.once("exit", resolve));
  const next = databaseThread(ends);
  expect(next).not.toBe(ahead);
  await new Promise((resolve) => next.once("exit", resolve));
});
