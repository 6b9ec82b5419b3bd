import { afterEach, beforeEach, expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import { CatalogOwner } from "../../src/admin/catalog_owner.ts";
import type { ControlsChange } from "../../src/model/controls.ts";
import type { SqlClient } from "../../src/ports.ts";
import { sqlDeploymentStore } from "../../src/storage/deployment_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { defaults, deployment } from "../support/schema.ts";

let client: SqlClient;

beforeEach(async () => {
  client = await openLibsql({ url: ":memory:" });
  await migrate(client);
});
afterEach(() => client.close());

const WHAT = "test the catalog";

/** A process, and how often its listener was called. */
async function open(announce: () => Promise<void> = () => Promise.resolve()) {
  const owner = await CatalogOwner.open(sqlDeploymentStore(client), defaults, { announce });
  const heard: number[] = [];
  const end = owner.subscribe(() => heard.push(owner.schema().controls.rules.version));
  return { owner, heard, end };
}

function book(version: number, description?: string): ControlsChange {
  const rule = {
    pattern: "a",
    limits: { concurrency: 1 },
    disabled: false,
    version: 1,
    modifiedAt: 1,
  };
  return {
    book: { version, rules: new Map([["a", description ? { ...rule, description } : rule]]) },
  };
}

function change(owner: CatalogOwner, change: ControlsChange): Promise<void> {
  return owner.writing(WHAT, () => owner.control(WHAT, change));
}

test("listeners hear of a change of controls once the snapshot shows it, and of nothing else", async () => {
  const { owner, heard, end } = await open();
  await owner.writing(WHAT, () => owner.save(WHAT, deployment));
  expect(heard).toEqual([]);
  await change(owner, book(1));
  expect(heard).toEqual([1]);
  await owner.writing(WHAT, () => owner.save(WHAT, deployment, book(2)));
  expect(heard).toEqual([1, 2]);
  end();
  await change(owner, book(3));
  expect(heard).toEqual([1, 2]);
});

test("a process hears of another one's change when it reads the store, once", async () => {
  const [one, two] = [await open(), await open()];
  await change(one.owner, book(1));
  expect(two.owner.schema().controls.rules.version).toBe(0);
  await two.owner.reload();
  await two.owner.reload();
  expect(two.heard).toEqual([1]);
  expect(two.owner.schema().controls.rules.ruleOf("a")).toMatchObject({ version: 1 });
  await change(one.owner, { queues: new Map([["vq_1", true]]) });
  await change(one.owner, { services: new Map([["greeter", { paused: true }]]) });
  await two.owner.reload();
  expect(two.heard).toEqual([1, 1]);
  await change(one.owner, book(1, "described"));
  await two.owner.reload();
  expect(two.heard).toEqual([1, 1, 1]);
  expect(two.owner.schema().controls.rules.get("a")?.description).toBe("described");
});

test("what is read again and has not changed is the same object", async () => {
  const { owner } = await open();
  await change(owner, book(1));
  const { controls } = owner.schema();
  await owner.reload();
  expect(owner.schema().controls).toBe(controls);
});

const cluster = { name: "k", properties: { "bootstrap.servers": "b:9092" }, createdAt: 1 };

test("what comes from Kafka is no change of limits, and each change of it shows", async () => {
  const [one, two] = [await open(), await open()];
  const seen: number[] = [];
  const end = two.owner.subscribeAll(() => seen.push(two.owner.schema().controls.clusters.size));
  await change(one.owner, book(1));
  await two.owner.reload();
  one.heard.length = two.heard.length = seen.length = 0;
  const { rules } = two.owner.schema().controls;
  await change(one.owner, { clusters: new Map([["k", cluster]]) });
  await two.owner.reload();
  expect(seen).toEqual([1]);
  expect([one.heard, two.heard]).toEqual([[], []]);
  expect(two.owner.schema().controls.rules).toBe(rules);
  expect(two.owner.schema().controls.clusters.get("k")).toEqual(cluster);
  await change(one.owner, { clusters: new Map([["k", undefined]]) });
  await two.owner.reload();
  expect(seen).toEqual([1, 0]);
  end();
  await change(two.owner, { clusters: new Map([["k", cluster]]) });
  expect(seen).toEqual([1, 0]);
});

test("a paused deployment is not paused any more when it is dropped", async () => {
  const { owner, heard } = await open();
  const { id } = deployment;
  await owner.writing(
    WHAT,
    () => owner.save(WHAT, deployment, { deployments: new Map([[id, true]]) }),
  );
  expect([...owner.schema().controls.pausedDeployments]).toEqual([id]);
  heard.length = 0;
  await owner.writing(WHAT, () => owner.drop(WHAT, id));
  expect(heard.length).toBeGreaterThan(0);
  heard.length = 0;
  expect([...owner.schema().controls.pausedDeployments]).toEqual([]);
  await owner.reload();
  expect([...owner.schema().controls.pausedDeployments]).toEqual([]);
  expect(heard).toEqual([]);
});

test("while a deployment is paused, listeners hear of every change of what is registered", async () => {
  const { owner, heard } = await open();
  await change(owner, { deployments: new Map([["dp_paused", true]]) });
  heard.length = 0;
  await owner.writing(WHAT, () => owner.save(WHAT, deployment));
  expect(heard.length).toBeGreaterThan(0);
});

test("two processes that change controls at once lose nothing", async () => {
  const all: CatalogOwner[] = [];
  const announce = async () => void await Promise.all(all.map((one) => one.reload()));
  for (let n = 0; n < 2; n++) all.push((await open(announce)).owner);
  await Promise.all(
    Array.from(
      { length: 20 },
      (_, n) => change(all[n % 2]!, { queues: new Map([[`vq_${n}`, true]]) }),
    ),
  );
  for (const one of all) expect(one.schema().controls.pausedQueues.size).toBe(20);
});
