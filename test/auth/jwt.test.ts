import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { afterEach, expect, test, vi } from "vitest";
import { type JwtSettings, openJwt } from "../../src/auth/jwt.ts";
import { Failure } from "../../src/errors.ts";
import { dialer } from "../outbound/_talk.ts";
import { resolver } from "../outbound/egress/_resolver.ts";

const NOW = 1_700_000_000_000;
const ISSUER = "https://issuer.example";

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function key(kid: string, alg = "ES256") {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, jwk: { ...await exportJWK(publicKey), kid, alg } };
}
type Key = Awaited<ReturnType<typeof key>>;

function sign({ kid, alg, privateKey }: Key, claims: JWTPayload): Promise<string> {
  return new SignJWT({
    iss: ISSUER,
    sub: "ada",
    exp: NOW / 1000 + 60,
    roles: ["operator"],
    ...claims,
  }).setProtectedHeader({ alg, kid }).sign(privateKey);
}

function deps(
  readTextFile?: (path: string) => Promise<string>,
  dialing: Parameters<typeof dialer>[0] = {},
) {
  const world = { now: NOW, alarms: [] as (() => void)[], logged: [] as string[] };
  const clock = {
    now: () => world.now,
    at: (_due: number, call: () => void) => {
      world.alarms.push(call);
      return () => {};
    },
    soon: (call: () => void) => queueMicrotask(call),
  };
  const log = (_level: string, message: string, fields?: object) =>
    void world.logged.push(`${message} ${JSON.stringify(fields)}`);
  const dial = dialer(dialing);
  return { world, clock, log, readTextFile, dial };
}

const SETTINGS: JwtSettings = {
  issuer: ISSUER,
  audience: undefined,
  keys: "keys.json",
  rolesClaim: "roles",
  clockSkewMs: 30_000,
};

async function open(keys: readonly Key[], settings: Partial<JwtSettings> = {}) {
  let text = JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });
  const given = deps(() => Promise.resolve(text));
  const verifier = await openJwt({ ...SETTINGS, ...settings }, given);
  const replace = (by: readonly Key[]) => text = JSON.stringify({ keys: by.map(({ jwk }) => jwk) });
  return { verifier: verifier!, ...given, replace };
}

test("takes the subject and the roles of a token that its issuer has signed", async () => {
  const one = await key("one");
  const { verifier } = await open([one]);
  expect(await verifier.verify(await sign(one, {}))).toMatchObject({
    identity: { name: "ada", level: "operator" },
    until: NOW + 90_000,
  });
  const text = await sign(one, {
    roles: "openid viewer invoke:Greeter/*",
    sub: undefined as never,
  });
  expect((await verifier.verify(text))?.identity).toMatchObject({
    name: "a token without a subject",
    level: "viewer",
    handlers: [{ service: "Greeter", handler: "*" }],
  });
  const none = await sign(one, { roles: { admin: true } });
  expect((await verifier.verify(none))?.identity).toMatchObject({ level: "none", handlers: [] });
});

test("does not count for longer than five minutes without being verified again", async () => {
  const one = await key("one");
  const { verifier } = await open([one]);
  const long = await sign(one, { exp: NOW / 1000 + 86_400 });
  expect((await verifier.verify(long))?.until).toBe(NOW + 300_000);
});

