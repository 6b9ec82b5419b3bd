import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import { Registry } from "../../src/admin/registry.ts";
import type { Deployment } from "../../src/model/schema.ts";
import { Outdated, type SqlClient } from "../../src/ports.ts";
import { sqlDeploymentStore } from "../../src/storage/deployment_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { type Fault, lossy } from "../storage/_lossy.ts";
import { defaults } from "../support/schema.ts";
import { discovered, service } from "./_setup.ts";

const PATIENT = { retryMs: 1 };
let client: SqlClient, drawn = 0;

beforeEach(async () => {
  client = await openLibsql({ url: ":memory:" });
  await migrate(client);
});
afterEach(() => client.close());

/** Processes that share a database; each notifies the others of its changes. */
async function processes(count: number): Promise<Registry[]> {
  const all: Registry[] = [];
  for (let n = 0; n < count; n++) {
    all.push(
      await Registry.open(sqlDeploymentStore(client, PATIENT), defaults, {
        clock: { now: () => ++drawn, soon: setImmediate },
        random: (size) => new Uint8Array(size).fill(++drawn),
        registrationsMax: 100,
        rulesMax: 100,
        pausedQueuesMax: 100,
        clustersMax: 100,
        subscriptionsMax: 100,
        announce: async () => {
          // An announcement takes time: an answer that does not wait for it is early.
          await new Promise((resolve) => setTimeout(resolve, 1));
          await Promise.all(all.filter((one) => one !== all[n]).map((one) => one.reload()));
        },
        discover: () => Promise.resolve(discovered([service("A"), service(`S${n}`)])),
      }),
    );
  }
  return all;
}

function register(registry: Registry, uri: string) {
  const flags = { force: false, breaking: false, dryRun: false, useHttp11: false };
  return registry.register({ ...flags, uri, additionalHeaders: {}, metadata: {} });
}

test("processes that register at once lose nothing, and know everything when they are answered", async () => {
  const all = await processes(3);
  const uris = Array.from({ length: 12 }, (_, n) => `http://localhost:${n}/`);
  const answered: Deployment[] = [];
  await Promise.all(uris.map(async (uri, n) => {
    const { deployment } = await register(all[n % 3]!, uri);
    answered.push(deployment);
    for (const one of all) expect(one.list()).toEqual(expect.arrayContaining(answered));
  }));
  expect(answered.map((one) => one.uri).toSorted()).toEqual(uris.toSorted());
  const revisions = (registry: Registry | undefined) =>
    registry?.list().flatMap(({ services }) => services.filter(({ name }) => name === "A"))
      .map(({ revision }) => revision).toSorted((a, b) => a - b);
  for (const one of all) expect(revisions(one)).toEqual(uris.map((_, n) => n + 1));
  expect(new Set(all.map(({ version }) => version))).toEqual(new Set([12]));
});

test("one address that is registered at several processes is registered once", async () => {
  const [one, two] = await processes(2);
  if (!one || !two) throw new Error("there are two");
  const uri = "http://localhost/";
  const outcomes = await Promise.allSettled([register(one, uri), register(two, uri)]);
  expect(one.list()).toHaveLength(1);
  expect(two.list()).toEqual(one.list());
  // They answer different manifests here: the second is refused, or was the first.
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

describe("a store", () => {
  const open = (faults: (Fault | undefined)[]) => {
    const bad = lossy(client, {
      fault: (mode) => mode === "write" ? faults.shift() : undefined,
      delay: () => 2,
    });
    return sqlDeploymentStore(bad, { retryMs: 1 });
  };

  async function deployment() {
    const [registry] = await processes(1);
    if (!registry) throw new Error("there is one");
    return (await register(registry, "http://localhost/")).deployment;
  }

  test("refuses a change that was decided before another process's change", async () => {
    const made = await deployment();
    const [one, two] = [open([]), open([])];
    await Promise.all([one.load(), two.load()]);
    await one.save({ ...made, id: "dp_other" });
    await expect(two.drop(made.id)).rejects.toBeInstanceOf(Outdated);
    await two.load();
    await two.drop(made.id);
    expect((await one.load()).deployments.map(({ id }) => id)).toEqual(["dp_other"]);
  });

  test("knows its own change again when the answer was lost", async () => {
    const made = await deployment();
    const store = open([undefined, "unheard", undefined, undefined, "lost", "unheard"]);
    await store.load();
    await store.save({ ...made, id: "dp_x" });
    await store.drop("dp_x");
    expect((await store.load()).deployments.map(({ id }) => id)).toEqual([made.id]);
  });

  test("a copy that arrives late undoes nothing", async () => {
    const made = await deployment();
    const store = open([undefined, "echo"]);
    await store.load();
    await store.save({ ...made, createdAt: 1 });
    await store.save({ ...made, createdAt: 2 });
    await store.load();
    await store.load();
    expect((await store.load()).deployments).toMatchObject([{ createdAt: 2 }]);
  });
});
