import fc from "fast-check";
import { expect, test } from "vitest";
import { Authenticator } from "../../src/auth/authenticator.ts";
import { callsToken, callsVerifier } from "../../src/auth/calls_token.ts";
import { grantsOf } from "../../src/auth/grants.ts";
import { seal, unseal } from "../../src/auth/sealed_token.ts";
import { SessionKeys } from "../../src/auth/session_keys.ts";
import { digestOf } from "../../src/auth/token_list.ts";
import { MemorySessionKeys, sessionsOf } from "../support/sessions.ts";

const URL = "http://127.0.0.1:9070/internal/ui/session";
const random = (size: number) => crypto.getRandomValues(new Uint8Array(size));
const DAY_MS = 24 * 3_600_000;
const ADA = { name: "ada", ...grantsOf(["operator"]) };

/** A server whose list has the token `token-of-ada`, and what others of its fleet share. */
async function setup({ lifetimeMs = DAY_MS, wrongTokensMax = 1000 } = {}) {
  const world = { now: 1_000_000 };
  const store = new MemorySessionKeys();
  const now = () => world.now;
  const tokens = new Map([[await digestOf("token-of-ada"), ADA]]);
  const wrongTokens = { perAddress: wrongTokensMax, total: wrongTokensMax };
  const authenticator = new Authenticator({ tokens, wrongTokens, now, log: () => {} });
  /** One more process. */
  const process = () => sessionsOf(authenticator, { now, lifetimeMs, store });
  return { world, store, authenticator, process };
}

type Process = ReturnType<Awaited<ReturnType<typeof setup>>["process"]>;

async function signedIn(sessions: Process, token = "token-of-ada"): Promise<string> {
  const { cookie } = await sessions.begin(new Request(URL), { token, path: "/" });
  return cookie.split(";")[0]!;
}

async function whoIs(sessions: Process, cookie: string): Promise<string | undefined> {
  const session = await sessions.find(new Request(URL, { headers: { cookie } }));
  if (!session) return undefined;
  const asked = sessions.identify(session);
  return await asked.then(({ name }) => name, ({ status, message }) => `${status} ${message}`);
}

test("a session is as good after a restart and in each process, and shows no token", async () => {
  const { process } = await setup();
  const cookie = await signedIn(process());
  expect(await whoIs(process(), cookie)).toBe("ada");
  expect(cookie).not.toContain("token-of-ada");
  expect(atob(cookie.split(".")[1]!.replaceAll("-", "+").replaceAll("_", "/")))
    .not.toContain("token");
});

test("a session ends with its time", async () => {
  const { world, process } = await setup({ lifetimeMs: 60_000 });
  const sessions = process();
  const cookie = await signedIn(sessions);
  world.now += 59_999;
  expect(await whoIs(sessions, cookie)).toBe("ada");
  world.now += 1;
  expect(await whoIs(sessions, cookie)).toMatch(
    /^401 \[META0021\] The session has ended: its time/,
  );
});

test("a copy of a session that was signed out is over, in each process and after a restart", async () => {
  const { world, store, process } = await setup();
  const [one, two] = [process(), process()];
  const [cookie, other] = [await signedIn(one), await signedIn(one)];
  for (const sessions of [one, two]) expect(await whoIs(sessions, cookie)).toBe("ada");
  const taken = await one.end(new Request(URL, { method: "DELETE", headers: { cookie } }), "/");
  expect(taken).toEqual([expect.stringMatching(/^perdure-session-9070=; .*Max-Age=0/)]);
  const over = /^401 \[META0021\] The session has ended: it was signed out\. Sign in again/;
  expect(await whoIs(one, cookie)).toMatch(over);
  world.now += 1_000;
  for (const sessions of [two, process()]) {
    expect(await whoIs(sessions, cookie)).toMatch(over);
    expect(await whoIs(sessions, other)).toBe("ada");
  }
  // Spelled otherwise it is the same session.
  const respelled = [..."AQgw"].map((last) => cookie.slice(0, -1) + last);
  for (const text of respelled) expect(await whoIs(one, text)).not.toBe("ada");
  const before = store.text;
  await two.end(new Request(URL, { headers: { cookie } }), "/");
  expect(store.text).toBe(before);
});

test("processes that sign out at the same time forget none", async () => {
  const { process } = await setup();
  const processes = [process(), process(), process()];
  const cookies = await Promise.all(Array.from({ length: 12 }, () => signedIn(processes[0]!)));
  await Promise.all(
    cookies.map((cookie, at) =>
      processes[at % 3]!.end(new Request(URL, { headers: { cookie } }), "/")
    ),
  );
  for (const cookie of cookies) expect(await whoIs(process(), cookie)).toContain("signed out");
});

