import { generateKeyPairSync } from "node:crypto";
import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { options } from "../../src/config.ts";
import { nodeEntry } from "../support/build.ts";
import { call, get, manage, operate, query, register, send } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Server, startServer } from "../support/server.ts";
import { shows } from "../support/tokens.ts";

const START_MS = 60_000;
/** Every secret has it: where it is found, one of them has leaked. */
const MARK = "Zz9mArKeDsEcReTzZ";
const { privateKey } = generateKeyPairSync("ed25519");
const PEM = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const PEM_MARK = PEM.split("\n")[1]!.slice(-24);

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
};
/** Settings of a database server and of a fleet, which this server is without. */
const ELSEWHERE = ["storage.database-url", "storage.auth-token", "fleet.secret", "auth.tokens"];

const marked = (text: string) => text.includes(MARK) || text.includes(PEM_MARK);

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

describe("a server whose secrets are all marked", () => {
  let server: Server, endpoint: Endpoint;
  const address = () => {
    const { admin, ingress } = server;
    return { admin, ingress, token: SETTINGS.ADMIN__TOKEN };
  };

  beforeAll(async () => {
    [server, endpoint] = await Promise.all([
      startServer({ runtime: "node", settings: SETTINGS }),
      startEndpoint("h2"),
    ]);
    const headers = { additional_headers: { "x-api-key": `${MARK}-header` } };
    expect((await register(address(), endpoint, headers)).status).toBe(201);
    expect((await call(address(), "Greeter/greet", "you")).status).toBe(200);
    await call(address(), "Greeter/nope", "you");
    await send(address(), "Greeter/greet", "you", { query: "delay=1h" });
    await cluster();
    await refused();
  }, START_MS);
  afterAll(() => Promise.all([server?.close(), endpoint?.close()]));

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
    const texts = [
      await asked("/deployments", { method: "POST", body: JSON.stringify(gone) }),
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
