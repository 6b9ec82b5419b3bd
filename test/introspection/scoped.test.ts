import { afterAll, beforeAll, expect, test } from "vitest";
import { printInvocationId } from "../../src/model/id.ts";
import { printQueueId } from "../../src/model/queue.ts";
import type { Introspection } from "../../src/query_port.ts";
import { rowsOf } from "./_small.ts";
import { Asking, Files, inFile, type Rows, sorted } from "./_united.ts";

// Objects of a scope are stored under its name. Conditions on service, key and scope find them in one
// file, where an index is asked, and in several, whose rows are copied.

const OBJECTS = [
  "Cart/a",
  "Cart/x:y/z",
  "Cart.v2/a",
  "Cart0/a",
  "Other/a",
  "t1:Cart/a",
  "t1:Cart/b",
  "t1:Other/a",
  "t2:Cart/a",
  "t2:Cart/",
] as const;

const ids = OBJECTS.map((_, i) => printInvocationId(new Uint8Array(24).fill(i + 1)));

function invocationOf(object: string, at: number) {
  const [, scope, service = "", key] = /^(?:([^:/]+):)?([^:/]+)\/(.*)$/.exec(object) ?? [];
  const target = { service, handler: "h", key, scope, type: "virtual_object", access: "exclusive" };
  const status = { kind: "invoked" };
  const body = {
    target,
    status,
    origin: { by: "ingress" },
    limitKey: scope && "l/m",
    createdAt: 5,
  };
  return {
    id: ids[at],
    partition: 0,
    status: "invoked",
    created_at: 5,
    body: JSON.stringify({ ...body, id: ids[at], inboxedAt: 7, waitedMs: { lock: 3 } }),
  };
}

function rowsIn(has: (at: number) => boolean): Rows {
  const objects = OBJECTS.map((object, at) => ({ object, at })).filter(({ at }) => has(at));
  return {
    invocation: objects.map(({ object, at }) => invocationOf(object, at)),
    state: objects.map(({ object }) => ({ object, name: "n", value: new Uint8Array([1]) })),
    promise: objects.map(({ object }) => ({ object, name: "p", body: "{}" })),
    inbox: objects.map(({ object, at }) => ({ object, seq: 1, id: ids[at]! })),
    lock: objects.map(({ object, at }) => ({ object, holder: ids[at]!, head: 1, tail: 2 })),
  } as Rows;
}

const files = new Files();
const asking = new Asking();
let one: Introspection, united: Introspection;

beforeAll(async () => {
  one = asking.open([inFile(await files.make("all.db", rowsIn(() => true)))]);
  const parts = [
    await files.make("0.db", rowsIn((at) => at % 2 === 0)),
    await files.make("1.db", rowsIn((at) => at % 2 === 1)),
  ];
  united = asking.open(parts.map(inFile));
}, 30_000);

afterAll(async () => {
  await asking.close();
  await files.close();
});

const CASES: readonly (readonly [where: string, found: readonly string[]])[] = [
  ["service_name = 'Cart'", OBJECTS.filter((one) => /(^|:)Cart\//.test(one))],
  ["service_name = 'Cart' and scope is null", ["Cart/a", "Cart/x:y/z"]],
  ["service_name = 'Cart' and scope = 't1'", ["t1:Cart/a", "t1:Cart/b"]],
  ["service_name = 'Cart' and service_key = 'a'", ["Cart/a", "t1:Cart/a", "t2:Cart/a"]],
  ["service_name = 'Cart' and service_key = 'a' and scope = 't2'", ["t2:Cart/a"]],
  ["service_name = 'Cart' and service_key = 'x:y/z'", ["Cart/x:y/z"]],
  ["service_name in ('Other', 'Cart') and service_key = 'a' and scope in ('t1')", [
    "t1:Cart/a",
    "t1:Other/a",
  ]],
  ["service_name = 'Cart' and service_key = ''", ["t2:Cart/"]],
  ["service_name = 't1:Cart'", []],
  ["service_name = 'None' or service_name = 'Cart.v2'", ["Cart.v2/a"]],
  ["scope is null", OBJECTS.filter((one) => !/^t\d/.test(one))],
];

const TABLES = ["state", "sys_promise", "sys_inbox", "sys_keyed_service_status"];

test.each(TABLES.flatMap((table) => CASES.map(([where, found]) => ({ table, where, found }))))(
  "$table: $where",
  async ({ table, where, found }) => {
    const sql = `select scope, service_name, service_key from ${table} where ${where}`;
    const shown = found.map((object) => {
      const [, scope, service_name, service_key] = /^(?:([^:/]+):)?([^:/]+)\/(.*)$/.exec(object)!;
      return { ...(scope !== undefined && { scope }), service_name, service_key };
    });
    expect(sorted(await rowsOf(one, sql))).toEqual(sorted(shown));
    expect(sorted(await rowsOf(united, sql))).toEqual(sorted(shown));
  },
);

test("locks have the name without the scope, and the time when the wait for them ended", async () => {
  const sql = "select scope, lock_name, acquired_at from sys_locks where lock_name = 'Cart/a'";
  const acquired_at = "1970-01-01T00:00:00.010Z";
  expect(sorted(await rowsOf(one, sql))).toEqual(sorted([
    { lock_name: "Cart/a", acquired_at },
    { scope: "t1", lock_name: "Cart/a", acquired_at },
    { scope: "t2", lock_name: "Cart/a", acquired_at },
  ]));
});

test.each(["sys_invocation", "sys_invocation_status"])(
  "%s shows scope, limit key and virtual queue",
  async (table) => {
    const sql = `select scope, limit_key, vqueue_id, target from ${table} where id = '${ids[5]}'`;
    const vqueue_id = printQueueId({ service: "Cart", scope: "t1", limitKey: "l/m", key: "a" });
    expect(await rowsOf(one, sql))
      .toEqual([{ scope: "t1", limit_key: "l/m", vqueue_id, target: "Cart/a/h" }]);
    const unscoped = `select scope, limit_key from ${table} where id = '${ids[0]}'`;
    expect(await rowsOf(one, unscoped)).toEqual([{}]);
  },
);
