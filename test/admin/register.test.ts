import { describe, expect, test } from "vitest";
import { Failure } from "../../src/errors.ts";
import { checkDeploymentId } from "../../src/model/id.ts";
import { discovered, handler, refusal, service, setup } from "./_setup.ts";

const uri = "http://localhost:9080/";
const other = "http://localhost:9081/";

test("many services are decided on, compared and answered with pauses, which serve others", async () => {
  const { world, endpoints, register, put, get } = await setup();
  const pausesOf = async (ask: () => Promise<{ status: number; json: unknown }>) => {
    const before = world.pauses;
    const { status, json } = await ask();
    expect(status).toBeLessThan(300);
    expect((json as { services: unknown[] }).services).toHaveLength(300);
    return world.pauses - before;
  };
  endpoints.set(uri, discovered(Array.from({ length: 300 }, (_, at) => service(`S${at}`))));
  expect(await pausesOf(() => register({ uri }))).toBeGreaterThan(30);
  expect(await pausesOf(() => register({ uri }))).toBeGreaterThan(30);
  expect(await pausesOf(() => register({ uri, force: true }))).toBeGreaterThan(30);
  const [deployment] = (await get("/deployments")).json.deployments;
  const path = `/deployments/${deployment.id}`;
  expect(await pausesOf(() => put(path, {}))).toBeGreaterThan(30);
  expect(await pausesOf(() => get(path))).toBeGreaterThan(15);
  const handlers = Array.from({ length: 300 }, (_, at) => handler(`h${at}`));
  endpoints.set(other, discovered([service("Wide", handlers)]));
  const { json } = await register({ uri: other });
  expect(json.services[0].handlers).toHaveLength(300);
  const before = world.pauses;
  await get(`/deployments/${json.id}`);
  expect(world.pauses - before).toBeGreaterThan(15);
});

describe("a new address", () => {
  test("becomes a deployment with a well-formed id and first revisions", async () => {
    const { endpoints, register, registry, store } = await setup();
    endpoints.set(uri, discovered([service("A"), service("B")]));
    const { status, headers, json } = await register({ uri: "http://localhost:9080" });
    expect(status).toBe(201);
    expect(checkDeploymentId(json.id)).toBe(json.id);
    expect(headers.get("location")).toBe(`deployments/${json.id}`);
    expect(headers.get("content-type")).toBe("application/json");
    expect(json.services).toMatchObject([
      { name: "A", revision: 1, deployment_id: json.id },
      { name: "B", revision: 1, deployment_id: json.id },
    ]);
    expect(registry.schema().latest("A")?.deployment).toBe(json.id);
    expect(store.rows.has(json.id)).toBe(true);
  });

  test("is discovered with the headers and the HTTP version that were asked for", async () => {
    const { endpoints, register, asked } = await setup();
    endpoints.set(uri, discovered([]));
    await register({ uri, use_http_11: true, additional_headers: { "X-Api": "k" } });
    expect(asked).toEqual([{ uri, useHttp11: true, additionalHeaders: { "x-api": "k" } }]);
  });

  test("takes its services over from older deployments, which keep theirs", async () => {
    const { endpoints, register, get, registry } = await setup();
    endpoints.set(uri, discovered([service("A"), service("B")]));
    endpoints.set(other, discovered([service("A")]));
    const old = (await register({ uri })).json.id;
    const { status, json } = await register({ uri: other });
    expect(status).toBe(201);
    expect(json.services).toMatchObject([{ name: "A", revision: 2 }]);
    expect(registry.schema().latest("A")?.deployment).toBe(json.id);
    expect(registry.schema().latest("B")?.deployment).toBe(old);
    expect(registry.schema().at(old, "A")?.revision).toBe(1);
    expect((await get("/deployments")).json.deployments.map((one: { id: string }) => one.id))
      .toEqual([old, json.id]);
  });

  test("may serve nothing, and of services with one name the last wins", async () => {
    const { endpoints, register } = await setup();
    endpoints.set(uri, discovered([]));
    endpoints.set(other, discovered([service("A", []), service("A", [handler("b")])]));
    expect((await register({ uri })).json.services).toEqual([]);
    const { services } = (await register({ uri: other })).json;
    expect(services).toHaveLength(1);
    expect(services[0].handlers).toMatchObject([{ name: "b" }]);
  });

  test("that discovery refuses is refused with discovery's code, and nothing is stored", async () => {
    for (const code of ["META0003", "META0012", "META0013", "META0014", "META0015"] as const) {
      const { endpoints, register, store, registry, logged } = await setup();
      endpoints.set(uri, new Failure(code, "No"));
      const { status, json } = await register({ uri });
      expect(status).toBe(500);
      expect(json).toEqual(refusal(code, `[${code}] No`));
      expect(store.rows.size).toBe(0);
      expect(registry.list()).toEqual([]);
      expect(logged).toEqual([]);
    }
  });

  test("with a reserved service name is refused with META0005", async () => {
    for (const name of ["openapi", "OpenAPI", "restate_x", "RestateAdmin", "svc"]) {
      const { endpoints, register, store } = await setup();
      endpoints.set(uri, discovered([service("Fine"), service(name)]));
      const { status, json } = await register({ uri, force: true });
      expect(status).toBe(400);
      expect(json).toEqual(refusal("META0005", expect.stringContaining(`'${name}'`)));
      expect(store.rows.size).toBe(0);
    }
  });
});

