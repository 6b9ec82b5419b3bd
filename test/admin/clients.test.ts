import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../support/child.ts";
import { hasReference, startTarget, type Target, type TargetKind } from "../protocol/_target.ts";
import { type ClientPackage, type Ingress, loadClients } from "./clients_connect.ts";
import { type ClientEndpoint, serde, startClientEndpoint } from "./clients_endpoint.ts";
import { clientsModule } from "./clients_packages.ts";

interface World {
  readonly ingress: Ingress;
  readonly url: string;
  readonly endpoint: ClientEndpoint;
  readonly clients: ClientPackage;
}

const GREETER = { name: "Greeter", _kind: "service" } as const;
const COUNTER = { name: "Counter", _kind: "object" } as const;
const FLOW = { name: "Flow", _kind: "workflow" } as const;
/** A key that has to be encoded. */
const KEY = "a/b ü?%";
const NOBODY = "inv_1jFjS51tG8og6I6nyIrKMPWvEntzfHMOMo";

type Check = (world: World) => Promise<void>;

const CALLS: Readonly<Record<string, Check>> = {
  "a service is called, with and without input": async ({ ingress }) => {
    const greeter = ingress.serviceClient(GREETER);
    expect(await greeter["greet"]?.("you")).toBe("Hello you");
    expect(await greeter["nothing"]?.()).toBeUndefined();
  },
  "bytes go and come as they are, with serdes of the caller's": async ({ ingress, clients }) => {
    const bytes = Uint8Array.of(0, 255, 13, 10);
    const options = clients.rpc.opts({ input: serde.binary, output: serde.binary });
    expect(await ingress.serviceClient(GREETER)["bytes"]?.(bytes, options)).toEqual(bytes);
  },
  "headers of the connection and of the call reach the handler": async ({ url, clients }) => {
    const ingress = clients.connect({ url, headers: { "x-of-all": "1" } });
    const options = clients.rpc.opts({ headers: { "x-of-one": "2" } });
    const seen = await ingress.serviceClient(GREETER)["headers"]?.(options);
    expect(seen).toMatchObject({ "x-of-all": "1", "x-of-one": "2" });
  },
  "an object is called under a key that must be encoded": async ({ ingress }) => {
    const counter = ingress.objectClient(COUNTER, KEY);
    expect(await counter["add"]?.(2)).toBe(2);
    expect(await counter["add"]?.(3)).toBe(5);
    expect(await ingress.client(COUNTER, KEY)["value"]?.()).toBe(5);
    expect(await ingress.objectClient(COUNTER, "other")["value"]?.()).toBe(0);
  },
  "descriptors and names reach the same handlers": async ({ ingress }) => {
    expect(await ingress.client(GREETER)["greet"]?.("a")).toBe("Hello a");
    const generic = { service: "Greeter", handler: "greet", parameter: "b" };
    expect(await ingress.call(generic)).toBe("Hello b");
    const keyed = { service: "Counter", handler: "add", key: "generic", parameter: 4 };
    expect(await ingress.call(keyed)).toBe(4);
    expect((await ingress.send({ ...keyed, parameter: 1 })).status).toBe("Accepted");
    await until("the send", async () => await ingress.call({ ...keyed, parameter: 0 }) === 5);
  },
  "a failure of a handler is told with its code": async ({ ingress, clients }) => {
    const failed = ingress.serviceClient(GREETER)["refuse"]?.("no way");
    await expect(failed).rejects.toThrow(clients.HttpCallError);
    await expect(failed).rejects.toMatchObject({ status: 418 });
    await expect(failed).rejects.toThrow("no way");
  },
  "what does not exist is refused": async ({ ingress }) => {
    const service = ingress.call({ service: "Nope", handler: "greet", parameter: 1 });
    await expect(service).rejects.toMatchObject({ status: 404 });
    const handler = ingress.call({ service: "Greeter", handler: "nope", parameter: 1 });
    await expect(handler).rejects.toMatchObject({ status: 404 });
  },
  "a caller that waits no longer gives up": async ({ ingress, clients }) => {
    const options = clients.rpc.opts({ timeout: 100 });
    await expect(ingress.serviceClient(GREETER)["hang"]?.(options)).rejects.toThrow("timeout");
  },
};

const SENDS: Readonly<Record<string, Check>> = {
  "a send is accepted, and has no result without an idempotency key": async ({ ingress }) => {
    const sent = await ingress.serviceSendClient(GREETER)["greet"]?.("x");
    expect(sent).toMatchObject({ status: "Accepted", attachable: false });
    expect(sent?.invocationId).toMatch(/^inv_1/);
  },
  "a send with an idempotency key is accepted once, and has a result": async (world) => {
    const { ingress, clients } = world;
    const sender = ingress.serviceSendClient(GREETER);
    const options = clients.rpc.sendOpts({ idempotencyKey: "once" });
    const first = await sender["greet"]?.("first", options);
    const second = await ingress.sendClient(GREETER)["greet"]?.("second", options);
    expect(second).toEqual({ ...first, status: "PreviouslyAccepted" });
    if (first) expect(await ingress.result(first)).toBe("Hello first");
  },
  "a call with an idempotency key is made once": async ({ ingress, clients }) => {
    const options = clients.rpc.opts({ idempotencyKey: "once" });
    const counter = ingress.objectClient(COUNTER, "idempotent");
    expect(await counter["add"]?.(1, options)).toBe(1);
    expect(await counter["add"]?.(1, options)).toBe(1);
    expect(await counter["value"]?.()).toBe(1);
  },
  "a delayed send happens, and not before": async ({ ingress, clients }) => {
    const options = clients.rpc.sendOpts({ delay: { milliseconds: 300 }, idempotencyKey: "late" });
    const sentAt = performance.now();
    const sent = await ingress.objectSendClient(COUNTER, "late")["add"]?.(7, options);
    if (sent) expect(await ingress.result(sent)).toBe(7);
    expect(performance.now() - sentAt).toBeGreaterThan(280);
  },
  "the result of a failure is the failure, that of nobody is not found": async (world) => {
    const { ingress, clients } = world;
    const options = clients.rpc.sendOpts({ idempotencyKey: "fails" });
    const sent = await ingress.serviceSendClient(GREETER)["refuse"]?.("so it is", options);
    if (sent) await expect(ingress.result(sent)).rejects.toMatchObject({ status: 418 });
    const nobody = { invocationId: NOBODY, status: "Accepted", attachable: true } as const;
    await expect(ingress.result(nobody)).rejects.toMatchObject({ status: 404 });
  },
};

