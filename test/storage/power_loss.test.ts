import { copyFileSync, mkdtempSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openLocal } from "../../adapters/libsql/file/local_client.ts";
import { inlineCommits } from "../../adapters/libsql/file/inline_commits.ts";
import type { Write } from "../../src/model/rows.ts";
import type { SqlClient } from "../../src/ports.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { expectSame, own } from "./_contract.ts";
import { sqlDatabase, TINY } from "./_database.ts";
import { changes, wantsOf, writesOf } from "./_rows.ts";

const PLACES = 6;
const SYNCHRONOUS = { sql: "pragma synchronous", args: [] };

/** A folder with a database, whose write-ahead log may lose its end. */
class Disk {
  readonly folder = mkdtempSync(path.join(tmpdir(), "perdure-power-"));
  /** Bytes of the write-ahead log that were forced to the disk. */
  forced = 0;
  #cuts = 0;
  /** Batches that were not forced. */
  lazy = 0;

  async open(name: string): Promise<SqlClient> {
    const options = { url: pathToFileURL(path.join(this.folder, name)).href } as const;
    return inlineCommits(await openLocal(options), options);
  }

  size(): number {
    return statSync(path.join(this.folder, "real-wal")).size;
  }

  /** Notes what is forced. What is written inline is forced as well. */
  watched(client: SqlClient): SqlClient {
    return {
      batch: async (mode, statements, isLazy) => {
        const rows = await client.batch(mode, statements, isLazy);
        if (mode === "read") return rows;
        if (isLazy) this.lazy++;
        else this.forced = this.size();
        return rows;
      },
      isRefused: (cause) => client.isRefused(cause),
      close: () => client.close(),
    };
  }

  /** What is there after a loss of power that has left so much of the write-ahead log. */
  async cutTo(bytes: number): Promise<SqlClient> {
    const file = (name: string) => path.join(this.folder, name);
    const name = `cut${++this.#cuts}`;
    for (const end of ["", "-wal"]) copyFileSync(file(`real${end}`), file(`${name}${end}`));
    truncateSync(file(`${name}-wal`), bytes);
    return await this.open(name);
  }
}

test(
  "a loss of power loses no commit that was acknowledged, whatever of a fold it leaves",
  () =>
    fc.assert(
      fc.asyncProperty(fc.array(changes, { minLength: 1, maxLength: 8 }), async (turns) => {
        const disk = new Disk();
        const client = await disk.open("real");
        try {
          await migrate(client);
          const database = sqlDatabase(client, TINY, (one) => disk.watched(one));
          const { store, lease } = await own(database);
          const [writes, lengths]: [Write[], Map<string, number>] = [[], new Map()];
          for (const turn of turns) {
            const more = writesOf(turn, lengths);
            await store.commit(lease, more);
            writes.push(...more);
          }
          await database.flush?.(store, lease);
          const more = disk.size() - disk.forced;
          if (writes.length > 0) expect(disk.lazy).toBeGreaterThan(0);
          for (let n = 0; n <= PLACES; n++) {
            await expectAll(disk, disk.forced + Math.floor(more * n / PLACES), writes);
          }
        } finally {
          await client.close();
          rmSync(disk.folder, { recursive: true });
        }
      }),
      { numRuns: 8 },
    ),
  120_000,
);

async function expectAll(disk: Disk, bytes: number, writes: readonly Write[]): Promise<void> {
  const client = await disk.cutTo(bytes);
  try {
    const model = new MemoryStore();
    const lease = await model.claim(3);
    await model.commit(lease, writes);
    const real = await own(sqlDatabase(client, TINY));
    await expectSame(real, { store: model, lease }, wantsOf(writes));
  } finally {
    await client.close();
  }
}

test("the write after a lazy one is forced again, also if that one fails", async () => {
  const client = await openLocal({ url: ":memory:" });
  const asked = async (isLazy?: boolean) =>
    (await client.batch("write", [SYNCHRONOUS], isLazy))[0]?.[0]?.["synchronous"];
  const [normal, full] = [1, 2];
  expect([await asked(), await asked(true), await asked()]).toEqual([full, normal, full]);
  const wrong = { sql: 'insert into "absent" values (1)', args: [] };
  await expect(client.batch("write", [SYNCHRONOUS, wrong], true)).rejects.toThrow("no such table");
  expect(await asked()).toBe(full);
  const eased = await openLocal({ url: ":memory:", synchronous: "NORMAL" });
  const [[row] = []] = await eased.batch("write", [SYNCHRONOUS], true);
  expect(row?.["synchronous"]).toBe(normal);
  await Promise.all([client.close(), eased.close()]);
});