describe("a known address without force", () => {
  test("that serves the same is asked again and changes nothing", async () => {
    const { world, endpoints, register, asked, store, registry } = await setup();
    const options = { lazyState: true, inactivityTimeoutMs: 5 };
    const handlers = [handler("a", { options }), handler("b")];
    endpoints.set(uri, discovered([service("A", handlers), service("B")], { sdkVersion: "1" }));
    const first = await register({ uri, metadata: { git: "abc" } });
    const [schema, rows] = [registry.schema(), new Map(store.rows)];
    world.now += 1000;
    // The same manifest in another order, with other keys first, from another SDK release.
    const again = {
      options: { inactivityTimeoutMs: 5, lazyState: true },
      public: true,
      access: "none",
      name: "a",
    } as const;
    endpoints.set(
      uri,
      discovered([service("B"), service("A", [handler("b"), again])], { sdkVersion: "2" }),
    );
    const second = await register({ uri: "http://LOCALHOST:9080", metadata: { git: "def" } });
    expect(second.status).toBe(200);
    expect(second.json).toEqual(first.json);
    expect(second.headers.get("location")).toBe(`deployments/${first.json.id}`);
    expect(asked).toHaveLength(2);
    expect(store.rows).toEqual(rows);
    expect(registry.schema()).toBe(schema);
  });

  test("that serves something else is refused with META0004", async () => {
    const changes = [
      discovered([service("A"), service("B")]),
      discovered([]),
      discovered([service("A", [handler("h"), handler("g")])]),
      discovered([service("A", [handler("h", { public: false })])]),
      discovered([service("A", [handler("h")], { type: "virtual_object" })]),
      discovered([service("A", [handler("h")], { options: { lazyState: true } })]),
      discovered([service("A")], { mode: "requestResponse" }),
      {
        ...discovered([]),
        manifest: { mode: "bidi", minProtocol: 5, maxProtocol: 6, services: [service("A")] },
      } as const,
    ];
    for (const change of changes) {
      const { endpoints, register, registry } = await setup();
      endpoints.set(uri, discovered([service("A")]));
      const { json: { id } } = await register({ uri });
      const schema = registry.schema();
      endpoints.set(uri, change);
      for (const more of [{}, { breaking: true }, { dry_run: true }, { force: false }]) {
        const { status, json } = await register({ uri, ...more });
        expect(status).toBe(409);
        expect(json).toEqual(refusal("META0004", expect.stringContaining(id)));
      }
      expect(registry.schema()).toBe(schema);
    }
  });

  test("is asked the way it was registered, with what is given now on top", async () => {
    const { endpoints, register, asked } = await setup();
    endpoints.set(uri, discovered([], { httpVersion: "HTTP/1.1" }));
    await register({ uri, use_http_11: true, additional_headers: { a: "1", b: "1" } });
    expect((await register({ uri, additional_headers: { b: "2" } })).status).toBe(200);
    expect(asked[1]).toEqual({ uri, useHttp11: true, additionalHeaders: { a: "1", b: "2" } });
  });

  test("that cannot be reached is refused, because its services are unknown", async () => {
    const { endpoints, register } = await setup();
    endpoints.set(uri, discovered([service("A")]));
    await register({ uri });
    endpoints.delete(uri);
    expect((await register({ uri })).json.svc_code).toBe("META0003");
  });
});

