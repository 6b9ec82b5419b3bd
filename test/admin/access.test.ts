import { beforeAll, describe, expect, test } from "vitest";
import { ACCESS, accessOf } from "../../src/admin/access.ts";
import type { ChangeFeed } from "../../src/admin/change_feed.ts";
import { sessionsOf } from "../support/sessions.ts";
import { authenticatorOf, shows } from "../support/tokens.ts";
import { ANSWERS } from "./_access_table.ts";
import { TOKEN } from "./_kafka_admin.ts";
import { discovered, service, setup } from "./_setup.ts";

const ROLES = [
  ...["invoke", "invoke:Greeter/*", "invoke:scope/a/*/*"],
  ...["viewer", "operator", "admin"],
] as const;
/** `sidecar`: the token of Kafka sidecars. */
const ASKERS = ["nobody", "wrong", "sidecar", ...ROLES] as const;
type Asker = typeof ASKERS[number];

let served: Awaited<ReturnType<typeof setup>>;
beforeAll(async () => {
  const authenticator = await authenticatorOf(ROLES);
  const metrics = () => Promise.resolve(new Response("up 1\n"));
  const changes = { open: () => new Blob([]).stream() } as unknown as ChangeFeed;
  const sessions = sessionsOf(authenticator);
  served = await setup(undefined, { authenticator, sessions, metrics, changes });
});

/** Who may, for each access: all others are refused. */
const ALLOWED: Readonly<Record<string, readonly Asker[]>> = {
  open: ASKERS,
  sidecar: ["sidecar"],
  viewer: ["viewer", "operator", "admin"],
  operator: ["operator", "admin"],
  admin: ["admin"],
};
const UNKNOWN: readonly Asker[] = ["nobody", "wrong", "sidecar"];

async function ask(route: string, asker: Asker) {
  const [method = "", path = ""] = route.split(" ");
  const token = asker === "sidecar" ? TOKEN : asker;
  const isRead = method === "GET";
  const headers = {
    ...(asker !== "nobody" && shows(token)),
    ...(!isRead && { "content-type": "application/json" }),
  };
  const url = path.replace(/:\w+\+?/g, "none");
  // An API version in front is no way around.
  return await served.send(method, `/v3${url}`, { headers, ...(!isRead && { body: "{}" }) });
}

/** The status that somebody gets who may not. */
function refusedWith(access: string, asker: Asker): number {
  return access === "sidecar" || UNKNOWN.includes(asker) ? 401 : 403;
}

test("every route has a line in the table, with the access that it has", () => {
  const lines = Object.entries(ANSWERS).flatMap(([access, routes]) =>
    Object.keys(routes).map((route) => [route, access] as const)
  );
  expect(Object.fromEntries(lines)).toEqual(ACCESS);
});

const lines = Object.entries(ANSWERS).flatMap(([access, routes]) =>
  Object.entries(routes).map(([route, status]) => [route, access, status] as const)
);

describe.each(lines)("%s is for %s", (route, access, expected) => {
  test.each(ASKERS)("%s", async (asker) => {
    const { status, headers, json } = await ask(route, asker);
    if (ALLOWED[access]!.includes(asker)) return expect(status).toBe(expected);
    const refused = refusedWith(access, asker);
    expect(status).toBe(refused);
    expect(headers.get("www-authenticate")).toBe(refused === 401 ? "Bearer" : null);
    expect(json.message).toMatch(refused === 401 ? /token/ : `needs the role ${access}`);
  });
});

test("what changes nothing is for viewers, and what changes something is no GET", () => {
  for (const [route, access] of Object.entries(ACCESS)) {
    if (access === "operator" || access === "admin") expect(route).not.toMatch(/^GET /);
  }
});

test("a route that nobody has decided on ends the start", () => {
  expect(() => accessOf("GET /new")).toThrow(/needs an entry/);
});

test("a path that does not exist says so, and a wrong method which ones there are", async () => {
  expect((await served.send("GET", "/nothing")).status).toBe(404);
  expect((await served.send("PUT", "/health")).status).toBe(405);
});

test("HEAD asks for what GET does", async () => {
  expect((await served.send("HEAD", "/deployments")).status).toBe(401);
  expect((await served.send("HEAD", "/deployments", { headers: shows("viewer") })).status).toBe(
    200,
  );
});

test("values of headers are shown to those who may set them, and to nobody else", async () => {
  const { send, endpoints } = served;
  const uri = "http://localhost:9080/";
  endpoints.set(uri, discovered([service("A")]));
  const body = JSON.stringify({ uri, additional_headers: { "X-Api": "secret-of-endpoint" } });
  const headers = { "content-type": "application/json", ...shows("admin") };
  const { id } = (await send("POST", "/deployments", { headers, body })).json;
  for (const path of ["/deployments", `/deployments/${id}`]) {
    const shown = async (role: string) => (await send("GET", path, { headers: shows(role) })).text;
    expect(await shown("admin")).toContain("secret-of-endpoint");
    for (const role of ["operator", "viewer"]) {
      expect(await shown(role)).not.toContain("secret-of-endpoint");
      expect(await shown(role)).toMatch(/"x-api":\s*"\*\*\*"/i);
    }
  }
});
