import { beforeEach, describe, expect, test } from "vitest";
import type { ChangeFeed } from "../../src/admin/change_feed.ts";
import type { AuditRecord, AuditStore } from "../../src/audit_port.ts";
import { cookieOf, sessionsOf } from "../support/sessions.ts";
import { authenticatorOf, shows } from "../support/tokens.ts";
import { setup } from "./_setup.ts";

const ROLES = ["invoke", "viewer", "operator", "admin"] as const;
const PATH = "/internal/ui/session";
/** As `_setup.ts` asks. */
const ORIGIN = "http://admin";
const JSON_TYPE = { "content-type": "application/json" };
/** What a browser adds to a change of a page of the server's own, and to what such a page reads. */
const OWN = { origin: ORIGIN, "sec-fetch-site": "same-origin" };
const OWN_READ = { "sec-fetch-site": "same-origin" };

let served: Awaited<ReturnType<typeof setup>>;
let world: { now: number };
let records: AuditRecord[];

beforeEach(async () => {
  world = { now: Date.now() };
  const now = () => world.now;
  const authenticator = await authenticatorOf(ROLES, now);
  const changes = { open: () => new Blob([]).stream() } as unknown as ChangeFeed;
  const sessions = sessionsOf(authenticator, { now });
  records = [];
  const auditStore: AuditStore = {
    add: (some) => Promise.resolve(void records.push(...some)),
    prune: () => Promise.resolve(),
  };
  const audit = { retentionMs: 1000, rowsMax: 100, refusedMax: 10, withQueries: false };
  served = await setup(undefined, { authenticator, sessions, changes, audit, auditStore });
});

const signIn = (body: unknown, headers: Record<string, string> = OWN) =>
  served.send("POST", PATH, {
    body: JSON.stringify(body),
    headers: { ...JSON_TYPE, ...headers },
  });

const cookieFor = async (token: string) => cookieOf(await signIn({ token }));

const ask = (method: string, path: string, headers: Record<string, string>) =>
  served.send(method, path, {
    headers: { ...JSON_TYPE, ...headers },
    ...(method === "GET" ? {} : { body: '{"query": 1}' }),
  });

describe("signing in", () => {
  test("answers a cookie that no script can read, and who signed in", async () => {
    const { status, headers, json, text } = await signIn({ token: "operator" });
    expect([status, json.identity, json.level]).toEqual([200, "operator", "operator"]);
    expect(Date.parse(json.ends_at)).toBe(world.now + 3_600_000);
    expect(headers.get("set-cookie")).toMatch(
      /^perdure-session=[\w.-]+; Path=\/; Max-Age=3600; HttpOnly; SameSite=Strict$/,
    );
    expect(headers.get("cache-control")).toBe("no-store");
    expect(text + headers.get("set-cookie")).not.toContain("=operator");
  });

  test("keeps to https and to the path that the browser knows", async () => {
    const origin = "https://admin";
    const cookie = async (path?: string) =>
      (await signIn({ token: "viewer", ...(path && { path }) }, { origin })).headers
        .get("set-cookie");
    expect(await cookie()).toMatch(/^__Host-perdure-session=.*; Path=\/;.*; Secure$/);
    expect(await cookie("/a/b/")).toMatch(
      /^__Secure-perdure-session=.*; Path=\/a\/b\/;.*; Secure$/,
    );
  });

  test("is refused as any request is, and gives no cookie then", async () => {
    const refused = async (body: unknown, headers?: Record<string, string>) => {
      const { status, json, headers: got } = await signIn(body, headers);
      expect(got.get("set-cookie")).toBeNull();
      return `${status} ${json.message}`;
    };
    expect(await refused({ token: "wrong" })).toMatch(/^401 .*unknown or has expired/);
    expect(await refused({ token: "" })).toMatch(/^401 /);
    expect(await refused({ token: "a b" })).toMatch(/^401 /);
    expect(await refused({ token: "invoke" })).toMatch(/^403 .*has no role of the admin API/);
    expect(await refused({})).toMatch(/^422 /);
    expect(await refused({ token: "admin", path: "/;" })).toMatch(/^400 \[META0021\]/);
    expect(await refused({ token: "x".repeat(4_000) })).toMatch(/^401 /);
    // A page that signs an operator in as somebody else would see what they do.
    expect(await refused({ token: "admin" }, { origin: "http://evil.example" })).toMatch(/^403 /);
    expect(await refused({ token: "admin" }, { "content-type": "text/plain" })).toMatch(/^415 /);
  });

  test("is recorded, and so is signing out", async () => {
    const cookie = await cookieFor("admin");
    await signIn({ token: "wrong" });
    await ask("DELETE", PATH, { cookie, ...OWN });
    expect(records.map(({ identity, method, status }) => `${method} ${identity} ${status}`))
      .toEqual(["POST admin 200", "POST null 401", "DELETE admin 204"]);
    expect(JSON.stringify(records)).not.toMatch(/wrong|perdure-session/);
  });

  test("is not possible where no token is asked for", async () => {
    const open = await setup();
    expect((await open.post(PATH, { token: "a" })).status).toBe(404);
    expect((await open.get(PATH)).status).toBe(404);
  });
});

