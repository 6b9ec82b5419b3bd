import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, expect, test, vi } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import { QueryPool } from "../../adapters/libsql/query/pool.ts";
import { Failure } from "../../src/errors.ts";
import { built } from "../storage/_built.ts";
import { builtProgram, LIMITS } from "./_small.ts";

vi.setConfig({ testTimeout: 60_000 });

const QUIET_MS = 1000;

afterEach(() => void vi.useRealTimers());

test("a query right after the end of idle processes has another process", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "query-pool-"));
  const url = pathToFileURL(path.join(folder, "perdure.db")).href;
  await (await openLibsql({ url, worker: built("adapters/libsql/file/worker.ts") })).close();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const pool = new QueryPool({
    databases: [{ kind: "file", url }],
    program: builtProgram(),
    limits: LIMITS,
    log: () => {},
    processesMax: 1,
    quietMs: QUIET_MS,
  });
  const first = await pool.take();
  pool.give(first);
  vi.advanceTimersByTime(QUIET_MS + 1);
  expect(first.isOver).toBe(true);
  // The system has not reported its end yet.
  const next = await pool.take();
  expect([next === first, next.isOver]).toEqual([false, false]);
  await pool.close(Failure.plain(500, "closed"));
  rmSync(folder, { recursive: true });
});