test("refuses all others", async () => {
  const [one, other] = [await key("one"), await key("one")];
  const { verifier } = await open([one], { audience: "perdure" });
  const mine = { aud: "perdure" };
  expect(await verifier.verify(await sign(one, mine))).toBeDefined();
  const [head, body, signature] = (await sign(one, mine)).split(".");
  const none = btoa(JSON.stringify({ alg: "none" })).replaceAll("=", "");
  const secret = await new SignJWT({ iss: ISSUER, exp: NOW / 1000 + 60, ...mine, roles: "admin" })
    .setProtectedHeader({ alg: "HS256", kid: "one" })
    .sign(new TextEncoder().encode(JSON.stringify(one.jwk)));
  const wrong = [
    await sign(other, mine),
    await sign(one, {}),
    await sign(one, { aud: "another" }),
    await sign(one, { ...mine, iss: "https://other.example" }),
    await sign(one, { ...mine, exp: NOW / 1000 - 31 }),
    await sign(one, { ...mine, nbf: NOW / 1000 + 31 }),
    await sign(one, { ...mine, exp: undefined as never }),
    await sign(await key("unknown"), mine),
    `${head}.${btoa(JSON.stringify({ iss: ISSUER, roles: "admin" }))}.${signature}`,
    `${none}.${body}.`,
    secret,
    "a.b.c",
    "no-jwt",
  ];
  for (const [at, token] of wrong.entries()) {
    expect(await verifier.verify(token), `token ${at}`).toBeUndefined();
  }
});

test("allows for a clock that differs", async () => {
  const one = await key("one");
  const { verifier } = await open([one]);
  expect(await verifier.verify(await sign(one, { exp: NOW / 1000 - 29 }))).toBeDefined();
  expect(await verifier.verify(await sign(one, { nbf: NOW / 1000 + 29 }))).toBeDefined();
});

test("says which claim has a role that cannot be read", async () => {
  const one = await key("one");
  const { verifier } = await open([one], { rolesClaim: "groups" });
  const token = await sign(one, { groups: ["invoke:Greeter"] });
  await expect(verifier.verify(token)).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining('the claim "groups"'),
  });
});

test("reads a file of keys again when it has changed", async () => {
  const [one, two] = [await key("one"), await key("two")];
  const { verifier, world, replace } = await open([one]);
  expect(await verifier.verify(await sign(two, {}))).toBeUndefined();
  replace([two]);
  world.alarms.shift()!();
  await vi.waitFor(async () => expect(await verifier.verify(await sign(two, {}))).toBeDefined());
  expect(await verifier.verify(await sign(one, {}))).toBeUndefined();
});

