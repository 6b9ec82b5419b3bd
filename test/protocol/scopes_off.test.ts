import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePorts, until } from "../support/child.ts";
import { Server } from "../support/server.ts";
import { type SdkEndpoint, startSdk } from "./_sdk.ts";

// Flow control can be switched on and off over existing data; of the reference it cannot.

const ON = {
  EXPERIMENTAL_ENABLE_VQUEUES: "true",
  EXPERIMENTAL_ENABLE_SCOPED_VIRTUAL_OBJECTS: "true",
};

let endpoint: SdkEndpoint;
let server: Server | undefined;
let ports: number[];
const folder = mkdtempSync(path.join(tmpdir(), "perdure-scopes-"));

/** The next life of the server, on the same folder and ports. */
async function live(settings: Record<string, string>): Promise<Server> {
  await server?.stop();
  server = new Server({ runtime: "node", settings }, ports, folder);
  await server.start();
  return server;
}

async function ask(url: string, body?: unknown): Promise<[status: number, body: unknown]> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return [response.status, text === "" ? undefined : JSON.parse(text)];
}

beforeAll(async () => {
  endpoint = await startSdk({ transport: "h2" });
  ports = [...await freePorts(2)];
}, 60_000);

afterAll(async () => {
  await server?.close();
  await endpoint.close();
});

async function features({ admin }: Server): Promise<unknown> {
  const { features } = await (await fetch(`${admin}/version`)).json();
  return features;
}

/** Sends to a handler that is held until `id` is released. */
async function sent(to: string, id: string): Promise<string> {
  const [status, body] = await ask(to, id);
  expect(status).toBe(202);
  await endpoint.happens(`${id} held`);
  return (body as { invocationId: string }).invocationId;
}

test("flow control is switched on and off over existing data", async () => {
  // Off: an invocation is pinned to version 6 of the protocol.
  const off = await live({});
  await ask(`${off.admin}/deployments`, { uri: endpoint.url });
  const six = await sent(`${off.ingress}/svc/send/Plain/requestHeld`, "six");
  expect(await features(off)).toMatchObject({ vqueues: false, protocol_v7: false });

  // On: it goes on in version 6, and a new one in a scope has version 7.
  const on = await live(ON);
  const scoped = `${on.ingress}/svc/scope/blue`;
  expect(await features(on)).toMatchObject({
    vqueues: true,
    protocol_v7: true,
    scoped_virtual_objects: true,
  });
  await until("the second attempt", () => endpoint.attempts(six).length > 1);
  const seven = await sent(`${scoped}/send/Plain/requestHeld?limit-key=a`, "seven");
  expect((await ask(`${scoped}/call/Store/k/put`, { n: 1 }))[0]).toBe(200);

  // Off again: what is in a scope goes on and is found, and nothing new gets in.
  const again = await live({});
  expect(again.ingress).toBe(on.ingress);
  endpoint.release("six");
  endpoint.release("seven");
  const attach = (id: string) => fetch(`${again.ingress}/svc/attach/${id}`);
  expect(await (await attach(six)).json()).toEqual({ id: "six" });
  expect(await (await attach(seven)).json()).toEqual({ id: "seven", scope: "blue", limitKey: "a" });
  expect(versions(six)).toEqual(["6"]);
  expect(versions(seven)).toEqual(["7"]);
  expect(await ask(`${scoped}/call/Plain/request`)).toMatchObject([400, {
    message: "scoped invocations require vqueues to be enabled",
  }]);

  // On once more: the object in the scope has the state that it had.
  await live(ON);
  expect(await ask(`${scoped}/call/Store/k/all`)).toEqual([200, { n: 1 }]);
}, 60_000);

/** The protocol versions in which an invocation was spoken of. */
function versions(id: string): (string | undefined)[] {
  const types = endpoint.attempts(id).map(({ headers }) => headers["content-type"] ?? "");
  return [...new Set(types.map((type) => /invocation\.v(\d+)/.exec(type)?.[1]))];
}
