import { describe, expect, test } from "vitest";
import { discovered, handler, refusal, service, setup } from "./_setup.ts";

const uri = "http://localhost:9080/";
const other = "http://localhost:9081/";
const unknown = "dp_16lq9KEFemrppKnYdVPzpTj";
const handlers = [handler("a"), handler("b")];

/** One deployment of two services, at `uri`. */
async function withDeployment() {
  const all = await setup();
  all.endpoints.set(uri, discovered([service("A", handlers), service("B")], { sdkVersion: "1" }));
  const { json } = await all.register({
    uri,
    additional_headers: { a: "1" },
    metadata: { m: "1" },
  });
  const id = json.id as string;
  return { ...all, id, path: `/deployments/${id}` };
}

function ranged(max: number) {
  const found = discovered([service("A", handlers), service("B")]);
  return { ...found, manifest: { ...found.manifest, maxProtocol: max } };
}

describe("an update in place", () => {
  test("of nothing changes nothing and sends no discovery", async () => {
    const { patch, get, path, asked } = await withDeployment();
    const before = (await get(path)).json;
    for (const body of [{}, { uri: null, overwrite: null, x: 1 }]) {
      const { status, json } = await patch(path, body);
      expect(status).toBe(200);
      expect(json).toEqual(before);
    }
    expect(asked).toHaveLength(1);
  });

  test("moves it to another address, with the services it has", async () => {
    const { patch, get, path, id, endpoints, asked, registry } = await withDeployment();
    const before = (await get(path)).json;
    const more = [service("A", [...handlers, handler("c")]), service("B"), service("C")];
    const found = discovered(more, { mode: "requestResponse", httpVersion: "HTTP/1.1" });
    endpoints.set(other, { ...found, sdkVersion: "2", dialect: "restate" });
    const { status, json } = await patch(path, { uri: "http://localhost:9081", use_http_11: true });
    expect(status).toBe(200);
    expect(asked.at(-1)).toEqual({ uri: other, useHttp11: true, additionalHeaders: { a: "1" } });
    expect(json).toMatchObject({
      id,
      uri: other,
      protocol_type: "RequestResponse",
      http_version: "HTTP/1.1",
      sdk_version: "2",
      created_at: before.created_at,
      metadata: { m: "1" },
      additional_headers: { a: "1" },
    });
    expect(json.services.map((one: { name: string }) => one.name)).toEqual(["A", "B"]);
    expect(json.services[0].handlers).toHaveLength(2);
    expect(registry.schema().latest("A")?.revision).toBe(1);
    expect((await get(path)).json).toEqual(json);
    expect(registry.get(id)?.dialect).toBe("restate");
  });

  test("replaces all its headers, and asks with the new ones", async () => {
    const { patch, path, asked } = await withDeployment();
    const { json } = await patch(path, { additional_headers: { B: "2" } });
    expect(json.additional_headers).toEqual({ b: "2" });
    expect(asked.at(-1)).toEqual({ uri, useHttp11: false, additionalHeaders: { b: "2" } });
    expect((await patch(path, { additional_headers: {} })).json).not.toHaveProperty(
      "additional_headers",
    );
  });

  test("asks over HTTP/1.1 again what it has found there", async () => {
    const { patch, endpoints, register, asked } = await setup();
    endpoints.set(uri, discovered([], { httpVersion: "HTTP/1.1" }));
    const { id } = (await register({ uri, use_http_11: true })).json;
    await patch(`/deployments/${id}`, { additional_headers: {} });
    expect(asked.at(-1)?.useHttp11).toBe(true);
    await patch(`/deployments/${id}`, { use_http_11: false });
    expect(asked.at(-1)?.useHttp11).toBe(false);
  });

  test("with overwrite takes over what is served now, revisions stay", async () => {
    const { patch, get, path, endpoints, registry } = await withDeployment();
    endpoints.set(
      uri,
      discovered([service("A", [handler("a")], { type: "workflow" }), service("C")]),
    );
    const { status, json } = await patch(path, { overwrite: true });
    expect(status).toBe(200);
    expect(json.services).toMatchObject([
      { name: "A", ty: "Workflow", revision: 1, handlers: [{ name: "a" }] },
      { name: "C", revision: 1 },
    ]);
    expect((await get("/services/B")).status).toBe(404);
    expect(registry.schema().latest("A")?.type).toBe("workflow");
    // A new revision comes after those of other deployments.
    endpoints.set(other, discovered([service("D")]));
    await (await withDeployment()).get("/");
  });

  test("gives a service that is new to it the revision after the latest", async () => {
    const { patch, path, register, endpoints } = await withDeployment();
    endpoints.set(other, discovered([service("C")]));
    await register({ uri: other });
    endpoints.set(uri, discovered([service("A", handlers), service("B"), service("C")]));
    const { json } = await patch(path, { overwrite: true });
    expect(json.services.map((one: { revision: number }) => one.revision)).toEqual([1, 1, 2]);
  });

  test.each(
    [
      ["a service that disappears", [service("A", handlers)], "'B' would disappear"],
      [
        "a handler that disappears",
        [service("A", [handler("a")]), service("B")],
        "'A/b' would disappear",
      ],
      [
        "a service that changes its type",
        [service("A", handlers, { type: "virtual_object" }), service("B")],
        "'A' would change from service to virtual_object",
      ],
    ] as const,
  )("without overwrite is refused for %s", async (_what, services, message) => {
    const { patch, get, path, endpoints } = await withDeployment();
    const before = (await get(path)).json;
    endpoints.set(uri, discovered(services));
    for (const more of [{}, { dry_run: true }]) {
      const { status, json } = await patch(path, { additional_headers: { c: "d" }, ...more });
      expect(status).toBe(400);
      expect(json).toEqual(refusal("META0016", expect.stringContaining(message)));
    }
    expect((await get(path)).json).toEqual(before);
    expect((await patch(path, { overwrite: true })).status).toBe(200);
  });

  test("is refused for other protocol versions, overwrite or not", async () => {
    const { patch, path, endpoints } = await withDeployment();
    endpoints.set(uri, ranged(6));
    for (const overwrite of [false, true]) {
      const { status, json } = await patch(path, { use_http_11: false, overwrite });
      expect(status).toBe(400);
      const message = expect.stringContaining("from 5..=7 to 5..=6");
      expect(json).toEqual(refusal("META0016", message));
    }
  });

  test("is refused for reserved names, and by discovery", async () => {
    const { patch, path, endpoints } = await withDeployment();
    endpoints.set(uri, discovered([service("openapi")]));
    expect((await patch(path, { overwrite: true })).json.svc_code).toBe("META0005");
    const { status, json } = await patch(path, { uri: "http://localhost:1" });
    expect([status, json.svc_code]).toEqual([500, "META0003"]);
  });

  test("that is only tried stores nothing", async () => {
    const { patch, get, path, endpoints } = await withDeployment();
    const before = (await get(path)).json;
    endpoints.set(other, discovered([service("Z")]));
    const { status, json } = await patch(path, { uri: other, overwrite: true, dry_run: true });
    expect(status).toBe(200);
    expect(json).toMatchObject({ uri: other, services: [{ name: "Z" }] });
    expect((await get(path)).json).toEqual(before);
  });

  test("may share an address, which then cannot be overwritten", async () => {
    const { patch, path, register, endpoints } = await withDeployment();
    endpoints.set(other, discovered([service("A", handlers), service("B")]));
    expect((await register({ uri: other })).status).toBe(201);
    expect((await patch(path, { uri: other })).status).toBe(200);
    const { status, json } = await register({ uri: other, force: true });
    expect(status).toBe(409);
    expect(json).toEqual(refusal("META0017", expect.stringContaining("share this address")));
    expect((await register({ uri: other })).status).toBe(200);
  });

  test("works by PUT as well, in every version of the interface", async () => {
    const { put, path, endpoints } = await withDeployment();
    for (const version of ["", "/v2", "/v3", "/v4"]) {
      const { status, json } = await put(`${version}${path}`, { uri, additional_headers: {} });
      expect([status, json.uri]).toEqual([200, uri]);
    }
    endpoints.set(uri, discovered([]));
    expect((await put(path, { uri })).json.svc_code).toBe("META0016");
  });

  test("by PUT takes over what is new at the endpoint, whatever the body says", async () => {
    const { put, get, path, endpoints, registry } = await withDeployment();
    const more = [handler("a", { documentation: "new" }), handler("b"), handler("c")];
    endpoints.set(uri, discovered([service("A", more), service("B"), service("C")]));
    const tried = await put(path, { dry_run: true });
    expect(tried.json.services).toHaveLength(3);
    expect((await get("/services/C")).status).toBe(404);
    for (const body of [{}, { additional_headers: { a: "2" } }]) {
      const { status, json } = await put(path, body);
      expect(status).toBe(200);
      expect(json.services).toMatchObject([
        { name: "A", revision: 1, handlers: [{ documentation: "new" }, {}, { name: "c" }] },
        { name: "B", revision: 1 },
        { name: "C", revision: 1 },
      ]);
      expect((await get(path)).json).toEqual(json);
    }
    expect(registry.schema().latest("A")?.handlers).toHaveProperty("c");
  });

  test("by PUT keeps what an operator changed, and what was announced beside it", async () => {
    const { put, patch, get, register, path, endpoints } = await withDeployment();
    await patch("/services/A", { public: false, abort_timeout: "5m" });
    const options = { abortTimeoutMs: 1000, inactivityTimeoutMs: 2000 };
    endpoints.set(
      uri,
      discovered([service("A", [...handlers, handler("c")], { options }), service("B")]),
    );
    expect((await put(path, {})).status).toBe(200);
    expect((await get("/services/A")).json).toMatchObject({
      public: false,
      abort_timeout: "5m",
      inactivity_timeout: "2s",
      handlers: [{}, {}, { name: "c", public: false }],
    });
    expect((await register({ uri })).status).toBe(200);
    await register({ uri, force: true });
    expect((await get("/services/A")).json).toMatchObject({ public: true, abort_timeout: "1s" });
  });

  test("by PUT keeps the retention that an operator gave to a workflow", async () => {
    const { put, patch, get, register, endpoints } = await setup();
    const run = handler("run", { access: "run", options: { workflowRetentionMs: 1000 } });
    const ask = handler("ask", { access: "shared" });
    endpoints.set(uri, discovered([service("W", [run], { type: "workflow" })]));
    const { id } = (await register({ uri })).json;
    await patch("/services/W", { workflow_completion_retention: "2h" });
    endpoints.set(uri, discovered([service("W", [run, ask], { type: "workflow" })]));
    expect((await put(`/deployments/${id}`, {})).status).toBe(200);
    const { json } = await get("/services/W");
    expect(json.workflow_completion_retention).toBe("2h");
    expect(json.handlers).toHaveLength(2);
  });

  test("of an unknown deployment is refused, and of one that is deleted meanwhile", async () => {
    const { patch, path, send, endpoints } = await withDeployment();
    expect(await patch(`/deployments/${unknown}`, {})).toMatchObject({
      status: 404,
      json: refusal(null, `The requested deployment '${unknown}' does not exist`),
    });
    expect((await patch("/deployments/foo", {})).status).toBe(400);
    let answer = (_found: ReturnType<typeof discovered>) => {};
    endpoints.set(uri, new Promise((resolve) => answer = resolve));
    const updating = patch(path, { additional_headers: {} });
    expect((await send("DELETE", `${path}?force=true`)).status).toBe(202);
    answer(discovered([service("A", handlers), service("B")]));
    expect((await updating).status).toBe(404);
  });

  test.each([
    ["[]", 422],
    ['{"uri":5}', 422],
    ['{"overwrite":"yes"}', 422],
    ['{"additional_headers":{"a b":"c"}}', 422],
    ['{"uri":"foo"}', 400],
    ['{"assume_role_arn":"arn:aws:iam::123456789012:role/r"}', 400],
    ["{", 400],
  ])("with the body %s is refused with %i", async (body, status) => {
    const { patch, path, asked } = await withDeployment();
    expect((await patch(path, body)).status).toBe(status);
    expect(asked).toHaveLength(1);
  });

  test("is durable before it is answered", async () => {
    const { patch, get, path, store } = await withDeployment();
    const before = (await get(path)).json;
    store.faults.push("refuse");
    const { status, json } = await patch(path, { additional_headers: {} });
    expect(status).toBe(503);
    expect(json.message).toBe("Cannot update a deployment: the store cannot be written");
    expect((await get(path)).json).toEqual(before);
    store.faults.push("lose the answer");
    expect((await patch(path, { additional_headers: {} })).status).toBe(503);
    // The store is asked again before the next one writes.
    expect((await patch(path, { overwrite: true })).status).toBe(200);
    expect((await get(path)).json).not.toHaveProperty("additional_headers");
  });
});
