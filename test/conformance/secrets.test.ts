import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { options } from "../../src/config.ts";
import { nodeEntry } from "../support/build.ts";
import { call, get, manage, operate, query, register, send } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Gateway, startGateway } from "../outbound/credentials/_gateway.ts";
import { until } from "../support/child.ts";
import { type Server, startServer } from "../support/server.ts";
import { shows } from "../support/tokens.ts";

const START_MS = 60_000;
/** Every secret has it: where it is found, one of them has leaked. */
const MARK = "Zz9mArKeDsEcReTzZ";
const { privateKey } = generateKeyPairSync("ed25519");
const PEM = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const RSA = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey
  .export({ type: "pkcs8", format: "pem" }).toString();
/** A line of each key, and tokens, as they are made. */
const marks = [MARK, PEM.split("\n")[1]!.slice(-24), RSA.split("\n")[15]!];

const SETTINGS = {
  ADMIN__TOKEN: `${MARK}-admin`,
  INGRESS__TOKEN: `${MARK}-ingress`,
  KAFKA__TOKEN: `${MARK}-kafka-token`,
  WORKER__INVOKER__REQUEST_IDENTITY_PRIVATE_KEY_PEM: PEM,
  WORKER__INVOKER__AWS_ACCESS_KEY_ID: "an-id-is-no-secret",
  WORKER__INVOKER__AWS_SECRET_ACCESS_KEY: `${MARK}-key`,
  WORKER__INVOKER__AWS_SESSION_TOKEN: `${MARK}-session`,
  STORAGE__ENCRYPTION_KEY: `${MARK}-encryption-of-the-folder`,
  TRACING_HEADERS: `["authorization=${MARK}-tracing"]`,
  OUTBOUND__ID_TOKEN__PRIVATE_KEY_PEM: RSA,
  OUTBOUND__ID_TOKEN__GOOGLE_KEY: JSON.stringify({
    client_email: "robot@example.com",
    private_key: RSA,
    private_key_id: `${MARK}-key-id`,
    token_uri: "http://127.0.0.1:9/token",
  }),
};
const ISSUER = { OUTBOUND__ID_TOKEN__ISSUER: "https://perdure.example" };
const VARIABLE = { PERDURE_HEADER_MARKED: `${MARK}-variable` };
/** Settings of a database server and of a fleet, which this server is without. */
const ELSEWHERE = ["storage.database-url", "storage.auth-token", "fleet.secret", "auth.tokens"];

const marked = (text: string) => marks.some((mark) => text.includes(mark));

test("every secret of the settings is marked here, or needs another kind of server", () => {
  const known = Object.entries(options).filter(([, { secret }]) => secret).map(([name]) => name);
  const given = Object.keys(SETTINGS)
    .map((name) => name.toLowerCase().replaceAll("__", ".").replaceAll("_", "-"));
  expect(known.filter((name) => !given.includes(name)).toSorted()).toEqual(ELSEWHERE.toSorted());
});

test("the settings that are printed have none", () => {
  const secrets = { ...SETTINGS, FLEET__SECRET: MARK, STORAGE__AUTH_TOKEN: MARK };
  const env = {
    ...process.env,
    ...Object.fromEntries(Object.entries(secrets).map(([name, value]) => [`SVC_${name}`, value])),
    SVC_AUTH__TOKENS: `# ${MARK}`,
    DATABASE_URL: `https://db.example?authToken=${MARK}`,
  };
  const { stdout, stderr, status } = spawnSync(process.execPath, [nodeEntry(), "--dump-config"], {
    env,
    encoding: "utf8",
  });
  expect((stdout + stderr).split("\n").filter(marked)).toEqual([]);
  expect(status).toBe(0);
});

test("a start that fails for its database tells no token of its address", () => {
  const settings = { STORAGE__RETRY_TIMEOUT: "1s", FLEET__SECRET: `${MARK}-fleet-secret` };
  for (const address of ["http://127.0.0.1:9", "libsql://db.invalid", `http://u:${MARK}@x/`]) {
    const env = {
      ...process.env,
      ...Object.fromEntries(Object.entries(settings).map(([name, one]) => [`SVC_${name}`, one])),
      DATABASE_URL: `${address}?authToken=${MARK}-token`,
      SVC_LOG_LEVEL: "debug",
      SVC_INGRESS__BIND_PORT: "0",
      SVC_ADMIN__BIND_PORT: "0",
    };
    const { stdout, stderr, status } = spawnSync(process.execPath, [nodeEntry()], {
      env,
      encoding: "utf8",
      timeout: START_MS,
    });
    expect((stdout + stderr).split("\n").filter(marked)).toEqual([]);
    expect([status, (stdout + stderr).length > 0]).toEqual([1, true]);
  }
}, START_MS);

