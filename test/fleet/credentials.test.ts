import { createRemoteJWKSet, jwtVerify } from "jose";
import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Gateway, startGateway } from "../outbound/credentials/_gateway.ts";
import { call, query, register, send } from "../support/client.ts";
import { until } from "../support/child.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { sqldProgram } from "../support/sqld.ts";
import { TestFleet } from "./_fleet.ts";

vi.setConfig({ testTimeout: 60_000 });

const KEYS = Array.from({ length: 24 }, (_, index) => `key-${index}`);
const ISSUER = "https://perdure.example";
const PEM = generateKeyPairSync("ed25519").privateKey
  .export({ type: "pkcs8", format: "pem" }).toString();
const program = await sqldProgram();

describe.skipIf(!program)("in a fleet of Node and Deno", () => {
  let fleet: TestFleet, endpoint: Endpoint, gateway: Gateway;
  const values = new Set<string>();
  beforeAll(async () => {
    const settings = {
      OUTBOUND__ID_TOKEN__ISSUER: ISSUER,
      OUTBOUND__ID_TOKEN__PRIVATE_KEY_PEM: PEM,
    };
    [fleet, endpoint] = await Promise.all([
      TestFleet.start({
        program: program ?? "",
        processes: 2,
        partitions: 4,
        runtimes: ["node", "deno"],
        settings,
        envOf: (n) => ({
          PERDURE_HEADER_EACH: `of-process-${n}`,
          ...(n === 0 && { PERDURE_HEADER_ONE: "of-the-first" }),
        }),
      }),
      startEndpoint("h1"),
    ]);
    const keys = createRemoteJWKSet(
      new URL(`${fleet.member(1).server.admin}/.well-known/jwks.json`),
    );
    gateway = await startGateway(endpoint, async (headers) => {
      const token = String(headers["authorization"]).replace("Bearer ", "");
      await jwtVerify(token, keys, { issuer: ISSUER, audience: "all" });
      values.add(String(headers["x-each"]));
    });
    await fleet.settled();
  }, 60_000);
  afterAll(async () => {
    gateway?.close();
    await Promise.all([fleet?.close(), endpoint?.close()]);
  });

  const auth = { ServerIdToken: { audience: "all" } };

  test("each process sends the value that it has, and a token that any of them verifies", async () => {
    const each = { "x-each": { env: "PERDURE_HEADER_EACH" } };
    const { server } = fleet.member(0);
    const { status } = await register(server, gateway, { auth, additional_headers: each });
    expect(status).toBe(201);
    for (const key of KEYS) {
      expect((await call(server, `Counter/${key}/add`, 1)).status, key).toBe(200);
    }
    expect([...values].toSorted()).toEqual(["of-process-0", "of-process-1"]);
    expect(gateway.seen.map(({ passed }) => passed)).not.toContain(false);
  });

  test("a process that lacks a variable fails its attempts, and says which", async () => {
    const one = { "x-one": { env: "PERDURE_HEADER_ONE" } };
    const asked = { auth, additional_headers: one, force: true };
    const other = await register(fleet.member(1).server, gateway, asked);
    expect(other).toMatchObject({ status: 400, body: { svc_code: "META0019" } });
    expect((await register(fleet.member(0).server, gateway, asked)).status).toBe(200);
    for (const key of KEYS) await send(fleet.member(0).server, `Counter/${key}/add`, 1);
    const sql = "select last_failure, last_failure_error_code as code from sys_invocation " +
      "where last_failure is not null";
    await until("a failure", async () => (await query(fleet.member(0).server, sql)).length > 0);
    for (const row of await query(fleet.member(1).server, sql)) {
      expect(row).toMatchObject({
        code: "RT0035",
        last_failure: expect.stringContaining('"PERDURE_HEADER_ONE" is not set in this process'),
      });
    }
    const done = "select count(*) as n from sys_invocation where status = 'completed'";
    await until("the others to be done", async () => {
      const [row] = await query(fleet.member(0).server, done);
      return Number(row?.["n"]) > KEYS.length;
    });
  });
});
