import { expect } from "vitest";
import { call, get, register } from "../support/client.ts";
import { freePorts } from "../support/child.ts";
import type { Promises } from "./_world.ts";

export const registerPromises: Promises = {
  "shows the deployment and the services it registered": async ({ server, endpoint }) => {
    const isH2 = endpoint.transport === "h2";
    const { body } = await get(`${server.admin}/deployments`);
    expect(body).toMatchObject({
      deployments: [{
        uri: `${endpoint.url}/`,
        protocol_type: isH2 ? "BidiStream" : "RequestResponse",
        http_version: isH2 ? "HTTP/2.0" : "HTTP/1.1",
      }],
    });
    const { body: services } = await get(`${server.admin}/services`);
    const { services: list } = services as { services: { name: string; ty: string }[] };
    expect(list.map(({ name, ty }) => `${name} ${ty}`).toSorted()).toEqual([
      "Counter VirtualObject",
      "Flow Workflow",
      "Fragile Service",
      "Greeter Service",
      "Inner Service",
      "Lazy VirtualObject",
      "Waiter Service",
    ]);
    expect((await get(`${server.admin}/services/Counter`)).body).toMatchObject({ revision: 1 });
    expect((await get(`${server.admin}/services/Nope`)).status).toBe(404);
  },

  "registering the same again changes nothing": async ({ server, endpoint }) => {
    const before = (await get(`${server.admin}/deployments`)).body;
    expect((await register(server, endpoint)).status).toBe(200);
    expect((await get(`${server.admin}/deployments`)).body).toEqual(before);
  },

  "says that nobody listens where it was told to register": async ({ server, endpoint }) => {
    const [port] = await freePorts(1);
    const { transport } = endpoint;
    const answer = await register(server, { url: `http://127.0.0.1:${port}`, transport });
    expect([answer.status, codeOf(answer.body)]).toEqual([500, "META0003"]);
  },

  "says that the endpoint speaks the other version of HTTP": async ({ server, endpoint }) => {
    const other = endpoint.transport === "h2" ? "h1" : "h2";
    const answer = await register(server, { url: endpoint.url, transport: other }, { force: true });
    const code = endpoint.transport === "h2" ? "META0003" : "META0014";
    expect([answer.status, codeOf(answer.body)]).toEqual([500, code]);
  },

  "calls no address where a cloud keeps its credentials, and says which setting permits it": async (
    { server, endpoint: { transport } },
  ) => {
    const spelled = ["169.254.169.254", "2852039166", "0251.0376.0251.0376", "[::ffff:a9fe:a9fe]"];
    for (const host of [...spelled, "metadata.google.internal"]) {
      const { status, body } = await register(server, { url: `http://${host}`, transport });
      expect([status, codeOf(body)]).toEqual([400, "META0018"]);
      expect(JSON.stringify(body)).toMatch(/ is refused: .* of outbound\.allow permits it/);
    }
  },

  "opens a private service when the operator says so, but for what declares itself private": async (
    { server, id },
  ) => {
    const statuses = async () => [
      (await call(server, "Inner/echo", id)).status,
      (await call(server, "Inner/hidden")).status,
    ];
    expect(await statuses()).toEqual([400, 400]);
    for (const [open, expected] of [[true, [200, 400]], [false, [400, 400]]] as const) {
      const { status } = await fetch(`${server.admin}/services/Inner`, {
        method: "PATCH",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ public: open }),
      });
      expect(status).toBe(200);
      expect(await statuses()).toEqual(expected);
    }
  },

  "refuses a registration it cannot read": async ({ server, endpoint }) => {
    const { transport } = endpoint;
    const relative = await register(server, { url: "/here", transport });
    expect(relative.status).toBe(400);
    expect(JSON.stringify(relative.body)).toMatch(/absolute/);
    const headers = { "content-type": "application/json" };
    const url = `${server.admin}/deployments`;
    const broken = await fetch(url, { method: "POST", headers, body: "{" });
    expect(broken.status).toBe(400);
    const wrong = await fetch(url, { method: "POST", headers, body: `{"uri":5}` });
    expect(wrong.status).toBe(422);
  },
};

function codeOf(body: unknown): unknown {
  const { svc_code, restate_code } = body as Record<string, unknown>;
  return svc_code ?? restate_code;
}
