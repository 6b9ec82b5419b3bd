import { createRemoteJWKSet, decodeJwt, jwtVerify, type JWTVerifyGetKey } from "jose";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { until } from "../../support/child.ts";
import { call, get, manage, query, register, send } from "../../support/client.ts";
import { startEndpoint } from "../../support/endpoint.ts";
import { type Check, type Gateway, startGateway } from "./_gateway.ts";
import { GOOGLE, newSigningKey, startIssuer, type TokenIssuer } from "./_issuer.ts";
import { installation, type Runtime } from "./_servers.ts";

vi.setConfig({ testTimeout: 60_000 });

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** An unmodified SDK behind a gateway. */
async function guarded(transport: "h1" | "h2", check: Check): Promise<Gateway> {
  const endpoint = await startEndpoint(transport);
  cleanups.push(() => endpoint.close());
  const gateway = await startGateway(endpoint, check);
  cleanups.push(() => gateway.close());
  return gateway;
}

/** Lets requests pass whose token has this signature, issuer and audience, and has not expired. */
function verifies(
  key: JWTVerifyGetKey | CryptoKey,
  { header, ...wanted }: {
    readonly issuer: string;
    readonly audience: string;
    readonly header: string;
    readonly subject?: string;
  },
): Check {
  return async (headers) => {
    const token = String(headers[header]).replace(/^Bearer /, "");
    const options = { ...wanted, requiredClaims: ["exp", "iat"], clockTolerance: 0 };
    if (typeof key === "function") await jwtVerify(token, key, options);
    else await jwtVerify(token, key, options);
  };
}

const ISSUER = "https://perdure.example/cluster";
const OWN = {
  issuer: ISSUER,
  audience: "orders",
  header: "authorization",
  subject: "localcluster",
};
const keysOf = (admin: string) => createRemoteJWKSet(new URL(`${admin}/.well-known/jwks.json`));

const RUNTIMES: readonly (readonly [Runtime, "h1" | "h2", "EdDSA" | "RS256" | "ES256"])[] = [
  ["node", "h2", "EdDSA"],
  ["deno", "h1", "RS256"],
  ["workerd", "h1", "ES256"],
];

describe.each(RUNTIMES)("tokens of the server on %s, %s, %s", (runtime, transport, alg) => {
  test("pass a gateway that verifies them by the published keys", async () => {
    const [start, key] = [await installation(runtime, cleanups), await newSigningKey(alg)];
    const server = await start({
      settings: {
        OUTBOUND__ID_TOKEN__ISSUER: ISSUER,
        OUTBOUND__ID_TOKEN__PRIVATE_KEY_PEM: key.pem.replaceAll("\n", "\\n"),
      },
    });
    const gateway = await guarded(transport, verifies(keysOf(server.admin), OWN));
    expect((await register(server, gateway)).body).toMatchObject({ svc_code: "META0003" });
    const auth = { ServerIdToken: { audience: "orders" } };
    const { status, body } = await register(server, gateway, { auth });
    expect([status, JSON.stringify(body)]).toEqual([201, expect.any(String)]);
    const { id } = body as { id: string };
    expect((await call(server, "Greeter/greet", "Ada")).body).toBe("Hello Ada");
    const shown = { auth: { ServerIdToken: { audience: "orders", header: "authorization" } } };
    expect((await get(`${server.admin}/deployments/${id}`)).body).toMatchObject(shown);

    // Another audience is refused by the gateway, so the first one counted.
    const other = { auth: { ServerIdToken: { audience: "payments" } } };
    expect((await manage(server, `PATCH /deployments/${id}`, other)).status).toBe(500);
    // What is said of other things keeps it.
    const more = { additional_headers: { "x-a": "1" } };
    expect((await manage(server, `PATCH /deployments/${id}`, more)).body).toMatchObject(shown);
    expect((await manage(server, `PATCH /deployments/${id}`, { auth: {} })).status).toBe(500);
    const keys = (await get(`${server.admin}/.well-known/jwks.json`)).body;
    expect(keys).toMatchObject({ keys: [{ alg, use: "sig", kid: expect.any(String) }] });
    expect(JSON.stringify(keys)).not.toMatch(/"(d|p|q|dp|dq|qi)":/);
    expect((await get(`${server.admin}/.well-known/openid-configuration`)).body).toMatchObject({
      issuer: ISSUER,
      jwks_uri: `${ISSUER}/.well-known/jwks.json`,
    });
  });
});