test("what was signed out is kept until its time is over, and not longer", async () => {
  const { world, store, process } = await setup({ lifetimeMs: 60_000 });
  const sessions = process();
  const signOut = async () => {
    const cookie = await signedIn(sessions);
    await sessions.end(new Request(URL, { headers: { cookie } }), "/");
  };
  await signOut();
  const { length } = store.text!;
  world.now += 60_000;
  for (let i = 0; i < 3; i++) {
    await signOut();
    world.now += 60_000;
  }
  expect(store.text).toHaveLength(length);
});

test("beyond a thousand that were signed out their key goes, with all of its sessions", async () => {
  const { world, store, process } = await setup();
  const sessions = process();
  const cookie = await signedIn(sessions);
  const [kept] = JSON.parse(store.text!);
  const until = world.now + 1;
  const full = Array.from({ length: 1_000 }, (_, at) => [`session-${at}`, until]);
  store.text = JSON.stringify([{ ...kept, ended: full }]);
  world.now += 1_000;
  // Those whose time is over leave room.
  const early = await signedIn(sessions);
  await sessions.end(new Request(URL, { headers: { cookie: early } }), "/");
  expect(await whoIs(sessions, cookie)).toBe("ada");
  const counting = full.map(([name]) => [name, world.now + 1]);
  store.text = JSON.stringify([{ ...kept, ended: counting }]);
  const last = await signedIn(sessions);
  await sessions.end(new Request(URL, { headers: { cookie: last } }), "/");
  for (const one of [cookie, last]) expect(await whoIs(sessions, one)).toBeUndefined();
  expect(JSON.parse(store.text)).toEqual([{ key: expect.any(String), at: world.now }]);
  expect(await whoIs(sessions, await signedIn(sessions))).toBe("ada");
});

test("while the store fails, sessions count as far as is known, and none can be signed out", async () => {
  const { world, store, process } = await setup();
  const sessions = process();
  const [cookie, ended] = [await signedIn(sessions), await signedIn(sessions)];
  const signOut = (cookie: string) => sessions.end(new Request(URL, { headers: { cookie } }), "/");
  await signOut(ended);
  store.read = () => Promise.reject(new Error("no database"));
  world.now += 5_000;
  expect(await whoIs(sessions, cookie)).toBe("ada");
  expect(await whoIs(sessions, ended)).toContain("signed out");
  await expect(signOut(cookie)).rejects.toMatchObject({ status: 503 });
});

test("a session ends with its token, at once", async () => {
  const { authenticator, process } = await setup();
  const sessions = process();
  const cookie = await signedIn(sessions);
  expect(await whoIs(sessions, cookie)).toBe("ada");
  authenticator.use(new Map());
  expect(await whoIs(sessions, cookie)).toMatch(/^401 \[META0021\] .*its token is unknown/);
});

test("what this server has not made is no session, and costs no wrong token", async () => {
  const { process } = await setup({ wrongTokensMax: 1 });
  const sessions = process();
  const cookie = await signedIn(sessions);
  const [name = "", value = ""] = cookie.split("=");
  const other = await signedIn((await setup()).process());
  const changed = value.slice(0, -2) + (value.endsWith("A") ? "BB" : "AA");
  for (const bad of [other.split("=")[1], changed, "", "x", `00000000.${value}`, `${value}.x`]) {
    for (let i = 0; i < 20; i++) {
      expect(await whoIs(sessions, `${name}=${bad}`), bad).toBeUndefined();
    }
  }
  // One of another server beside it does not hide it.
  expect(await whoIs(sessions, `perdure-session=${changed}; ${cookie}`)).toBe("ada");
  expect(await whoIs(sessions, cookie)).toBe("ada");
});

test("a token that no cookie can have is refused, and so is such a path", async () => {
  const sessions = (await setup()).process();
  const begin = (token: string, path = "/") => sessions.begin(new Request(URL), { token, path });
  await expect(begin("x".repeat(2_950))).resolves.toBeDefined();
  await expect(begin("x".repeat(3_100))).rejects.toThrow(/META0021.*3100 characters.*cookie/);
  for (const path of ["", "admin/", "/a;Domain=x", "/a\r\nb", "/ü", "/" + "a".repeat(2_000)]) {
    await expect(begin("token-of-ada", path), path).rejects.toThrow(/META0021.*path/);
  }
});