const REST: Readonly<Record<string, Check>> = {
  "a workflow is submitted once, looked at, and attached to": async ({ ingress }) => {
    const flow = ingress.workflowClient(FLOW, KEY);
    const submitted = await flow.workflowSubmit("me");
    expect(submitted).toMatchObject({ status: "Accepted", attachable: true });
    expect(await flow.workflowSubmit("me again"))
      .toMatchObject({ status: "PreviouslyAccepted", invocationId: submitted.invocationId });
    await until("the workflow to begin", async () => await flow.peek() === "me");
    expect(await flow.workflowOutput()).toMatchObject({ ready: false });
    const attached = [flow.workflowAttach(), ingress.result(submitted)];
    await flow.go("went");
    expect(await Promise.all(attached)).toEqual(["me went", "me went"]);
    expect(await flow.workflowOutput()).toEqual({ ready: true, result: "me went" });
  },
  "a workflow that nobody submitted has no output": async ({ ingress }) => {
    const flow = ingress.workflowClient(FLOW, "nobody");
    await expect(flow.workflowOutput()).rejects.toMatchObject({ status: 404 });
    await expect(flow.workflowAttach()).rejects.toMatchObject({ status: 404 });
  },
  "a workflow is submitted for later": async ({ ingress, clients }) => {
    const flow = ingress.workflowClient(FLOW, "later");
    await flow.workflowSubmit("me", clients.rpc.sendOpts({ delay: 100 }));
    await flow.go("late");
    expect(await flow.workflowAttach()).toBe("me late");
  },
  "an awakeable is resolved with a value, in any serde": async ({ ingress, endpoint, url }) => {
    for (const encoding of [undefined, serde.json]) {
      const name = `${url} ${encoding ? "given" : "default"}`;
      const waiting = ingress.serviceClient(GREETER)["wait"]?.(name);
      await ingress.resolveAwakeable(await endpoint.awakeable(name), "awake", encoding);
      expect(await waiting).toBe("awake");
    }
  },
  "an awakeable is rejected with a reason": async ({ ingress, endpoint, url }) => {
    const waiting = ingress.serviceClient(GREETER)["wait"]?.(`${url} rejected`);
    // Heard before it is rejected.
    const failed = expect(waiting).rejects.toThrow("overslept");
    await ingress.rejectAwakeable(await endpoint.awakeable(`${url} rejected`), "overslept");
    await failed;
  },
  "what is no awakeable is refused": async ({ ingress, clients }) => {
    await expect(ingress.resolveAwakeable("nope", 1)).rejects.toThrow(clients.HttpCallError);
    await expect(ingress.rejectAwakeable("nope", "")).rejects.toMatchObject({ status: 400 });
  },
  "scopes are refused, in every client, as long as flow control is off": async ({ ingress }) => {
    const scoped = ingress.scope("mine");
    // All are listened to at once: a rejection that is not awaited yet would count as an error.
    const refused = await Promise.allSettled([
      scoped.serviceClient(GREETER)["greet"]?.("x"),
      scoped.serviceSendClient(GREETER)["greet"]?.("x"),
      scoped.objectClient(COUNTER, "k")["value"]?.(),
      scoped.objectSendClient(COUNTER, "k")["add"]?.(1),
      scoped.client(GREETER)["greet"]?.("x"),
      scoped.sendClient(COUNTER, "k")["add"]?.(1),
      scoped.workflowClient(FLOW, "k").workflowSubmit("x"),
      ingress.call({ service: "Greeter", handler: "greet", parameter: "x", scope: "mine" }),
    ]);
    const reason = expect.objectContaining({
      status: 400,
      message: expect.stringContaining("require vqueues to be enabled"),
    });
    for (const one of refused) expect(one).toEqual({ status: "rejected", reason });
  },
};

const file = await clientsModule();
const kinds: readonly TargetKind[] = hasReference() ? ["perdure", "reference"] : ["perdure"];
const CHECKS = Object.entries({ ...CALLS, ...SENDS, ...REST });

describe.skipIf(file === undefined).each(kinds)("the client package with %s", (kind) => {
  let target: Target | undefined;
  let world: World | undefined;
  beforeAll(async () => {
    const clients = await loadClients(file ?? "");
    const endpoint = await startClientEndpoint();
    target = await startTarget({}, kind);
    const { admin, ingress: url } = target;
    const registered = await fetch(`${admin}/deployments`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ uri: endpoint.url }),
    });
    expect(registered.status).toBe(201);
    world = { clients, endpoint, url, ingress: clients.connect({ url }) };
  }, 40_000);
  afterAll(async () => {
    await target?.close();
    await world?.endpoint.close();
  });

  test.concurrent.each(CHECKS)("%s", async (_name, check) => {
    if (world) await check(world);
  });
});