test("a key that is replaced signs from then on, and both may be published", async () => {
  const [start, gateways] = [await installation("node", cleanups), [] as Gateway[]];
  const [old, next] = [await newSigningKey("EdDSA"), await newSigningKey("RS256")];
  const probe = await startEndpoint("h1");
  cleanups.push(() => probe.close());
  const file = path.join(probe.folder, "keys.pem");
  writeFileSync(file, old.pem);
  const settings = {
    OUTBOUND__ID_TOKEN__ISSUER: ISSUER,
    OUTBOUND__ID_TOKEN__PRIVATE_KEY_PEM_FILE: file,
  };
  const server = await start({ settings });
  const seen: string[] = [];
  const gateway = await startGateway(probe, (headers) => {
    seen.push(String(headers["authorization"]).slice(7));
  });
  gateways.push(gateway);
  cleanups.push(() => gateway.close());
  await register(server, gateway, { auth: { ServerIdToken: {} } });
  expect(decodeJwt(seen[0]!).aud).toBe(gateway.url);
  writeFileSync(file, "nothing");
  await until("a complaint", () => server.logs().includes("private-key-pem-file"), 10_000);
  writeFileSync(file, next.pem + old.pem);
  const algorithms = async () => {
    const { body } = await get(`${server.admin}/.well-known/jwks.json`);
    return (body as { keys: { alg: string }[] }).keys.map(({ alg }) => alg);
  };
  await until("the new keys", async () => (await algorithms()).length === 2, 10_000);
  expect(await algorithms()).toEqual(["RS256", "EdDSA"]);
  await call(server, "Greeter/greet", "Ada");
  const verified = await jwtVerify(seen.at(-1)!, keysOf(server.admin), { issuer: ISSUER });
  expect(verified.protectedHeader.alg).toBe("RS256");
});

const FAILURE = "select last_failure, last_failure_error_code, retry_count from sys_invocation";

/** A server with a service account, and a gateway that wants its tokens. */
async function withGoogle(runtime: Runtime, more: Readonly<Record<string, string>> = {}) {
  const issuer: TokenIssuer = await startIssuer();
  cleanups.push(() => issuer.close());
  const start = await installation(runtime, cleanups);
  const server = await start({
    settings: { OUTBOUND__ID_TOKEN__GOOGLE_KEY: issuer.account, ...more },
  });
  const gateway = await guarded("h1", () => {});
  const google = { issuer: GOOGLE, audience: gateway.url, header: "x-serverless-authorization" };
  gateway.check = verifies(issuer.publicKey, google);
  return { issuer, server, gateway };
}

