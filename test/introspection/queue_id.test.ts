import { afterAll, beforeAll, expect, test } from "vitest";
import { openLocal } from "../../adapters/libsql/file/local_client.ts";
import { queueIdOf } from "../../src/introspection/tables/queue_id.ts";
import { BadId, checkQueueId } from "../../src/model/id.ts";
import { isQueueId, printQueueId, type VirtualQueue } from "../../src/model/queue.ts";
import type { SqlClient } from "../../src/ports.ts";

let client: SqlClient;
beforeAll(async () => void (client = await openLocal({ url: "file::memory:" })));
afterAll(async () => await client.close());

const queues: readonly VirtualQueue[] = [
  { service: "Greeter", scope: undefined, limitKey: undefined },
  { service: "Greeter", scope: "a", limitKey: undefined },
  { service: "Greeter", scope: "a", limitKey: "b/c" },
  { service: "a", scope: "Greeter", limitKey: undefined },
  { service: "Cart", scope: undefined, limitKey: undefined, key: "" },
  { service: "Cart", scope: undefined, limitKey: undefined, key: "alice/bob:ü€😀" },
  { service: "Cart".repeat(60), scope: "x".repeat(36), limitKey: "y".repeat(36), key: "k" },
];

test.each(queues)("SQL makes the same id: $scope $limitKey $service $key", async (queue) => {
  const id = queueIdOf({ service: "s", scope: "c", limitKey: "l", key: "k" });
  const sql = `select ${id} as id from (select ?1 as s, ?2 as c, ?3 as l, ?4 as k)`;
  const { service, scope = null, limitKey = null, key = null } = queue;
  const [[row] = []] = await client.batch("read", [{ sql, args: [service, scope, limitKey, key] }]);
  expect(row?.["id"]).toBe(printQueueId(queue));
});

test("texts that differ in one step have no number in common", () => {
  const numbers = (key: string) =>
    /^vq_10(\d{10})00(\d{10})(\d{10})$/.exec(
      printQueueId({ service: "Cart", scope: undefined, limitKey: undefined, key }),
    )!.slice(1).map(Number);
  const [one, other] = [numbers("a"), numbers("\u{7f}zzzzzz")];
  const apart = one.map((number, i) => number - other[i]!);
  expect(new Set(apart).size).toBe(3);
});

test("ids are well-formed and differ", () => {
  const ids = queues.map(printQueueId);
  expect(new Set(ids).size).toBe(queues.length);
  for (const id of ids) expect([checkQueueId(id), isQueueId(id)]).toEqual([id, true]);
  const theirs = "vq_17O4rBTtURe97mysUmWM4Bpb9SfrBYRSgu";
  expect([checkQueueId(theirs), isQueueId(theirs)]).toEqual([theirs, false]);
});

test.each([
  "",
  "foo",
  "inv_17O4rBTtURe97mysUmWM4Bpb9SfrBYRSgu",
  "vq_1666331",
  `vq_1${"Z".repeat(33)}`,
])(
  "'%s' is no id of a virtual queue",
  (id) => {
    expect(() => checkQueueId(id)).toThrow(BadId);
  },
);