/** Takes spans, as a collector does. */
async function startCollector() {
  const bodies: string[] = [];
  const server = http.createServer((request, response) => {
    request.setEncoding("latin1").on("data", (chunk) => bodies.push(chunk));
    request.on("end", () => response.end("{}"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, bodies, close: () => server.close() };
}

describe("a server whose secrets are all marked", () => {
  let server: Server, endpoint: Endpoint, gateway: Gateway;
  let collector: Awaited<ReturnType<typeof startCollector>>;
  const address = () => {
    const { admin, ingress } = server;
    return { admin, ingress, token: SETTINGS.ADMIN__TOKEN };
  };

  beforeAll(async () => {
    collector = await startCollector();
    const settings = { ...SETTINGS, ...ISSUER, TRACING_ENDPOINT: `${collector.url}/v1/traces` };
    [server, endpoint] = await Promise.all([
      startServer({ runtime: "node", settings, env: VARIABLE }),
      startEndpoint("h2"),
    ]);
    // What the endpoint is shown is marked, too.
    gateway = await startGateway(endpoint, (shown) => {
      expect(shown["x-variable"]).toBe(VARIABLE.PERDURE_HEADER_MARKED);
      const token = String(shown["authorization"]).split(".")[2]!;
      expect(token.length).toBeGreaterThan(50);
      marks.push(token);
    });
    const headers = { additional_headers: { "x-api-key": `${MARK}-header` } };
    expect((await register(address(), endpoint, headers)).status).toBe(201);
    const variable = { "x-variable": { env: "PERDURE_HEADER_MARKED" } };
    const asked = { additional_headers: variable, auth: { ServerIdToken: {} } };
    expect((await register(address(), gateway, asked)).status).toBe(201);
    expect((await call(address(), "Greeter/greet", "you")).status).toBe(200);
    expect(marks.length).toBeGreaterThan(3);
    await call(address(), "Greeter/nope", "you");
    await send(address(), "Greeter/greet", "you", { query: "delay=1h" });
    await cluster();
    await refused();
  }, START_MS);
  afterAll(async () => {
    await server?.close();
    gateway?.close();
    collector?.close();
    await endpoint?.close();
  });

  const asked = (path: string, init: RequestInit = {}) =>
    fetch(`${server.admin}${path}`, {
      ...init,
      headers: { ...shows(SETTINGS.ADMIN__TOKEN), "content-type": "application/json" },
    });

  /** A cluster of Kafka with passwords, which nothing reaches. */
  async function cluster(): Promise<void> {
    const properties = {
      "bootstrap.servers": "127.0.0.1:9",
      "security.protocol": "SASL_PLAINTEXT",
      "sasl.mechanism": "PLAIN",
      "sasl.username": "u",
      "sasl.password": `${MARK}-password`,
    };
    const body = JSON.stringify({ name: "c", properties });
    expect((await asked("/kafka-clusters", { method: "POST", body })).status).toBe(201);
  }

  /** What ends in an error text. */
  async function refused(): Promise<void> {
    const gone = { uri: "http://127.0.0.1:9", additional_headers: { "x-k": `${MARK}-gone` } };
    const post = (body: object) =>
      asked("/deployments", { method: "POST", body: JSON.stringify(body) });
    const unknown = { "x-variable": { env: "SVC_ADMIN__TOKEN" } };
    const texts = [
      await post(gone),
      await post({ uri: gateway.url, force: true, auth: { GoogleIdToken: {} } }),
      await post({ uri: gateway.url, force: true, additional_headers: unknown }),
      await post({ uri: `http://127.0.0.1:9/?token=${MARK}-address` }),
      await fetch(`${server.admin}/deployments`, { headers: shows(`${MARK}-wrong`) }),
      await fetch(`${server.ingress}/svc/call/Greeter/greet`, {
        method: "POST",
        headers: shows(`${MARK}-wrong`),
      }),
    ];
    for (const text of texts) expect(marked(await text.text())).toBe(false);
  }

  test("tells none by SQL, in any table", async () => {
    const tables = await query(address(), "show tables");
    const names = tables.map((row) => String(row["table_name"]));
    expect(names.length).toBeGreaterThan(10);
    for (const name of names) {
      const rows = await query(address(), `select * from ${name} limit 1000`);
      expect(marked(JSON.stringify(rows)), name).toBe(false);
    }
  });

  test("journals no token of its own, also not in bytes", async () => {
    const rows = await query(address(), "select * from sys_journal");
    expect(rows.length).toBeGreaterThan(0);
    const bytes = JSON.stringify(rows).replace(
      /[0-9a-f]{40,}/g,
      (hex) => Buffer.from(hex, "hex").toString("latin1"),
    );
    expect(marked(bytes)).toBe(false);
  });

  test("tells none in answers, metrics or pages", async () => {
    const paths = [
      "/metrics",
      "/version",
      "/openapi",
      "/services",
      "/kafka-clusters",
      "/subscriptions",
    ];
    for (const path of [...paths, "/cluster-health", "/ui/", "/ui/deployments"]) {
      const answer = await asked(path);
      expect([answer.status, marked(await answer.text())], path).toEqual([200, false]);
    }
    // A value that is stored is shown to those who may set it; all else is not.
    const deployments = await (await asked("/deployments")).text();
    expect(deployments).toContain("PERDURE_HEADER_MARKED");
    expect(marked(deployments.replace(`${MARK}-header`, ""))).toBe(false);
  });

  test("traces none", async () => {
    await until("spans", () => collector.bodies.join("").includes("Greeter"), 20_000);
    expect(collector.bodies.filter(marked)).toEqual([]);
  });

  test("logs none, at the level that says most, also of what it ends with", async () => {
    const [row] = await query(address(), "select id from sys_invocation limit 1");
    await operate(address(), "kill", String(row?.["id"]));
    await manage(address(), "PATCH /services/Greeter", { public: "maybe" });
    await get(`${server.admin}/nothing`);
    await server.stop();
    expect(server.logs()).toContain("is ready");
    expect(server.logs().split("\n").filter(marked)).toEqual([]);
  });
});