describe("a session", () => {
  test("may do what its token may, and says whose it is", async () => {
    const cookie = await cookieFor("viewer");
    expect((await ask("GET", "/deployments", { cookie, ...OWN_READ })).status).toBe(200);
    expect((await ask("GET", "/internal/ui/events", { cookie })).status).toBe(200);
    const { status, json } = await ask("POST", "/deployments", { cookie, ...OWN });
    expect([status, json.message]).toEqual([403, expect.stringContaining('token "viewer" has')]);
    const shown = await ask("GET", PATH, { cookie, ...OWN_READ });
    expect(shown.json).toMatchObject({ identity: "viewer", level: "viewer" });
    expect(Date.parse(shown.json.ends_at)).toBe(world.now + 3_600_000);
  });

  test("does not count where a token is shown, which says who asks", async () => {
    const cookie = await cookieFor("admin");
    const asked = (headers: Record<string, string>) =>
      ask("GET", PATH, { cookie, "sec-fetch-site": "cross-site", ...headers });
    expect((await asked(shows("viewer"))).json).toEqual({ identity: "viewer", level: "viewer" });
    expect((await asked(shows("wrong"))).status).toBe(401);
  });

  test("says that it has ended", async () => {
    const cookie = await cookieFor("admin");
    world.now += 3_600_000;
    const { status, json, headers } = await ask("GET", "/deployments", { cookie });
    expect([status, json.svc_code]).toEqual([401, "META0021"]);
    expect(headers.get("www-authenticate")).toBe("Bearer");
    expect((await ask("GET", "/deployments", { cookie: "perdure-session=x" })).json.message)
      .toMatch(/asks for a token/);
  });

  test("is taken away by signing out", async () => {
    const cookie = await cookieFor("admin");
    const path = `${PATH}?path=%2Fa%2F`;
    const { status, headers } = await served.send("DELETE", path, {
      headers: { cookie: `${cookie}; __Host-perdure-session-1=y; z=1`, ...OWN },
    });
    expect(status).toBe(204);
    expect(headers.getSetCookie().map((one) => one.split("; HttpOnly")[0])).toEqual([
      "perdure-session=; Path=/a/; Max-Age=0",
      "__Host-perdure-session-1=; Path=/; Max-Age=0",
    ]);
  });

  test("has a token for calls, which the admin API does not take", async () => {
    const cookie = await cookieFor("admin");
    const made = await ask("POST", "/internal/ui/calls-token", { cookie, ...OWN });
    expect([made.status, Date.parse(made.json.ends_at)]).toEqual([200, world.now + 60_000]);
    expect((await ask("GET", "/deployments", shows(made.json.token))).status).toBe(401);
  });
});

describe("a request with a session is only taken from the pages of the server", () => {
  const CHANGE = ["POST", "/query"] as const;
  const READ = ["GET", "/deployments"] as const;
  test.each([
    ["a change of its own page", CHANGE, OWN, true],
    ["… in a browser without Sec-Fetch-Site", CHANGE, { origin: ORIGIN }, true],
    ["a change of another origin", CHANGE, { origin: "http://evil.example" }, false],
    ["… at another port", CHANGE, { origin: "http://admin:3000" }, false],
    ["… which its browser tells", CHANGE, { ...OWN, "sec-fetch-site": "same-site" }, false],
    ["… of no origin", CHANGE, { origin: "null" }, false],
    ["a change that does not say where it is from", CHANGE, {}, false],
    ["… but is of its own page", CHANGE, { "sec-fetch-site": "same-origin" }, false],
    ["what its own page reads", READ, OWN_READ, true],
    ["what a person typed", READ, { "sec-fetch-site": "none" }, true],
    ["a reader that does not say where it is from", READ, {}, true],
    ["what another site reads", READ, { "sec-fetch-site": "cross-site" }, false],
    ["what a page at another port reads", READ, { "sec-fetch-site": "same-site" }, false],
    ["… in a browser without Sec-Fetch-Site", READ, { origin: "http://admin:3000" }, false],
  ])("%s", async (_, [method, path], headers, isTaken) => {
    const cookie = await cookieFor("admin");
    const { status, json } = await ask(method, path, { cookie, ...headers });
    if (isTaken) return expect([401, 403]).not.toContain(status);
    expect(status).toBe(403);
    expect(json.message).toMatch(/may not change anything here|META0021.*for the pages of the UI/);
  });

  test("and a program with a token need not say where it is from", async () => {
    expect([401, 403]).not.toContain((await ask(...CHANGE, shows("admin"))).status);
  });
});
