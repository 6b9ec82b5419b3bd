import { connect } from "node:http2";
import { expect } from "vitest";
import { freePorts } from "../support/child.ts";
import { type Address, call, get, send } from "../support/client.ts";
import type { Promises } from "./_world.ts";

export const httpPromises: Promises = {
  "is healthy and says its version": async ({ server }) => {
    expect((await get(`${server.admin}/health`)).status).toBe(200);
    const { body } = await get(`${server.admin}/version`);
    expect(body).toMatchObject({ version: expect.stringMatching(/^1\.7\.12-perdure\./) });
    expect((await get(`${server.ingress}/svc/health`)).body).toEqual({
      services: expect.arrayContaining(["Greeter", "Counter"]),
    });
  },

  "takes calls over HTTP/2 with prior knowledge on the same port": async ({ server, id }) => {
    expect(await callHttp2(server, JSON.stringify(id))).toEqual([
      200,
      JSON.stringify(`Hello ${id}`),
    ]);
  },

  "takes the paths of older clients": async ({ server, endpoint, id }) => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify(id);
    const called = await fetch(`${server.ingress}/Greeter/greet`, {
      method: "POST",
      headers,
      body,
    });
    expect([called.status, await called.json()]).toEqual([200, `Hello ${id}`]);
    const sent = await fetch(`${server.ingress}/Greeter/note/send`, {
      method: "POST",
      headers,
      body,
    });
    expect(sent.status).toBe(202);
    await endpoint.happens(id);
  },

  "answers in the other spelling where it was asked in it": async ({ server, id }) => {
    const response = await fetch(`${server.ingress}/restate/call/Greeter/greet`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(id),
    });
    expect(await response.json()).toBe(`Hello ${id}`);
    expect(response.headers.get("x-restate-id")).toMatch(/^inv_1/);
  },

  "names the code of a refusal in both spellings, or in the one it was asked in": async (
    { server },
  ) => {
    const refusal = async (headers: Readonly<Record<string, string>>) => {
      const response = await fetch(`${server.admin}/deployments`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ uri: `http://127.0.0.1:${(await freePorts(1))[0]}` }),
      });
      expect(response.status).toBe(500);
      const { message: _, ...codes } = await response.json() as Readonly<Record<string, unknown>>;
      return codes;
    };
    const both = { svc_code: "META0003", restate_code: "META0003" };
    expect(await refusal({})).toEqual(both);
    expect(await refusal({ "user-agent": "restate-cli/1.7.12" })).toEqual({
      restate_code: "META0003",
    });
  },

  "says what is wrong with a request": async ({ server }) => {
    const said = async (path: string, init: RequestInit = { method: "POST" }) => {
      const response = await fetch(server.ingress + path, init);
      const { message } = await response.json() as { message: string };
      return `${response.status} ${message}`;
    };
    const text = { method: "POST", headers: { "content-type": "text/plain" }, body: "x" };
    expect(await said("/svc/call/Nope/x")).toMatch(/^404 service 'Nope' not found/);
    expect(await said("/svc/call/Greeter/nope")).toMatch(/^404 .*handler 'nope' was not found/);
    expect(await said("/svc/call/Greeter")).toMatch(/^400 bad path/);
    expect(await said("/svc/nope/Greeter/x")).toMatch(/^404 not found/);
    expect(await said("/svc/call/Greeter/greet", { method: "PUT" })).toMatch(/^405/);
    expect(await said("/svc/call/Greeter/greet", text)).toMatch(/^400 .*text\/plain/);
    expect(await said("/svc/send/Greeter/greet?delay=soon")).toMatch(/^400 bad delay/);
    expect(await said("/svc/call/Greeter/greet?delay=1s")).toMatch(/^400 cannot use the delay/);
    expect(await said("/svc/call/Counter/%FF/get")).toMatch(/^400 bad path, cannot decode key/);
  },

  "lets the handler refuse what it cannot read": async ({ server }) => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: `{"a":` };
    const response = await fetch(`${server.ingress}/svc/call/Greeter/greet`, init);
    expect(response.status).toBe(400);
    expect(response.headers.get("x-svc-error-source")).toBe("invocation");
  },

  "takes bodies of 32 MiB, and refuses larger ones": async ({ server }) => {
    const headers = { "content-type": "application/octet-stream" };
    const sized = (bytes: number) =>
      fetch(`${server.ingress}/svc/call/Greeter/nothing`, {
        method: "POST",
        headers,
        body: new Uint8Array(bytes),
      }).then((response) => response.status, (cause) => String(cause));
    // Too large is said before anything else about the body; just large enough is not.
    expect(await sized(32 * 1024 * 1024 + 1)).toBe(413);
    expect(await sized(32 * 1024 * 1024)).toBe(400);
  },

  "lets a page of any origin call it": async ({ server, id }) => {
    const headers = { origin: "http://example.com" };
    const { headers: answered } = await call(server, "Greeter/greet", id, { headers });
    expect(answered.get("access-control-allow-origin")).toBe("http://example.com");
    expect(answered.get("access-control-expose-headers")).toMatch(/x-svc-id/);
    const url = `${server.ingress}/svc/call/Greeter/greet`;
    expect((await fetch(url, { method: "OPTIONS", headers })).status).toBe(200);
  },

  "stays up when callers send nonsense or hang up in the middle": async ({ server, id }) => {
    const { hostname, port } = new URL(server.ingress);
    const { connect: dial } = await import("node:net");
    for (
      const bytes of [
        "\0\u0001\u0002",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0",
        "POST /svc/call/Greeter/greet HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nx",
      ]
    ) {
      await new Promise<void>((resolve) => {
        const socket = dial(Number(port), hostname);
        socket.on("error", () => {}).on("close", () => resolve());
        socket.write(bytes, "latin1", () => socket.destroySoon());
      });
    }
    expect((await send(server, "Greeter/greet", id)).status).toBe(202);
    expect(server.isAlive()).toBe(true);
  },
};

function callHttp2(server: Address, body: string): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    const session = connect(server.ingress);
    session.on("error", reject);
    const stream = session.request({
      ":method": "POST",
      ":path": "/svc/call/Greeter/greet",
      "content-type": "application/json",
    });
    let status = 0, text = "";
    stream.on("response", (headers) => status = Number(headers[":status"]));
    stream.setEncoding("utf8").on("data", (chunk) => text += chunk).on("error", reject);
    stream.on("end", () => (session.close(), resolve([status, text])));
    stream.end(body);
  });
}
