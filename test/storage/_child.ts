import process from "node:process";
import { createInterface } from "node:readline";
import { Locked, openLibsql, openLock } from "../../adapters/libsql/file/open.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";

/** A process that a test starts, to see what happens when it ends, or is there twice. */
const [action, target = "", worker] = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);

if (action === "lock") {
  try {
    const lock = await openLock(target);
    say("held");
    createInterface({ input: process.stdin }).once("line", async () => {
      await lock.close();
      say("released");
    });
  } catch (cause) {
    say(cause instanceof Locked ? "Locked" : String(cause));
    process.exit(0);
  }
}

/** Commits until it is killed, and says what was acknowledged. */
if (action === "commit") {
  const client = await openLibsql({ url: target, ...(worker ? { worker: new URL(worker) } : {}) });
  await migrate(client);
  const store = new SqlStore(client, { foldRowsMax: 5, sliceRowsMax: 2 });
  const lease = await store.claim(0);
  for (let seq = 0;; seq++) {
    const row = { object: "o", seq, id: `i${seq}` };
    await store.commit(lease, [{ table: "inbox", row, drop: false }]);
    say(String(seq));
  }
}

if (action === "load") {
  const client = await openLibsql({ url: target, ...(worker ? { worker: new URL(worker) } : {}) });
  const store = new SqlStore(client);
  const [found] = await store.load(await store.claim(0), [{ table: "inbox", group: "o" }]);
  say(String(found?.rows.length));
  await client.close();
}
