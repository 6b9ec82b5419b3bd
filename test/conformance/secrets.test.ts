import { readFileSync, statSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, manage, operate, query, register, send } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Gateway, startGateway } from "../outbound/credentials/_gateway.ts";
import { until } from "../support/child.ts";
import { type Server, startServer } from "../support/server.ts";
import { shows } from "../support/tokens.ts";
import { mustRun } from "../growth/_tool.ts";
import { MARK, marked, marks, SETTINGS, URLS, variables } from "./_secrets.ts";

const START_MS = 60_000;
const VARIABLE = { PERDURE_HEADER_MARKED: `${MARK}-variable` };

/** Head and claims of a JSON Web Token of an issuer whose keys are not known. */
const TOKEN = [{ alg: "ES256", kid: "k" }, { iss: URLS.AUTH__JWT__ISSUER, exp: 9_999_999_999 }]
  .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");

/** A line of a dump, with the bytes that it has as Base64. */
const inClear = (line: string) =>
  line.replace(/"base64":"([^"]*)"/g, (_, text) => {
    const bytes = Buffer.from(text, "base64").toString("latin1");
    return `"base64":${JSON.stringify(bytes)}`;
  });

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

describe.each(["node", "deno"] as const)(
  "a server on %s whose secrets are all marked",
  (runtime) => {
    let server: Server, endpoint: Endpoint, gateway: Gateway;
    let collector: Awaited<ReturnType<typeof startCollector>>;
    const address = () => {
      const { admin, ingress } = server;
      return { admin, ingress, token: SETTINGS.ADMIN__TOKEN };
    };

    beforeAll(async () => {
      collector = await startCollector();
      const endpoints = { TRACING_ENDPOINT: `${collector.url}/v1/traces?key=${MARK}-collector` };
      const settings = { ...SETTINGS, ...URLS, ...endpoints };
      [server, endpoint] = await Promise.all([
        startServer({ runtime, settings, env: VARIABLE }),
        startEndpoint("h2"),
      ]);
      const before = marks.length;
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
      expect(marks.length).toBeGreaterThan(before);
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
        // Its issuer cannot be reached.
        await fetch(`${server.admin}/deployments`, { headers: shows(`${TOKEN}.${MARK}`) }),
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
      const scheduled = "select id from sys_invocation where status = 'scheduled'";
      const [row] = await query(address(), scheduled);
      expect((await operate(address(), "kill", String(row?.["id"]))).status).toBe(200);
      const wrong = await manage(address(), "PATCH /services/Greeter", { public: "maybe" });
      expect([wrong.status, marked(JSON.stringify(wrong.body))]).toEqual([422, false]);
      expect((await asked("/nothing")).status).toBe(404);
      await server.stop("SIGTERM");
      expect(server.logs()).toContain("is ready");
      expect(server.logs()).toContain("Cannot get the keys of the issuer");
      expect(server.logs().split("\n").filter(marked)).toEqual([]);
    });

    test("exports none but what deployments and clusters are made of, and prints none", async () => {
      await server.stop("SIGTERM");
      const file = path.join(server.folder, "dump.jsonl");
      const env = { ...variables({ ...SETTINGS, ...URLS }), ...VARIABLE };
      const args = ["export", "--base-dir", server.folder, "--to", file];
      const output = await mustRun(args, { runtime, env });
      expect([output, marked(output)]).toEqual([expect.stringContaining("in clear text"), false]);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const rows = readFileSync(file, "utf8").trimEnd().split("\n").map(inClear);
      const needed = [`${MARK}-header`, `${MARK}-password`];
      const found = rows.filter((row) => needed.some((value) => row.includes(value)));
      expect(found.map((row) => JSON.parse(row).table).toSorted()).toEqual([
        "control",
        "deployment",
      ]);
      const others = rows.map((row) => needed.reduce((text, one) => text.replaceAll(one, ""), row));
      expect(others.filter(marked)).toEqual([]);
      expect(rows.some((row) => row.includes("Hello you"))).toBe(true);
    });
  },
);
