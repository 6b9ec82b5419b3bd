import { describe, expect, test, vi } from "vitest";
import type { Discovered } from "../../src/admin/registration.ts";
import { discovered, FakeStore, refusal, REGISTRATIONS_MAX, service, setup } from "./_setup.ts";

const uri = "http://localhost:9080/";
const other = "http://localhost:9081/";

describe("durability", () => {
  test("a restart keeps deployments, ids and revisions", async () => {
    const { endpoints, register, get, store } = await setup();
    endpoints.set(uri, discovered([service("A")]));
    endpoints.set(other, discovered([service("A")]));
    await register({ uri, metadata: { git: "abc" } });
    await register({ uri: other });
    await register({ uri: other, force: true });
    const before = [(await get("/deployments")).json, (await get("/services")).json];

    const restarted = await setup(store);
    expect([(await restarted.get("/deployments")).json, (await restarted.get("/services")).json])
      .toEqual(before);
    restarted.endpoints.set(uri, discovered([service("A")]));
    expect((await restarted.register({ uri })).status).toBe(200);
    const { json } = await restarted.register({ uri, force: true });
    expect(json.services).toMatchObject([{ revision: 4 }]);
  });

  test("nothing is answered or shown before it is stored", async () => {
    const { endpoints, register, get, store } = await setup();
    endpoints.set(uri, discovered([service("A")]));
    let open = () => {};
    store.gate = new Promise((resolve) => open = resolve);
    let answered = false;
    const answer = register({ uri }).then((response) => {
      answered = true;
      return response;
    });
    for (let i = 0; i < 50; i++) await Promise.resolve();
    expect(answered).toBe(false);
    expect((await get("/services/A")).status).toBe(404);
    open();
    expect((await answer).status).toBe(201);
    expect((await get("/services/A")).status).toBe(200);
  });

  test("a save that fails is answered with 503, and the next registration goes through", async () => {
    const { endpoints, register, store, get, logged } = await setup();
    endpoints.set(uri, discovered([service("A")]));
    store.faults.push("refuse");
    const { status, json } = await register({ uri });
    expect(status).toBe(503);
    expect(json).toEqual(refusal(null, expect.not.stringContaining("fire")));
    expect(logged).toMatchObject([{ level: "warn", fields: { cause: "the disk is on fire" } }]);
    expect((await get("/deployments")).json).toEqual({ deployments: [] });
    expect((await register({ uri })).status).toBe(201);
    expect(store.rows.size).toBe(1);
  });

  test("a save that was applied all the same is found, not doubled", async () => {
    const { endpoints, register, store, get } = await setup();
    endpoints.set(uri, discovered([service("A")]));
    store.faults.push("lose the answer");
    expect((await register({ uri })).status).toBe(503);
    const { status, json } = await register({ uri });
    expect(status).toBe(200);
    expect([...store.rows.keys()]).toEqual([json.id]);
    expect((await get("/services/A")).json.revision).toBe(1);
  });
});

describe("registrations at the same time", () => {
  test("of one address give one deployment", async () => {
    const { endpoints, register, store } = await setup();
    endpoints.set(uri, discovered([service("A")]));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => register({ uri, dry_run: i % 5 === 4 })),
    );
    expect(store.rows.size).toBe(1);
    const stored = answers.filter(({ status }) => status === 201);
    expect(stored).toHaveLength(1);
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1);
  });

  test("of one service at many addresses give it many revisions, each once", async () => {
    const { endpoints, register, registry, store } = await setup();
    const uris = Array.from({ length: 20 }, (_, i) => `http://localhost:9080/${i}`);
    for (const one of uris) endpoints.set(one, discovered([service("A")]));
    const answers = await Promise.all(uris.map((one) => register({ uri: one })));
    expect(answers.map(({ status }) => status)).toEqual(uris.map(() => 201));
    const revisions = answers.map(({ json }) => json.services[0].revision);
    expect(revisions.sort((a, b) => a - b)).toEqual(uris.map((_, i) => i + 1));
    expect(registry.schema().latest("A")?.revision).toBe(20);
    expect(store.rows.size).toBe(20);
  });

  test("forced onto one address each raise the revision once", async () => {
    const { endpoints, register, registry } = await setup();
    endpoints.set(uri, discovered([service("A")]));
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => register({ uri, force: true })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(registry.schema().latest("A")?.revision).toBe(10);
  });

  test("never overwrite what is newer with what an endpoint said before", async () => {
    const { endpoints, register, registry, asked } = await setup();
    let answer = (_: Discovered) => {};
    endpoints.set(uri, new Promise((resolve) => answer = resolve));
    const slow = register({ uri, force: true });
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    endpoints.set(uri, discovered([service("New")]));
    const quick = register({ uri, force: true });
    await register({ uri: other });
    answer(discovered([service("Old")]));
    expect([(await slow).status, (await quick).status]).toEqual([201, 200]);
    expect(registry.schema().services().map(({ name }) => name)).toEqual(["New"]);
  });

  test("do not wait for an endpoint that hangs", async () => {
    const { registry, endpoints, register } = await setup();
    endpoints.set(other, discovered([service("A")]));
    endpoints.set(uri, new Promise(() => {}));
    const hanging = register({ uri });
    expect((await register({ uri: other })).status).toBe(201);
    expect(registry.list()).toHaveLength(1);
    void hanging;
  });

  test("are limited", async () => {
    const store = new FakeStore();
    const { endpoints, register } = await setup(store);
    endpoints.set(uri, discovered([service("A")]));
    const answers = await Promise.all(
      Array.from({ length: REGISTRATIONS_MAX + 5 }, () => register({ uri })),
    );
    expect(answers.filter(({ status }) => status === 503)).toHaveLength(5);
    expect((await register({ uri })).status).toBe(200);
  });
});
