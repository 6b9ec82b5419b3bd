import { connect } from "node:http2";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { digestOf } from "../../src/auth/token_list.ts";
import { call, register } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Server, startServer } from "../support/server.ts";
import { cookieOf } from "../support/sessions.ts";
import { asServer, startWorkerd } from "../workerd/_server.ts";

vi.setConfig({ testTimeout: 60_000 });
const START_MS = 60_000;

const STARTS = {
  node: (settings: Record<string, string>) => startServer({ runtime: "node", settings }),
  deno: (settings: Record<string, string>) => startServer({ runtime: "deno", settings }),
  // Callers are received by the objects of all partitions, and the keys are in that of the first.
  workerd: async (settings: Record<string, string>) =>
    asServer(await startWorkerd({ settings: { ...settings, DEFAULT_NUM_PARTITIONS: "3" } })),
} as const;

describe.each(Object.entries(STARTS))("sessions on %s", (name, start) => {
  let server: Server, endpoint: Endpoint, admin: string;

  beforeAll(async () => {
    const roles = ["admin", "viewer"];
    const lines = await Promise.all(
      roles.map(async (role) => `${role} ${await digestOf(`token-of-${role}`)} ${role}`),
    );
    [server, endpoint] = await Promise.all([
      start({ AUTH__TOKENS: lines.join("\n") }),
      startEndpoint("h1"),
    ]);
    // The way of browsers: other Workers are trusted.
    admin = name === "workerd" ? `${server.ingress}/admin` : server.admin;
    await register({ admin, ingress: server.ingress, token: "token-of-admin" }, endpoint);
  }, START_MS);
  afterAll(() => Promise.all([server?.close(), endpoint?.close()]));

  const origin = () => new URL(admin).origin;

  async function ask(
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: unknown,
  ) {
    const response = await fetch(`${admin}${path}`, {
      method,
      headers: {
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(method !== "GET" && { origin: origin() }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === "" ? {} : JSON.parse(text),
    };
  }

  const signIn = (token: string) =>
    ask("POST", "/internal/ui/session", {}, {
      token,
      path: `${new URL(admin).pathname}/`.replace("//", "/"),
    });

  test("begin, count for the API and its events, outlive the process, and end", async () => {
    expect((await signIn("wrong")).status).toBe(401);
    const begun = await signIn("token-of-viewer");
    expect(begun).toMatchObject({ status: 200, body: { identity: "viewer", level: "viewer" } });
    const [set = "", ...others] = begun.headers.getSetCookie();
    expect(others).toEqual([]);
    const path = name === "workerd" ? "/admin/" : "/";
    expect(set).toMatch(/^perdure-session-\d+=[\w.-]+; /);
    expect(set.split("; ").slice(1)).toEqual([
      ...[`Path=${path}`, "Max-Age=43200", "HttpOnly", "SameSite=Strict"],
    ]);
    const cookie = cookieOf(begun);
    const read = async () => (await ask("GET", "/deployments", { cookie })).status;
    expect(await read()).toBe(200);
    const events = await fetch(`${admin}/internal/ui/events`, { headers: { cookie } });
    expect(events.headers.get("content-type")).toBe("text/event-stream");
    await events.body?.cancel();
    const refused = await ask("POST", "/deployments", { cookie }, { uri: endpoint.url });
    expect(refused.status).toBe(403);
    await server.crash();
    expect(await read()).toBe(200);
    expect(await ask("GET", "/deployments", { cookie, origin: "http://evil.example" }))
      .toMatchObject({ status: 403, body: { svc_code: "META0021" } });
    const ended = await ask("DELETE", `/internal/ui/session?path=${encodeURIComponent(path)}`, {
      cookie,
    });
    expect([ended.status, ended.headers.getSetCookie()]).toEqual([
      204,
      [expect.stringMatching(new RegExp(`^perdure-session-\\d+=; Path=${path}; Max-Age=0;`))],
    ]);
    // A copy of the cookie is of no use, now and after a restart.
    const copied = () => ask("GET", "/deployments", { cookie });
    const over = { status: 401, body: { message: expect.stringContaining("it was signed out") } };
    expect(await copied()).toMatchObject(over);
    await server.crash();
    expect(await copied()).toMatchObject(over);
    expect((await ask("POST", "/internal/ui/calls-token", { cookie })).status).toBe(401);
  });

  test("have tokens for calls, and no handler gets a session", async () => {
    const cookie = cookieOf(await signIn("token-of-admin"));
    const { body } = await ask("POST", "/internal/ui/calls-token", { cookie });
    const shown = { ingress: server.ingress, admin, token: String(body.token) };
    for (const who of ["Ada", "Bob", "Cyd", "Dan"]) {
      expect((await call(shown, "Greeter/greet", who)).status).toBe(200);
      expect((await call(shown, `Counter/${who}/add`, 1)).status).toBe(200);
    }
    const refused = await ask("GET", "/deployments", { authorization: `Bearer ${body.token}` });
    expect(refused).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining("has no role of the admin API") },
    });
    const sent = { headers: { cookie: `${cookie}; theme=dark` } };
    const { body: got } = await call(shown, "Greeter/headers", undefined, sent);
    expect((got as Record<string, string>)["cookie"]).toBe("theme=dark");
  });

  test.skipIf(name === "workerd")(
    "are taken out of cookies of HTTP/2, which come one by one",
    async () => {
      const session = cookieOf(await signIn("token-of-admin"));
      const client = connect(server.ingress);
      const request = client.request({
        ":method": "POST",
        ":path": "/svc/call/Greeter/headers",
        authorization: "Bearer token-of-admin",
        cookie: ["a=1", session, "b=2"],
      });
      const got = JSON.parse(await text(request.end())) as Record<string, string>;
      expect(got["cookie"]).toBe("a=1; b=2");
      client.destroy();
    },
  );
});
