import fc from "fast-check";
import { expect, test } from "vitest";
import type { ControlsChange } from "../../src/model/controls.ts";
import type { Write } from "../../src/model/rows.ts";
import { sqlDeploymentStore } from "../../src/storage/deployment_store.ts";
import type { Layout } from "../../src/storage/schema/layout.ts";
import { exportRows } from "../../src/storage/move/export_rows.ts";
import { importRows } from "../../src/storage/move/import_rows.ts";
import type { Installation } from "../../src/storage/move/installation.ts";
import { checkRows, moveRows } from "../../src/storage/move/move_rows.ts";
import { epochsOf } from "../../src/storage/move/new_installation.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { TINY } from "../storage/_database.ts";
import { changes, writesOf } from "../storage/_rows.ts";
import { deployment } from "../support/schema.ts";
import { ask, close, contents, idOf, newInstallation, placed, silent } from "./_installations.ts";

const ONE: Layout = { partitions: 1, databases: "one" };
const WAYS: readonly Layout[] = [
  { partitions: 3, databases: "each" },
  { partitions: 64, databases: "one" },
  { partitions: 2, databases: "each" },
  ONE,
];

const commits = fc.array(changes, { minLength: 3, maxLength: 12 }).map((lists) => {
  const lengths = new Map<string, number>();
  return lists.map((list) => placed(writesOf(list, lengths)));
});

/** An installation of one partition with these commits in its tables. */
async function filled(commits: readonly (readonly Write[])[]): Promise<Installation> {
  const { installation } = await newInstallation(ONE, 0);
  const client = installation.of(0);
  const store = new SqlStore(client, TINY);
  const lease = await store.claim(0);
  for (const writes of commits) await store.commit(lease, writes);
  await store.flushAll();
  await store.close();
  await sqlDeploymentStore(client).save(DEPLOYMENT, CONTROLS);
  return installation;
}

const DEPLOYMENT = { ...deployment, id: `dp_1${"0".repeat(22)}` };

const CONTROLS: ControlsChange = {
  book: {
    version: 9,
    rules: new Map([
      ["a/*", { pattern: "a/*", limits: {}, disabled: true, version: 7, modifiedAt: 1 }],
    ]),
  },
  services: new Map([["svc", { paused: true }]]),
  queues: new Map([["vq_1", true]]),
  clusters: new Map([["k", { name: "k", properties: {}, createdAt: 1 }]]),
  subscriptions: new Map([
    ["sub_1", {
      id: "sub_1",
      source: "kafka://k/t",
      sink: "service://a/b",
      options: {},
      createdAt: 1,
    }],
  ]),
};

async function* bytesOf(chunks: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  // Cut anywhere: also within a character.
  for await (const chunk of chunks) {
    const bytes = new TextEncoder().encode(chunk);
    for (let at = 0; at < bytes.length; at += 1021) yield bytes.subarray(at, at + 1021);
  }
}

test("rows that are cut up otherwise are the same rows, each where it belongs", async () => {
  await fc.assert(
    fc.asyncProperty(commits, async (commits) => {
      let from = await filled(commits);
      const before = await contents(from);
      for (const [i, layout] of WAYS.entries()) {
        const { installation, writer } = await newInstallation(layout, i);
        const sums = await moveRows(from, writer, silent);
        await checkRows(installation, sums, silent);
        expect(await contents(installation)).toEqual(before);
        await close(from);
        from = installation;
      }
      await close(from);
    }),
    { numRuns: 12 },
  );
});

test("rows that were exported and imported are the same rows", async () => {
  await fc.assert(
    fc.asyncProperty(commits, fc.constantFrom(...WAYS), async (commits, layout) => {
      const from = await filled(commits);
      let to: Installation | undefined;
      const dump = exportRows(from, { madeBy: "1.2.3", epoch: 7 }, silent);
      const sums = await importRows(bytesOf(dump), {
        begin: async ({ epoch }) => {
          const made = await newInstallation(layout, epoch + 1);
          to = made.installation;
          return made.writer;
        },
        progress: silent,
      });
      await checkRows(to!, sums, silent);
      expect(await contents(to!)).toEqual(await contents(from));
      expect(new Set((await epochsOf(to!)).values())).toEqual(new Set([8]));
      await close(from);
      await close(to!);
    }),
    { numRuns: 12 },
  );
});

test("journals and values that are larger than a page move as well", async () => {
  const large = new Uint8Array(3 * 1024 * 1024).fill(7);
  const row = (name: string, value: Uint8Array) => ({ object: "svc/key", name, value });
  const writes = Array.from({ length: 1_200 }, (_, i): Write => ({
    table: "state",
    row: row(`${i % 3 === 0 ? "" : "n"}${i}`, i < 2 ? large : new Uint8Array(i % 50)),
    drop: false,
  }));
  const from = await filled([writes]);
  const { installation, writer } = await newInstallation(WAYS[0]!, 1);
  await checkRows(installation, await moveRows(from, writer, silent), silent);
  const sizes = await Promise.all(
    installation.clients.map((client) =>
      ask(client, "select count(*) as n, sum(size) as bytes from whole_state")
    ),
  );
  const [whole] = await ask(from.of(0), "select sum(size) as bytes from whole_state");
  expect(sizes.flat().filter(({ n }) => Number(n) > 0)).toEqual([
    { n: 1_200, bytes: whole?.["bytes"] },
  ]);
  await close(from);
  await close(installation);
});

/** Damages of a copy before it is checked. */
const DAMAGES = {
  "a row is missing": "delete from state where name = 'a'",
  "a row is another one": "update state set value = x'ff' where name = 'a'",
  "a row is in another database": "update timer set partition = 1 - partition",
  "a row is there that was not": "insert into lock values ('svc/z', 'x', 0, 0)",
} as const;

test.each(Object.entries(DAMAGES))("a copy is refused in which %s", async (_, damage) => {
  const timer = { id: idOf("a"), due: 1, kind: "sleep", index: 1 } as const;
  const from = await filled([[
    { table: "state", row: { object: "svc/k", name: "a", value: new Uint8Array(1) }, drop: false },
    { table: "timer", row: timer, drop: false },
  ]]);
  const { installation, writer } = await newInstallation({ partitions: 2, databases: "one" }, 1);
  const sums = await moveRows(from, writer, silent);
  await checkRows(installation, sums, silent);
  await installation.of(0).batch("write", [{ sql: damage, args: [] }]);
  await expect(checkRows(installation, sums, silent)).rejects.toThrow(/not what it should be/);
  await close(from);
  await close(installation);
});