describe.each(["node", "deno", "workerd"] as const)("tokens of a service account on %s", (on) => {
  test("are asked for once, and pass", async () => {
    const { issuer, server, gateway } = await withGoogle(on);
    const auth = { GoogleIdToken: {} };
    const { status, body } = await register(server, gateway, { auth });
    expect([status, JSON.stringify(body)]).toEqual([201, expect.any(String)]);
    const calls = Array.from({ length: 20 }, (_, n) => call(server, "Greeter/greet", `${n}`));
    expect((await Promise.all(calls)).map((answer) => answer.status)).toEqual(Array(20).fill(200));
    expect(issuer.asked).toBe(1);
    expect(server.logs()).not.toContain(issuer.made[0]!.slice(0, 60));
  });

  test("fail attempts while there are none, which go on once there are", async () => {
    const { issuer, server, gateway } = await withGoogle(on);
    // Nothing is cached for another audience.
    expect((await register(server, gateway, { auth: { GoogleIdToken: {} } })).status).toBe(201);
    await server.stop();
    issuer.outage = { status: 503, body: '{"error_description": "no room for ASSERTION"}' };
    await server.start();
    await send(server, "Greeter/greet", "Ada");
    await until("two failed attempts", async () => {
      const [row] = await query(server, FAILURE);
      return Number(row?.["retry_count"]) > 1;
    });
    const [row] = await query(server, FAILURE);
    expect(row).toMatchObject({
      last_failure_error_code: "RT0035",
      last_failure: expect.stringMatching(
        /http:\/\/127\.0\.0\.1:\d+ makes no ID token for "http:[^"]+": status 503: no room for …$/,
      ),
    });
    const registered = await register(server, gateway, { auth: { GoogleIdToken: {} } });
    expect(registered).toMatchObject({ status: 500, body: { svc_code: "META0003" } });
    expect(JSON.stringify(registered.body) + server.logs()).not.toContain("eyJ");
    issuer.outage = undefined;
    await until("it to complete", async () => {
      const [done] = await query(server, "select status from sys_invocation");
      return done?.["status"] === "completed";
    });
  });
});

test("the egress rules hold for the token endpoint", async () => {
  const { server, gateway, issuer } = await withGoogle("node", {
    OUTBOUND__DENY: '["127.0.0.1"]',
    OUTBOUND__ALLOW: "[]",
  });
  const { status, body } = await register(server, gateway, { auth: { GoogleIdToken: {} } });
  expect([status, (body as { message: string }).message]).toEqual([
    500,
    expect.stringMatching(/makes no ID token for .*: 127\.0\.0\.1 is refused/),
  ]);
  expect(issuer.asked).toBe(0);
});

test("a server without keys, a header given twice, and plain http are refused", async () => {
  const start = await installation("node", cleanups);
  const { pem } = await newSigningKey("EdDSA");
  const gateway = await guarded("h1", () => {});
  const refused = async (server: Awaited<ReturnType<typeof start>>, more: object) => {
    const { status, body } = await register(server, gateway, { ...more });
    expect([status, body]).toMatchObject([400, { svc_code: "META0019" }]);
    return (body as { message: string }).message;
  };
  const without = await start();
  expect(await refused(without, { auth: { ServerIdToken: {} } }))
    .toContain('set "outbound.id-token.issuer" and');
  expect(await refused(without, { auth: { GoogleIdToken: {} } }))
    .toContain('set "outbound.id-token.google-key-file"');
  expect((await get(`${without.admin}/.well-known/jwks.json`)).status).toBe(404);
  await without.stop();
  const server = await start({
    settings: {
      OUTBOUND__ID_TOKEN__ISSUER: ISSUER,
      OUTBOUND__ID_TOKEN__PRIVATE_KEY_PEM: pem,
      ADMIN__BIND_PORT: new URL(without.admin).port,
    },
  });
  const auth = { ServerIdToken: {} };
  expect(await refused(server, { auth, additional_headers: { Authorization: "mine" } }))
    .toContain('"additional_headers" has "authorization"');
  expect(await refused(server, { auth, uri: "http://example.com:81" }))
    .toContain("An ID token is sent by https only");
  await server.stop();
  await expect(start({ settings: { OUTBOUND__ID_TOKEN__ISSUER: ISSUER } })).rejects
    .toThrow(/\[RT0002\] "outbound.id-token.issuer" and a key/);
  const bad = { OUTBOUND__ID_TOKEN__GOOGLE_KEY: '{"private_key": "secret-of-mine"}' };
  await expect(start({ settings: bad })).rejects.toThrow(
    /\[RT0002\] Cannot read "outbound.id-token.google-key": it lacks one of client_email/,
  );
});
