import http from "node:http";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { digestOf } from "../../src/auth/token_list.ts";
import { until } from "../support/child.ts";
import { call, get, query, register, send } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Server, startServer } from "../support/server.ts";
import { shows } from "../support/tokens.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const EVIL = "https://evil.example";
const NAMED = "https://shop.example";
const MARK = "mArKeDtOkEn";

interface Sent {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

/** A request with headers that `fetch` does not let a caller set. */
function ask(
  url: string,
  { method = "GET", headers = {}, body }: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
  } = {},
): Promise<Sent> {
  const json = body === undefined ? {} : { "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers: { ...json, ...headers } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => text += chunk);
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    request.on("error", reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

describe.each(["node", "deno"] as const)("both ports of a built server on %s", (runtime) => {
  let server: Server, endpoint: Endpoint;
  beforeAll(async () => {
    const settings = { INGRESS__CORS_ORIGINS: `["*", "${NAMED}"]` };
    [server, endpoint] = await Promise.all([
      startServer({ runtime, settings }),
      startEndpoint("h1"),
    ]);
    expect((await register(server, endpoint)).status).toBe(201);
  });
  afterAll(() => Promise.all([server?.close(), endpoint?.close()]));

  test("the admin API answers under no name that a stranger can point to it", async () => {
    const port = new URL(server.admin).port;
    const as = (host: string) => ask(`${server.admin}/deployments`, { headers: { host } });
    for (const host of [`evil.example:${port}`, "localhost.evil.example", "127.0.0.1.nip.io"]) {
      const { status, text } = await as(host);
      expect([host, status, text]).toEqual([host, 403, expect.stringContaining("not known as")]);
    }
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, "perdure"]) {
      expect([host, (await as(host)).status]).toEqual([host, 200]);
    }
    const sql = { method: "POST", body: { query: "select 1" }, headers: { host: "evil.example" } };
    expect((await ask(`${server.admin}/query`, sql)).status).toBe(403);
  });

  test("the admin API changes nothing for a page of another origin, and lets none read it", async () => {
    const body = { uri: endpoint.url, use_http_11: true, force: true };
    for (const origin of [EVIL, "null", "http://localhost:1"]) {
      const asked = { method: "POST", headers: { origin }, body };
      expect([origin, (await ask(`${server.admin}/deployments`, asked)).status])
        .toEqual([origin, 403]);
      const read = await ask(`${server.admin}/deployments`, { headers: { origin } });
      expect(Object.keys(read.headers).filter((name) => name.startsWith("access-control")))
        .toEqual([]);
    }
    const own = { method: "POST", headers: { origin: server.admin }, body };
    expect((await ask(`${server.admin}/deployments`, own)).status).toBe(200);
  });

  test("the ingress lets cookies come only from origins that are named", async () => {
    const url = `${server.ingress}/svc/call/Greeter/greet`;
    const from = async (origin: string, method: string) => {
      const preflight = { "access-control-request-method": "POST" };
      const headers = { origin, ...(method === "OPTIONS" && preflight) };
      const sent = await ask(url, { method, headers, ...(method === "POST" && { body: "Ada" }) });
      const {
        "access-control-allow-origin": allowed,
        "access-control-allow-credentials": cookies,
      } = sent.headers;
      return [sent.status, allowed, cookies];
    };
    for (const method of ["OPTIONS", "POST"]) {
      expect(await from(EVIL, method)).toEqual([200, EVIL, undefined]);
      expect(await from("null", method)).toEqual([200, "null", undefined]);
      expect(await from(NAMED, method)).toEqual([200, NAMED, "true"]);
    }
  });

  test("link-local addresses and metadata services are not dialed, however they are spelled", async () => {
    const spellings = [
      "http://169.254.169.254/",
      "http://169.254.170.2/v2/credentials",
      "http://2852039166/",
      "http://0xa9fea9fe/",
      "http://0251.0376.0251.0376/",
      "http://[::ffff:169.254.169.254]/",
      "http://[64:ff9b::a9fe:a9fe]/",
      "http://[fe80::1]:9080/",
      "http://[fd00:ec2::254]/",
      "http://metadata.google.internal/",
    ];
    for (const url of spellings) {
      for (const transport of ["h1", "h2"] as const) {
        const { status, body } = await register(server, { url, transport });
        expect([url, status, (body as { svc_code: string }).svc_code])
          .toEqual([url, 400, "META0018"]);
      }
    }
  });

  test("a token in the address of a deployment is in no error, log or failure of an attempt", async () => {
    const addresses = [
      `http://127.0.0.1:9/?token=${MARK}`,
      `http://user:${MARK}@127.0.0.1:9/`,
      `http://user:${MARK}@[/`,
      `ftp://user:${MARK}@127.0.0.1/?key=${MARK}`,
      `http://127.0.0.1:99999/?token=${MARK}`,
      `http://169.254.169.254/?token=${MARK}`,
    ];
    for (const url of addresses) {
      const { status, body } = await register(server, { url, transport: "h1" });
      expect([url, status >= 400, JSON.stringify(body).includes(MARK)]).toEqual([url, true, false]);
    }
    const guarded = await startEndpoint("h1");
    const url = `${guarded.url}/?token=${MARK}`;
    expect((await register(server, { url, transport: "h1" })).status).toBe(201);
    await guarded.close();
    await send(server, "Greeter/greet", "Ada");
    const sql = "select last_failure, retry_count from sys_invocation where status != 'completed'";
    await until("a failed attempt", async () => {
      const [row] = await query(server, sql);
      return Number(row?.["retry_count"]) > 1;
    });
    const failures = JSON.stringify([
      await query(server, sql),
      await query(server, "select * from sys_journal_events"),
    ]);
    expect(failures).toContain("?token=***");
    expect(failures).not.toContain(MARK);
    expect((await ask(`${server.admin}/metrics`)).text).not.toContain(MARK);
    expect(server.logs().split("\n").filter((line) => line.includes(MARK))).toEqual([]);
    expect((await register(server, endpoint, { force: true })).status).toBe(200);
    expect((await call(server, "Greeter/greet", "Ada")).status).toBe(200);
  });
});

test("headers of deployments are shown to those who may set them, and to no other role", async () => {
  const tokens = await Promise.all(
    ["viewer", "operator", "admin"].map(async (role) =>
      `${role} ${await digestOf(`${role}-token`)} ${role}`
    ),
  );
  const settings = { AUTH__TOKENS: tokens.join("\n") };
  const env = { PERDURE_HEADER_POSTURE: `${MARK}-variable` };
  const [server, endpoint] = await Promise.all([
    startServer({ runtime: "node", settings, env }),
    startEndpoint("h1"),
  ]);
  try {
    const address = { ingress: server.ingress, admin: server.admin, token: "admin-token" };
    const headers = { "x-stored": MARK, "x-variable": { env: "PERDURE_HEADER_POSTURE" } };
    const made = await register(address, endpoint, { additional_headers: headers });
    expect(made.status).toBe(201);
    const { id } = made.body as { id: string };
    const shown = async (role: string) => {
      const init = { headers: shows(`${role}-token`) };
      const paths = ["/deployments", `/deployments/${id}`];
      const all = await Promise.all(paths.map((one) => ask(`${server.admin}${one}`, init)));
      expect(all.map(({ status }) => status)).toEqual([200, 200]);
      return all.map(({ text }) => text).join("\n");
    };
    for (const role of ["viewer", "operator"]) {
      expect(await shown(role)).not.toContain(MARK);
      expect(await shown(role)).toContain('"x-variable":{"env":"PERDURE_HEADER_POSTURE"}');
    }
    expect(await shown("admin")).toContain(`"x-stored":"${MARK}"`);
    expect(await shown("admin")).not.toContain(`${MARK}-variable`);
    expect((await get(`${server.admin}/deployments`)).status).toBe(401);
  } finally {
    await Promise.all([server.close(), endpoint.close()]);
  }
});
