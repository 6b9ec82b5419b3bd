import { beforeEach, describe, expect, test } from "vitest";
import { printQueueId } from "../../src/model/queue.ts";
import { discovered, handler, PAUSED_QUEUES_MAX, refusal, service, setup } from "./_setup.ts";

const URI = "http://localhost:9080/";
let world: Awaited<ReturnType<typeof setup>>, id: string;

beforeEach(async () => {
  world = await setup();
  const services = [service("Pay", [handler("charge"), handler("refund")]), service("Other")];
  world.endpoints.set(URI, discovered(services));
  id = (await world.register({ uri: URI })).json.id;
});

describe("a service", () => {
  test("shows its limits and its pause only while there are any", async () => {
    const { patch, get, registry } = world;
    expect((await get("/services/Pay")).json).not.toHaveProperty("concurrency");
    const rate = { count: 100, period: "60s" };
    const limited = await patch("/services/Pay", { concurrency: 10, rate, paused: true });
    const shown = { concurrency: 10, rate: { count: 100, period: "1m" }, paused: true };
    expect(limited.json).toMatchObject(shown);
    const { json: { services } } = await get("/services");
    expect(services).toMatchObject([{ name: "Other" }, { name: "Pay", ...shown }]);
    expect(services[0]).not.toHaveProperty("paused");
    expect((await get(`/deployments/${id}`)).json.services[0]).toMatchObject(shown);
    expect(registry.schema().controls.services.get("Pay")).toMatchObject({
      paused: true,
      limits: { concurrency: 10, rate: { count: 100, periodMs: 60_000 } },
    });
    const { json } = await patch("/services/Pay", { concurrency: null, rate: null, paused: false });
    for (const name of Object.keys(shown)) expect(json).not.toHaveProperty(name);
    const left = registry.schema().controls.services.get("Pay");
    expect(left).toEqual({ tightenedAt: expect.any(Number) });
  });

  test("keeps what a change does not mention", async () => {
    const { patch, registry } = world;
    await patch("/services/Pay", { concurrency: 10 });
    await patch("/services/Pay/handlers/charge", { concurrency: 2 });
    await patch("/services/Pay", { rate: { count: 1, period: "1s", burst: 3 } });
    await patch("/services/Pay", { paused: true });
    expect((await patch("/services/Pay", {})).json).toMatchObject({
      paused: true,
      concurrency: 10,
    });
    await patch("/services/Pay", { paused: null });
    expect(registry.schema().controls.services.get("Pay")).toMatchObject({
      paused: true,
      limits: { concurrency: 10, rate: { count: 1, periodMs: 1000, burst: 3 } },
      handlers: { charge: { concurrency: 2 } },
    });
  });

  test("keeps its limits when it is registered again, and when it was gone meanwhile", async () => {
    const { patch, send, register, get } = world;
    await patch("/services/Pay", { concurrency: 10, public: false });
    await register({ uri: URI, force: true });
    // What the endpoint announces is back; what only operators set stays.
    expect((await get("/services/Pay")).json).toMatchObject({ public: true, concurrency: 10 });
    await send("DELETE", `/deployments/${id}?force=true`);
    expect((await get("/services/Pay")).status).toBe(404);
    await register({ uri: URI });
    expect((await get("/services/Pay")).json).toMatchObject({ concurrency: 10 });
  });

  test("is changed as a whole: options and limits in one write, or neither", async () => {
    const { patch, store, registry } = world;
    store.faults.push("refuse");
    const body = { public: false, concurrency: 1 };
    expect((await patch("/services/Pay", body)).status).toBe(503);
    expect((await store.load()).controls.services).toEqual([]);
    expect((await patch("/services/Pay", body)).json).toMatchObject(body);
    expect(registry.schema().latest("Pay")?.public).toBe(false);
    const refused = await patch("/services/Pay", {
      concurrency: 2,
      workflow_completion_retention: "1d",
    });
    expect(refused.status).toBe(400);
    const { limits } = registry.schema().controls.services.get("Pay") ?? {};
    expect(limits).toMatchObject({ concurrency: 1 });
  });

  test("that does not exist is refused, and so is a limit that cannot be", async () => {
    const { patch, registry } = world;
    expect((await patch("/services/Nope", { concurrency: 1 })).status).toBe(404);
    const { status, json } = await patch("/services/Pay", { concurrency: 0 });
    expect([status, json]).toEqual([
      422,
      refusal(
        null,
        "Cannot use the request body: at 'concurrency', expected an integer from 1 to 4294967295",
      ),
    ]);
    expect((await patch("/services/Pay", { paused: "yes" })).status).toBe(422);
    expect((await patch("/services/Pay", { rate: { count: 1, period: "31d" } })).status).toBe(422);
    expect(registry.schema().controls.services.size).toBe(0);
  });
});