describe("a known address with force", () => {
  test("is overwritten: same id, new time, next revisions, new headers", async () => {
    const { endpoints, register, get, asked } = await setup();
    endpoints.set(uri, discovered([service("A"), service("B")]));
    endpoints.set(other, discovered([service("A")]));
    const first = await register({ uri, additional_headers: { a: "1" }, metadata: { git: "a" } });
    await register({ uri: other });
    const before = (await get(`/deployments/${first.json.id}`)).json;
    endpoints.set(uri, discovered([service("A"), service("C")]));
    const { status, json, headers } = await register({ uri, force: true });
    expect(status).toBe(200);
    expect(json.id).toBe(first.json.id);
    expect(headers.get("location")).toBe(`deployments/${first.json.id}`);
    expect(json.services).toMatchObject([{ name: "A", revision: 3 }, { name: "C", revision: 1 }]);
    const after = (await get(`/deployments/${first.json.id}`)).json;
    expect(after.created_at > before.created_at).toBe(true);
    expect(after).not.toHaveProperty("additional_headers");
    expect(after).not.toHaveProperty("metadata");
    expect(asked.at(-1)?.additionalHeaders).toEqual({});
    // B has no home any more.
    expect((await get("/services/B")).status).toBe(404);
    expect((await get("/services/A")).json.deployment_id).toBe(first.json.id);
  });

  test("raises revisions even when nothing changed", async () => {
    const { endpoints, register } = await setup();
    endpoints.set(uri, discovered([service("A")]));
    for (const revision of [1, 2, 3]) {
      expect((await register({ uri, force: true })).json.services).toMatchObject([{ revision }]);
    }
  });

  test("is refused with META0017 when several deployments share it", async () => {
    const { endpoints, register, store } = await setup();
    endpoints.set(uri, discovered([service("A")]));
    const { json: { id } } = await register({ uri });
    const twin = { ...JSON.parse(store.rows.get(id) ?? ""), id: "dp_10gljqQL0GMtOMEUrImDdL3" };
    store.rows.set(twin.id, JSON.stringify(twin));
    const restarted = await setup(store);
    restarted.endpoints.set(uri, discovered([service("A")]));
    const { status, json } = await restarted.register({ uri, force: true });
    expect(status).toBe(409);
    expect(json).toEqual(refusal("META0017", expect.stringContaining(id)));
    expect(json.message).toContain(twin.id);
    expect((await restarted.register({ uri })).status).toBe(200);
  });
});

describe("a service that changes its type", () => {
  const changed = service("A", [handler("h", { access: "exclusive" })], { type: "virtual_object" });

  test("is refused with META0006", async () => {
    const { endpoints, register, store } = await setup();
    endpoints.set(uri, discovered([service("A")]));
    endpoints.set(other, discovered([changed]));
    await register({ uri });
    const { status, json } = await register({ uri: other });
    expect(status).toBe(409);
    expect(json).toEqual(refusal("META0006", expect.stringContaining("'A'")));
    expect(store.rows.size).toBe(1);
  });

  test("is accepted with breaking or with force", async () => {
    for (const more of [{ breaking: true }, { force: true }]) {
      const { endpoints, register } = await setup();
      endpoints.set(uri, discovered([service("A")]));
      endpoints.set(other, discovered([changed]));
      await register({ uri });
      const { status, json } = await register({ uri: other, ...more });
      expect(status).toBe(201);
      expect(json.services).toMatchObject([{ ty: "VirtualObject", revision: 2 }]);
    }
  });
});

describe("a dry run", () => {
  test("answers as if, and stores nothing", async () => {
    const { endpoints, register, get, store } = await setup();
    endpoints.set(uri, discovered([service("A")]));
    const first = await register({ uri, dry_run: true });
    expect(first.status).toBe(201);
    expect(first.json.services).toMatchObject([{ revision: 1, deployment_id: first.json.id }]);
    expect((await get(`/deployments/${first.json.id}`)).status).toBe(404);
    expect(store.rows.size).toBe(0);

    const { json: { id } } = await register({ uri });
    const forced = await register({ uri, force: true, dry_run: true });
    expect([forced.status, forced.json.id]).toEqual([200, id]);
    expect(forced.json.services).toMatchObject([{ revision: 2 }]);
    expect((await register({ uri, dry_run: true })).status).toBe(200);
    expect((await get("/services/A")).json.revision).toBe(1);
  });

  test("is checked like any other", async () => {
    const { endpoints, register } = await setup();
    endpoints.set(uri, discovered([service("openapi")]));
    expect((await register({ uri, dry_run: true })).json.svc_code).toBe("META0005");
  });
});