/** An issuer that publishes keys, and may be away. */
async function issuer(...first: readonly Key[]) {
  const published = { keys: first, isAway: false, fetches: 0 };
  const server = createServer((_request, response) => {
    published.fetches++;
    response.writeHead(published.isAway ? 500 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify({ keys: published.keys.map(({ jwk }) => jwk) }));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const keys = `http://127.0.0.1:${port}/keys`;
  const given = deps();
  return { published, port, ...given, verifier: (await openJwt({ ...SETTINGS, keys }, given))! };
}

const MINUTE_MS = 60_000;
const LONG = { exp: NOW / 1000 + 86_400 };

test("fetches keys from a URL when the first token comes, and waits after a failure", async () => {
  const one = await key("one");
  const { published, verifier, world } = await issuer(one);
  const token = await sign(one, {});
  published.isAway = true;
  const refused = await verifier.verify(token).catch((cause) => cause);
  expect(refused).toBeInstanceOf(Failure);
  expect(refused).toMatchObject({ status: 503 });
  expect(world.logged).toHaveLength(1);
  // Tokens of strangers begin no fetch each.
  for (let i = 0; i < 5; i++) await expect(verifier.verify(token)).rejects.toThrow(/issuer/);
  expect([published.fetches, world.logged.length]).toEqual([1, 1]);
  published.isAway = false;
  world.now += 6_000;
  expect(await verifier.verify(token)).toBeDefined();
  expect(published.fetches).toBe(2);
});

test("goes on with its keys while the issuer is away, however long", async () => {
  const [one, two] = [await key("one"), await key("two")];
  const { published, verifier, world } = await issuer(one);
  const [token, other] = [await sign(one, LONG), await sign(two, LONG)];
  expect(await verifier.verify(token)).toBeDefined();
  published.isAway = true;
  for (let i = 0; i < 6; i++) {
    world.now += 11 * MINUTE_MS;
    expect(await verifier.verify(token)).toBeDefined();
    await vi.waitFor(() => expect(world.logged).toHaveLength(i + 1));
  }
  // Whether this key is a new one is not known now.
  await expect(verifier.verify(other)).rejects.toMatchObject({ status: 503 });
  expect(await verifier.verify(token)).toBeDefined();
  Object.assign(published, { isAway: false, keys: [one, two] });
  world.now += 11 * MINUTE_MS;
  await vi.waitFor(async () => expect(await verifier.verify(other)).toBeDefined());
});

test("notices a key that was withdrawn", async () => {
  const [one, two] = [await key("one"), await key("two")];
  const { published, verifier, world } = await issuer(one);
  const token = await sign(one, LONG);
  expect(await verifier.verify(token)).toBeDefined();
  published.keys = [two];
  expect(await verifier.verify(token)).toBeDefined();
  world.now += 11 * MINUTE_MS;
  await vi.waitFor(async () => expect(await verifier.verify(token)).toBeUndefined());
  expect(await verifier.verify(await sign(two, LONG))).toBeDefined();
});

test.each([
  [{ keys: undefined }, /Set both or none/],
  [{ issuer: undefined }, /Set both or none/],
  [{ keys: "https://[" }, /RT0002.*auth\.jwt\.keys.*is not an http or https URL/],
  [{ keys: "https://user:hush@issuer.example/keys" }, /RT0002.*has a user or a password/],
  [{ keys: "http://169.254.169.254/keys" }, /RT0038.*auth\.jwt\.keys.*169\.254\.169\.254/],
])("refuses the settings %j", async (settings, message) => {
  await expect(openJwt({ ...SETTINGS, ...settings }, deps())).rejects.toThrow(message);
});

test("refuses a file that has no keys, or that is not there", async () => {
  const bad = (text: string) => openJwt(SETTINGS, deps(() => Promise.resolve(text)));
  await expect(bad("{")).rejects.toThrow(/RT0002.*auth\.jwt\.keys/);
  await expect(bad("{}")).rejects.toThrow(/RT0002.*auth\.jwt\.keys/);
  const gone = deps(() => Promise.reject(new Error("ENOENT")));
  await expect(openJwt(SETTINGS, gone)).rejects.toThrow(/RT0002.*ENOENT/);
  await expect(openJwt(SETTINGS, deps())).rejects.toThrow(/no files/);
  expect(await openJwt({ ...SETTINGS, issuer: undefined, keys: undefined }, deps()))
    .toBeUndefined();
});

test("a redirect of the keys is not followed", async () => {
  const one = await key("one");
  let followed = 0;
  const server = createServer((request, response) => {
    if (request.url === "/elsewhere") followed++;
    response.writeHead(302, { location: "/elsewhere" }).end();
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const keys = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
  const verifier = await openJwt({ ...SETTINGS, keys }, deps());
  await expect(verifier!.verify(await sign(one, {}))).rejects.toMatchObject({ status: 503 });
  expect(followed).toBe(0);
});

test("keys are not fetched from an address that is refused, whatever its name was before", async () => {
  const one = await key("one");
  const { published, port } = await issuer(one);
  const { resolve } = resolver(["169.254.169.254"], ["127.0.0.1"]);
  const given = deps(undefined, { resolve });
  const keys = `http://issuer.test:${port}/keys`;
  const verifier = (await openJwt({ ...SETTINGS, keys }, given))!;
  const token = await sign(one, {});
  await expect(verifier.verify(token)).rejects.toMatchObject({ status: 503 });
  expect(published.fetches).toBe(0);
  expect(given.world.logged).toEqual([expect.stringMatching(
    /RT0038.*169\.254\.169\.254, which 'issuer\.test' resolves to, is refused/,
  )]);
  given.world.now += 6_000;
  expect(await verifier.verify(token)).toBeDefined();
});