describe("a handler", () => {
  test("has limits of its own", async () => {
    const { patch, get } = world;
    const path = "/services/Pay/handlers/charge";
    const rate = { count: 5, period: "1s", burst: 50 };
    expect((await patch(path, { concurrency: 1, rate })).json).toMatchObject({
      name: "charge",
      concurrency: 1,
      rate,
    });
    const { json: { handlers } } = await get("/services/Pay/handlers");
    expect(handlers).toMatchObject([{ concurrency: 1, rate }, { name: "refund" }]);
    expect(handlers[1]).not.toHaveProperty("concurrency");
    expect((await get(path)).json).toMatchObject({ concurrency: 1 });
    await patch("/services/Pay", { concurrency: 7 });
    const { json } = await patch(path, { concurrency: null });
    expect(json).toMatchObject({ rate });
    expect(json).not.toHaveProperty("concurrency");
    expect((await patch(path, { rate: null })).json).not.toHaveProperty("rate");
    expect((await get("/services/Pay")).json).toMatchObject({ concurrency: 7 });
  });

  test("that is unknown is refused with those that there are", async () => {
    const { patch, registry } = world;
    const { status, json } = await patch("/services/Pay/handlers/refnud", { concurrency: 1 });
    expect([status, json]).toEqual([
      404,
      refusal(
        null,
        "The requested handler 'refnud' on service 'Pay' does not exist; it has 'charge', 'refund'",
      ),
    ]);
    expect((await patch("/services/Nope/handlers/h", { concurrency: 1 })).status).toBe(404);
    expect((await patch("/services/Pay/handlers/toString", { concurrency: 1 })).status).toBe(404);
    expect(registry.schema().controls.services.size).toBe(0);
  });
});

describe("a deployment", () => {
  test("is paused and resumed without asking its endpoint", async () => {
    const { patch, get, asked, registry } = world;
    const before = asked.length;
    const { status, json } = await patch(`/deployments/${id}`, { paused: true });
    expect([status, json.paused]).toEqual([200, true]);
    expect((await get("/deployments")).json.deployments).toMatchObject([{ id, paused: true }]);
    expect([...registry.schema().controls.pausedDeployments]).toEqual([id]);
    expect((await patch(`/deployments/${id}`, { paused: null })).json.paused).toBe(true);
    expect((await patch(`/deployments/${id}`, { paused: false })).json).not.toHaveProperty(
      "paused",
    );
    expect((await get("/deployments")).json.deployments[0]).not.toHaveProperty("paused");
    expect(asked).toHaveLength(before);
  });

  test("is paused by an update that changes more, unless that is a dry run", async () => {
    const { patch, asked, registry } = world;
    const before = asked.length;
    const headers = { "x-a": "b" };
    await patch(`/deployments/${id}`, { paused: true, additional_headers: headers, dry_run: true });
    expect(registry.schema().controls.pausedDeployments.size).toBe(0);
    const { json } = await patch(`/deployments/${id}`, {
      paused: true,
      additional_headers: headers,
    });
    expect(json).toMatchObject({ paused: true, additional_headers: headers });
    expect(asked).toHaveLength(before + 2);
  });

  test("that is deleted is not paused when it is registered again", async () => {
    const { patch, send, register, registry } = world;
    await patch(`/deployments/${id}`, { paused: true });
    await send("DELETE", `/deployments/${id}?force=true`);
    expect(registry.schema().controls.pausedDeployments.size).toBe(0);
    expect((await register({ uri: URI })).json).not.toHaveProperty("paused");
  });

  test("that is unknown is refused", async () => {
    const { status } = await world.patch("/deployments/dp_16lq9KEFemrppKnYdVPzpTj", {
      paused: true,
    });
    expect(status).toBe(404);
  });
});

describe("a virtual queue", () => {
  const queueId = (service: string) =>
    printQueueId({ service, scope: "tenant", limitKey: undefined });

  test("is paused and resumed by its id, whether or not anything is in it", async () => {
    const { send, registry } = world;
    const queue = queueId("Pay");
    for (let times = 0; times < 2; times++) {
      const { status, text } = await send("POST", `/vqueues/${queue}/pause`);
      expect([status, text]).toEqual([202, ""]);
    }
    expect([...registry.schema().controls.pausedQueues]).toEqual([queue]);
    expect((await send("POST", `/vqueues/${queue}/resume`)).status).toBe(202);
    expect((await send("POST", `/vqueues/${queue}/resume`)).status).toBe(202);
    expect(registry.schema().controls.pausedQueues.size).toBe(0);
  });

  test("of another server is accepted without an effect", async () => {
    const { send, registry } = world;
    const theirs = `vq_1${"3".repeat(33)}`;
    expect((await send("POST", `/vqueues/${theirs}/pause`)).status).toBe(202);
    expect(registry.schema().controls.pausedQueues.size).toBe(0);
  });

  test.each([
    ["foo", "bad format"],
    ["vq_1", "bad length"],
    ["vq_x", "unrecognized codec version"],
    ["inv_1jFjS51tG8og6I6nyIrKMPWvEntzfHMOMo", "id doesn't match the expected type"],
  ])("with the id %s is refused", async (queue, reason) => {
    for (const verb of ["pause", "resume"]) {
      const { status, json } = await world.send("POST", `/vqueues/${queue}/${verb}`);
      const message = `The request field 'vqueue_id' is invalid. Reason: ${reason}`;
      expect([status, json]).toEqual([400, refusal(null, message)]);
    }
  });

  test("is not paused beyond the limit, and can be after another one is resumed", async () => {
    const { send } = world;
    const pause = async (at: number) =>
      (await send("POST", `/vqueues/${queueId(`S${at}`)}/pause`)).status;
    for (let at = 0; at < PAUSED_QUEUES_MAX; at++) expect(await pause(at)).toBe(202);
    expect(await pause(PAUSED_QUEUES_MAX)).toBe(409);
    expect(await pause(0)).toBe(202);
    await send("POST", `/vqueues/${queueId("S0")}/resume`);
    expect(await pause(PAUSED_QUEUES_MAX)).toBe(202);
  });
});