test("an old key is replaced, its sessions count until they are over, and no key counts longer", async () => {
  const { world, store, process } = await setup({ lifetimeMs: DAY_MS });
  const [one, two] = [process(), process()];
  world.now += 1;
  await signedIn(one);
  const first = store.text;
  world.now += 30 * DAY_MS;
  const early = await signedIn(one);
  expect(store.text).toBe(first);
  world.now += 1;
  const late = await signedIn(one);
  expect(store.text).not.toBe(first);
  world.now += 2_000;
  for (const cookie of [early, late]) {
    for (const sessions of [one, two, process()]) expect(await whoIs(sessions, cookie)).toBe("ada");
  }
  world.now += 31 * DAY_MS;
  await signedIn(two);
  world.now += 2_000;
  expect(await whoIs(process(), early)).toBeUndefined();
  expect(await whoIs(process(), late)).toMatch(/^401 .*its time is over/);
});

test("keys that are not known read the store once a second, and all wait for it", async () => {
  const { world, store, process } = await setup();
  const cookie = await signedIn(process());
  const sessions = process();
  const before = store.reads;
  const all = await Promise.all(Array.from({ length: 50 }, () => whoIs(sessions, cookie)));
  expect(new Set(all)).toEqual(new Set(["ada"]));
  const unknown = cookie.replace(/=\w{8}/, "=00000000");
  for (let i = 0; i < 50; i++) expect(await whoIs(sessions, unknown)).toBeUndefined();
  expect(store.reads - before).toBe(1);
  world.now += 1_000;
  for (let i = 0; i < 50; i++) await whoIs(sessions, unknown);
  expect(store.reads - before).toBe(2);
});

test("a store that fails is said to fail, and known keys need none", async () => {
  const { authenticator } = await setup();
  let isDown = false;
  const kept = new MemorySessionKeys();
  const down = () => Promise.reject(new Error("no database"));
  const store = {
    read: (fresh: string) => isDown ? down() : kept.read(fresh),
    replace: (before: string, after: string) => kept.replace(before, after),
  };
  const sessions = sessionsOf(authenticator, { store });
  const cookie = await signedIn(sessions);
  isDown = true;
  expect(await whoIs(sessions, cookie)).toBe("ada");
  await expect(signedIn(sessions)).rejects.toMatchObject({ status: 503 });
  await expect(whoIs(sessionsOf(authenticator, { store }), cookie))
    .rejects.toMatchObject({ status: 503 });
});

test("any token is unsealed as it was sealed, for the same use only", async () => {
  const keys = new SessionKeys({ random, now: () => 0, lifetimeMs: 1 });
  const key = await keys.current();
  const token = fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 1,
    maxLength: 300,
  });
  await fc.assert(
    fc.asyncProperty(token, fc.nat(), async (token, until) => {
      const text = await seal({ token, until }, "session", { key, random });
      expect(await unseal(text, "session", keys)).toMatchObject({ token, until });
      expect(await unseal(text, "calls", keys)).toBeUndefined();
      expect(text).toMatch(/^[\w.-]+$/);
    }),
    { numRuns: 50 },
  );
  await fc.assert(
    fc.asyncProperty(fc.string(), async (text) => {
      expect(await unseal(text, "session", keys)).toBeUndefined();
      expect(await unseal(`${key.id}.${btoa(text)}`, "session", keys)).toBeUndefined();
    }),
    { numRuns: 200 },
  );
});

test("a token for calls may call what its token may, for a minute, and nothing else", async () => {
  const world = { now: 1_000_000 };
  const now = () => world.now;
  const keys = new SessionKeys({ random, now, lifetimeMs: DAY_MS });
  const tokens = new Map([[await digestOf("token-of-ada"), ADA]]);
  const identify: Authenticator["identify"] = (...asked) => authenticator.identify(...asked);
  const verifier = callsVerifier({ keys, identify, now, next: undefined });
  const wrongTokens = { perAddress: 1000, total: 1000 };
  const options = { tokens, verifier, wrongTokens, now, log: () => {} };
  const authenticator: Authenticator = new Authenticator(options);
  const ask = async (token: string) =>
    await Promise.resolve(authenticator.identify(`Bearer ${token}`)).catch((cause) => cause.status);
  const key = await keys.current();
  const made = await callsToken("token-of-ada", { key, random, now: now() });
  expect(await ask(made.token)).toEqual({ name: "ada", level: "none", handlers: ADA.handlers });
  const session = await seal({ token: "token-of-ada", until: 1e15 }, "session", { key, random });
  expect(await ask(`perdure-calls-${session}`)).toBe(401);
  expect(await ask(session)).toBe(401);
  world.now += 60_000;
  expect(await ask(made.token)).toBe(401);
  const next = await callsToken("token-of-ada", { key, random, now: now() });
  expect(await ask(next.token)).toMatchObject({ name: "ada" });
  authenticator.use(new Map());
  expect(await ask(next.token)).toBe(401);
});
