import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import { type ControlsChange, NOTHING_STORED } from "../../src/model/controls.ts";
import type { Rule } from "../../src/model/limits.ts";
import { Outdated, type SqlClient } from "../../src/ports.ts";
import { sqlDeploymentStore } from "../../src/storage/deployment_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { deployment } from "../support/schema.ts";
import { type Fault, lossy, Lost } from "./_lossy.ts";

let client: SqlClient;

beforeEach(async () => {
  client = await openLibsql({ url: ":memory:" });
  await migrate(client);
});
afterEach(() => client.close());

function rule(pattern: string, more: Partial<Rule> = {}): Rule {
  return { pattern, limits: {}, disabled: false, version: 1, modifiedAt: 7, ...more };
}

function book(version: number, ...rules: Rule[]): ControlsChange {
  return { book: { version, rules: new Map(rules.map((one) => [one.pattern, one])) } };
}

const CLUSTER = { name: "k", properties: { "sasl.password": "nul\0 \ud800 'é'" }, createdAt: 8 };
const SUBSCRIPTION = {
  id: "sub_1",
  source: "kafka://k/t",
  sink: "service://s/h",
  options: { "group.id": "g" },
  paused: true,
  createdAt: 9,
} as const;

const FULL: ControlsChange = {
  ...book(
    3,
    rule("*", { limits: { concurrency: 2 }, description: 'nul\0 \ud800 \ue000 "é"' }),
    rule("a/*", { limits: { rate: { count: 1, periodMs: 60_000, burst: 5 } }, disabled: true }),
  ),
  services: new Map([["nul\0", { paused: true, handlers: { h: { concurrency: 1 } } }]]),
  deployments: new Map([["dp_1", true], ["dp_2", true]]),
  queues: new Map([["vq_1", true]]),
  clusters: new Map([["k", CLUSTER]]),
  subscriptions: new Map([["sub_1", SUBSCRIPTION]]),
};

test("rules, limits, pauses and subscriptions are loaded as they were stored", async () => {
  expect((await sqlDeploymentStore(client).load()).controls).toEqual(NOTHING_STORED);
  await sqlDeploymentStore(client).control(FULL);
  expect((await sqlDeploymentStore(client).load()).controls).toEqual({
    version: 3,
    rules: [...FULL.book!.rules.values()],
    services: [...FULL.services!],
    deployments: ["dp_1", "dp_2"],
    queues: ["vq_1"],
    clusters: [CLUSTER],
    subscriptions: [SUBSCRIPTION],
  });
});

test("what is removed is gone, and the version of the book stays", async () => {
  const store = sqlDeploymentStore(client);
  await store.control(FULL);
  await store.control({
    book: { version: 4, rules: new Map([["*", undefined], ["a/*", undefined]]) },
    services: new Map([["nul\0", undefined]]),
    deployments: new Map([["dp_1", false], ["dp_2", false]]),
    queues: new Map([["vq_1", false], ["vq_unknown", false]]),
    clusters: new Map([["k", undefined]]),
    subscriptions: new Map([["sub_1", undefined], ["sub_unknown", undefined]]),
  });
  expect((await store.load()).controls).toEqual({ ...NOTHING_STORED, version: 4 });
});

test("a deployment takes its pause with it when it is dropped", async () => {
  const store = sqlDeploymentStore(client);
  await store.save({ ...deployment, id: "dp_1" }, FULL);
  expect((await store.load()).controls.version).toBe(3);
  await store.drop("dp_1");
  expect((await store.load()).controls.deployments).toEqual(["dp_2"]);
});

test("ten thousand rules with long descriptions are one atomic write in small arguments", async () => {
  const rules = Array.from(
    { length: 10_000 },
    (_, at) => rule(`s${String(at).padStart(5, "0")}`, { description: "d".repeat(200) }),
  );
  let writes = 0, largest = 0;
  const store = sqlDeploymentStore({
    ...wrapped(client),
    batch: (mode, statements) => {
      writes++;
      for (const { args } of statements) {
        for (const arg of args) {
          if (typeof arg === "string") largest = Math.max(largest, arg.length);
        }
      }
      return client.batch(mode, statements);
    },
  });
  await store.control(book(1, ...rules));
  expect(writes).toBe(1);
  expect(largest).toBeLessThan(512 * 1024);
  expect((await store.load()).controls.rules).toEqual(rules);
});

describe("a store of several", () => {
  const open = (faults: (Fault | undefined)[]) =>
    sqlDeploymentStore(
      lossy(client, {
        fault: (mode) => mode === "write" ? faults.shift() : undefined,
        delay: () => 2,
      }),
      { retryMs: 1 },
    );

  test("refuses a change of controls that was decided before another change", async () => {
    const [one, two] = [open([]), open([])];
    await Promise.all([one.load(), two.load()]);
    await one.control(book(1, rule("a")));
    await expect(two.control(book(1, rule("b")))).rejects.toBeInstanceOf(Outdated);
    await expect(two.save(deployment)).rejects.toBeInstanceOf(Outdated);
    expect((await two.load()).controls.rules.map(({ pattern }) => pattern)).toEqual(["a"]);
  });

  test("knows its own batch again when the answer was lost", async () => {
    const store = open([undefined, "unheard", undefined, undefined, "unheard"]);
    await store.load();
    await store.control(FULL);
    await store.control({ book: { version: 4, rules: new Map([["*", undefined]]) } });
    const { version, rules } = (await store.load()).controls;
    expect([version, rules.map(({ pattern }) => pattern)]).toEqual([4, ["a/*"]]);
  });

  test("does not take another process's batch for its own", async () => {
    const rival = sqlDeploymentStore(client);
    await rival.load();
    let loses = false;
    const store = sqlDeploymentStore({
      ...wrapped(client),
      isLost: (cause) => cause instanceof Lost,
      batch: async (mode, statements) => {
        if (!loses) return await client.batch(mode, statements);
        loses = false;
        // The rival writes one of the two rules while the request is on its way to nowhere.
        await rival.control(book(1, rule("a")));
        throw new Lost();
      },
    }, { retryMs: 1 });
    await store.load();
    loses = true;
    const change = store.control(book(1, rule("a"), rule("b")));
    await expect(change).rejects.toBeInstanceOf(Outdated);
    expect((await store.load()).controls.rules).toEqual([rule("a")]);
  });
});

function wrapped(inner: SqlClient): SqlClient {
  return {
    batch: (mode, statements) => inner.batch(mode, statements),
    isRefused: (cause) => inner.isRefused(cause),
    close: () => inner.close(),
  };
}
