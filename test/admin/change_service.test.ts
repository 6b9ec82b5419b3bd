import { describe, expect, test } from "vitest";
import { handlerIn } from "../../src/model/schema.ts";
import { discovered, handler, refusal, service, setup } from "./_setup.ts";

const uri = "http://localhost:9080/";
const hour = 3_600_000;

function manifest() {
  const own = handler("own", { options: { inactivityTimeoutMs: 1000 } });
  const run = handler("run", { access: "run", options: { workflowRetentionMs: 1000 } });
  return discovered([
    service("A", [handler("h"), own], { options: { lazyState: true } }),
    service("W", [run, handler("ask", { access: "shared" })], { type: "workflow" }),
  ]);
}

async function withServices() {
  const all = await setup();
  all.endpoints.set(uri, manifest());
  const { json } = await all.register({ uri });
  return { ...all, id: json.id as string };
}

const all = {
  public: false,
  idempotency_retention: "2h",
  journal_retention: "PT30M",
  inactivity_timeout: "30s",
  abort_timeout: "5 minutes",
};

describe("a change of a service", () => {
  test("changes every option, and no revision", async () => {
    const { patch, get, registry } = await withServices();
    const { status, json } = await patch("/services/A", all);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      name: "A",
      revision: 1,
      public: false,
      idempotency_retention: "2h",
      journal_retention: "30m",
      inactivity_timeout: "30s",
      abort_timeout: "5m",
      enable_lazy_state: true,
    });
    expect(json.handlers.map((one: { public: boolean }) => one.public)).toEqual([false, false]);
    expect((await get("/services/A")).json).toEqual(json);
    const latest = registry.schema().latest("A");
    const h = latest && handlerIn(latest, "h");
    expect(latest && h && registry.schema().options(latest, h)).toMatchObject({
      inactivityTimeoutMs: 30_000,
      abortTimeoutMs: 300_000,
      journalRetentionMs: hour / 2,
      idempotencyRetentionMs: 2 * hour,
      lazyState: true,
    });
  });

  test("leaves to a handler what it sets itself", async () => {
    const { patch, registry } = await withServices();
    await patch("/services/A", { inactivity_timeout: "30s" });
    const latest = registry.schema().latest("A");
    const own = latest && handlerIn(latest, "own");
    expect(latest && own && registry.schema().options(latest, own).inactivityTimeoutMs).toBe(1000);
  });

  test("of how long workflows are kept is that of their run handler", async () => {
    const { patch, registry } = await withServices();
    const { status, json } = await patch("/services/W", { workflow_completion_retention: "2h" });
    expect(status).toBe(200);
    expect(json.workflow_completion_retention).toBe("2h");
    const latest = registry.schema().latest("W");
    const run = latest && handlerIn(latest, "run");
    expect(latest && run && registry.schema().options(latest, run).workflowRetentionMs)
      .toBe(2 * hour);
  });

  test("of that for anything else is refused, whole", async () => {
    const { patch, get } = await withServices();
    const before = (await get("/services/A")).json;
    expect(
      await patch("/services/A", { public: false, workflow_completion_retention: "1h" }),
    ).toMatchObject({
      status: 400,
      json: refusal(null, "modifying retention time for service type Service is unsupported"),
    });
    expect((await get("/services/A")).json).toEqual(before);
  });

  test("of nothing, or of null, changes nothing", async () => {
    const { patch, get, registry } = await withServices();
    const before = (await get("/services/A")).json;
    const schema = registry.schema();
    const nothing = { public: null, idempotency_retention: null, unknown: 5 };
    for (const body of [{}, nothing]) {
      expect(await patch("/services/A", body)).toMatchObject({ status: 200, json: before });
    }
    expect(registry.schema()).toBe(schema);
  });

  test("adds to what was changed before", async () => {
    const { patch } = await withServices();
    await patch("/services/A", { public: false });
    const { json } = await patch("/services/A", { abort_timeout: "1m" });
    expect(json).toMatchObject({ public: false, abort_timeout: "1m" });
  });

  test("survives a restart, and an update in place", async () => {
    const { patch, store, id } = await withServices();
    const { json } = await patch("/services/A", all);
    const restarted = await setup(store);
    expect((await restarted.get("/services/A")).json).toEqual(json);
    restarted.endpoints.set(uri, manifest());
    await restarted.patch(`/deployments/${id}`, { additional_headers: { a: "1" } });
    expect((await restarted.get("/services/A")).json).toEqual(json);
  });

  test("does not make the endpoint another one, and is lost when it is registered anew", async () => {
    const { patch, get, register } = await withServices();
    await patch("/services/A", all);
    await patch("/services/A", { public: true });
    const changed = (await patch("/services/W", { workflow_completion_retention: "2h" })).json;
    expect((await register({ uri })).status).toBe(200);
    expect((await get("/services/W")).json).toEqual(changed);
    expect((await register({ uri, force: true })).status).toBe(200);
    expect((await get("/services/W")).json).toMatchObject({
      workflow_completion_retention: "1s",
      revision: 2,
    });
    expect((await get("/services/A")).json).toMatchObject({ public: true, abort_timeout: "10m" });
  });

  test("of an unknown service is refused", async () => {
    const { patch } = await withServices();
    for (const body of [{}, all]) {
      expect(await patch("/services/Nope", body)).toMatchObject({
        status: 404,
        json: refusal(null, "The requested service 'Nope' does not exist"),
      });
    }
  });

  test.each([
    ["[]", 422, "expected an object"],
    ['{"public":"yes"}', 422, "at 'public', expected a boolean"],
    ['{"idempotency_retention":"nope"}', 422, "at 'idempotency_retention', expected a duration"],
    ['{"idempotency_retention":5}', 422, "at 'idempotency_retention', expected a duration"],
    ['{"abort_timeout":"-1s"}', 422, "at 'abort_timeout', a duration cannot be negative"],
    ['{"abort_timeout":"1 month"}', 422, "at 'abort_timeout', please use units of days"],
    ["{", 400, "as JSON"],
  ])("with the body %s is refused with %i", async (body, status, message) => {
    const { patch } = await withServices();
    expect(await patch("/services/A", body)).toMatchObject({
      status,
      json: refusal(null, expect.stringContaining(message)),
    });
  });

  test("is durable before it is answered", async () => {
    const { patch, get, store } = await withServices();
    store.faults.push("refuse");
    expect((await patch("/services/A", all)).status).toBe(503);
    expect((await get("/services/A")).json.public).toBe(true);
  });
});
