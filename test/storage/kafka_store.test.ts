import { afterEach, beforeEach, expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import type { SubscriptionReport } from "../../src/model/kafka.ts";
import type { SqlClient } from "../../src/ports.ts";
import { sqlKafkaStore } from "../../src/storage/kafka_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { type Fault, lossy } from "./_lossy.ts";

let client: SqlClient;

beforeEach(async () => {
  client = await openLibsql({ url: ":memory:" });
  await migrate(client);
});
afterEach(() => client.close());

function report(id: string, more: Partial<SubscriptionReport> = {}): SubscriptionReport {
  return { id, state: "running", partitions: [], ...more };
}

test("the first token stays", async () => {
  expect(await sqlKafkaStore(client).token("first")).toBe("first");
  expect(await sqlKafkaStore(client).token("second")).toBe("first");
});

test("reports are read as they were saved, with the time of their sidecar", async () => {
  const store = sqlKafkaStore(client);
  const odd = report("sub_1", { lastError: { message: "nul\0 \ud800 'é'", at: 3 } });
  await store.save("a", { all: [odd, report("sub_2")], at: 10 }, 0);
  await store.save("b'", { all: [report("sub_1")], at: 11 }, 0);
  expect(await store.reports()).toEqual([
    { member: "a", at: 10, report: odd },
    { member: "b'", at: 11, report: report("sub_1") },
    { member: "a", at: 10, report: report("sub_2") },
  ]);
  expect(await store.reports("sub_2")).toEqual([
    { member: "a", at: 10, report: report("sub_2") },
  ]);
});

test("a report replaces all of the same sidecar, and its time never goes back", async () => {
  const store = sqlKafkaStore(client);
  await store.save("a", { all: [report("sub_1"), report("sub_2")], at: 10 }, 0);
  const blocked = report("sub_2", { state: "blocked" });
  await store.save("a", { all: [blocked], at: 12 }, 0);
  await store.save("a", { all: [blocked], at: 11 }, 0);
  expect(await store.reports()).toEqual([{ member: "a", at: 12, report: blocked }]);
  await store.save("a", { all: [], at: 13 }, 0);
  expect(await store.reports()).toEqual([]);
});

test("sidecars that are gone are forgotten", async () => {
  const store = sqlKafkaStore(client);
  await store.save("a", { all: [report("sub_1")], at: 10 }, 0);
  await store.save("b", { all: [report("sub_1")], at: 20 }, 11);
  expect((await store.reports()).map(({ member }) => member)).toEqual(["b"]);
  const [rows] = await client.batch("read", [{ sql: "select * from kafka_report", args: [] }]);
  expect(rows).toHaveLength(2);
});

test("large reports are written in small arguments", async () => {
  let largest = 0;
  const store = sqlKafkaStore({
    batch: (mode, statements) => {
      for (const arg of statements.flatMap(({ args }) => args)) {
        if (typeof arg === "string") largest = Math.max(largest, arg.length);
      }
      return client.batch(mode, statements);
    },
    isRefused: (cause) => client.isRefused(cause),
    close: () => client.close(),
  });
  const partitions = Array.from(
    { length: 200 },
    (_, n) => ({ topic: "t".repeat(200), partition: n }),
  );
  const all = Array.from({ length: 40 }, (_, n) => report(`sub_${n + 100}`, { partitions }));
  await store.save("a", { all, at: 1 }, 0);
  expect(largest).toBeLessThan(512 * 1024);
  expect((await store.reports()).map(({ report }) => report)).toEqual(all);
});

test("requests whose answers are lost are repeated, and do no more", async () => {
  const faults: Fault[] = ["unheard", "unheard", "echo"];
  const store = sqlKafkaStore(
    lossy(client, { fault: () => faults.shift(), delay: () => 1 }),
    { retryMs: 1 },
  );
  expect(await store.token("first")).toBe("first");
  await store.save("a", { all: [report("sub_1")], at: 1 }, 0);
  await store.save("a", { all: [report("sub_2")], at: 2 }, 0);
  expect((await store.reports()).map(({ at, report }) => [at, report.id])).toEqual([[2, "sub_2"]]);
});
