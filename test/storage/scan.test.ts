import { afterEach, expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import type { Rows, Write } from "../../src/model/rows.ts";
import type { SqlClient } from "../../src/ports.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { invocationRow } from "../support/rows.ts";

let client: SqlClient;
afterEach(() => client.close());

/** A store whose writes wait while `hold` is set, so that a fold stands in the middle. */
async function open() {
  client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  const gate: { hold?: Promise<void> } = {};
  const store = new SqlStore({
    batch: async (mode, statements) => {
      if (mode === "write") await gate.hold;
      return await client.batch(mode, statements);
    },
    isRefused: (cause) => client.isRefused(cause),
    close: () => Promise.resolve(),
  });
  return { store, gate };
}

const invocation = (id: string, kind: "invoked" | "completed"): Write => (
  { table: "invocation", row: invocationRow({ id, status: { kind } }), drop: false }
);

const message = (from: number, to: number, seq: number): Write => {
  const row: Rows["outbox"] = {
    from,
    to,
    seq,
    message: { type: "purged", id: "inv_1" } as unknown as Rows["outbox"]["message"],
  };
  return { table: "outbox", row, drop: false };
};

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);
const HOLDERS = { kind: "holders", limit: 10 } as const;

test("an invocation that is not invoked any more is not found, wherever it was before", async () => {
  const { store, gate } = await open();
  const lease = await store.claim(0);
  await store.commit(lease, [invocation("a", "invoked"), invocation("b", "invoked")]);
  await store.flush(lease);
  // In the tables it is invoked; what is newer is in memory only.
  await store.commit(lease, [invocation("a", "completed")]);
  expect(idsOf(await store.scan(lease, HOLDERS))).toEqual(["b"]);

  await store.commit(lease, [invocation("c", "invoked")]);
  let release = () => {};
  gate.hold = new Promise((resolve) => release = resolve);
  const flushed = store.flush(lease);
  // What is being folded says invoked; what came after says otherwise.
  const committed = store.commit(lease, [invocation("c", "completed")]);
  expect(idsOf(await store.scan(lease, HOLDERS))).toEqual(["b"]);
  release();
  await Promise.all([flushed, committed]);
  expect(idsOf(await store.scan(lease, HOLDERS))).toEqual(["b"]);
  await store.close();
});

test("a flush resolves once what was handed over before it is in the tables, and not sooner", async () => {
  const { store, gate } = await open();
  const lease = await store.claim(0);
  const idsIn = async () => {
    const [rows = []] = await client.batch("read", [{
      sql: "select id from invocation",
      args: [],
    }]);
    return rows.map(({ id }) => id);
  };
  await store.commit(lease, [invocation("a", "invoked")]);
  let release = () => {};
  gate.hold = new Promise((resolve) => release = resolve);
  const first = store.flush(lease);
  const committed = store.commit(lease, [invocation("b", "invoked")]);
  // The fold of "a" is under way: this flush is for the next one.
  const second = store.flush(lease).then(idsIn);
  release();
  await Promise.all([first, committed]);
  expect(await second).toEqual(["a", "b"]);
  await store.close();
});

test("messages of partitions whose numbers begin alike are not mixed up", async () => {
  const { store } = await open();
  const leases = [await store.claim(1), await store.claim(10)] as const;
  await store.commit(leases[0], [message(1, 2, 1), message(1, 10, 1)]);
  await store.commit(leases[1], [message(10, 2, 1), message(10, 3, 1)]);
  await store.flushAll();
  const found = await Promise.all(
    leases.map((lease) => store.scan(lease, { kind: "outbox", limit: 10 })),
  );
  expect(found.map((rows) => rows.map(({ from, to }) => [from, to]))).toEqual([
    [[1, 10], [1, 2]],
    [[10, 2], [10, 3]],
  ]);
  await store.close();
});
