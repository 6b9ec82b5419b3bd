import { beforeAll, describe, expect, test } from "vitest";
import { ACCESS, accessOf } from "../../src/admin/access.ts";
import type { ChangeFeed } from "../../src/admin/change_feed.ts";
import { authenticatorOf, shows } from "../support/tokens.ts";
import { discovered, service, setup } from "./_setup.ts";

const ROLES = ["invoke", "viewer", "operator", "admin"] as const;
type Asker = typeof ROLES[number] | "nobody" | "wrong";

/** What each route asks for: a route that is new fails here until somebody has decided. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  open: [
    "GET /health",
    "GET /ready",
    "GET /openapi",
    "GET /.well-known/jwks.json",
    "GET /.well-known/openid-configuration",
  ],
  viewer: [
    "GET /cluster-health",
    "GET /version",
    "GET /metrics",
    "POST /query",
    "GET /internal/ui/events",
    "GET /deployments",
    "GET /deployments/:deployment",
    "GET /services",
    "GET /services/:service",
    "GET /services/:service/openapi",
    "GET /services/:service/handlers",
    "GET /services/:service/handlers/:handler",
    "POST /internal/services/:service/serdes/decode/:serde+",
    "POST /internal/services/:service/serdes/encode/:serde+",
    "GET /subscriptions",
    "GET /subscriptions/:subscription",
    "GET /kafka-clusters",
    "GET /kafka-clusters/:cluster_name",
  ],
  sidecar: [
    "GET /internal/kafka/plan",
    "POST /internal/kafka/records",
    "POST /internal/kafka/letters",
    "POST /internal/kafka/reports",
  ],
};

let served: Awaited<ReturnType<typeof setup>>;
beforeAll(async () => {
  const authenticator = await authenticatorOf(ROLES);
  const metrics = () => Promise.resolve(new Response("up 1\n"));
  const changes = { open: () => new Blob([]).stream() } as unknown as ChangeFeed;
  served = await setup(undefined, { authenticator, metrics, changes });
});

/** Least level of each access. */
const ALLOWED: Readonly<Record<string, readonly Asker[]>> = {
  open: ["nobody", "wrong", "invoke", "viewer", "operator", "admin"],
  viewer: ["viewer", "operator", "admin"],
  operator: ["operator", "admin"],
  admin: ["admin"],
};

async function ask(route: string, asker: Asker) {
  const [method = "", path = ""] = route.split(" ");
  const headers = asker === "nobody" ? {} : shows(asker);
  const url = path.replace(/:\w+\+?/g, "none");
  // An API version in front is no way around.
  return await served.send(method, `/v3${url}`, { headers });
}

describe.each(Object.entries(ACCESS).filter(([, access]) => access !== "sidecar"))(
  "%s",
  (route, access) => {
    test.each(["nobody", "wrong", ...ROLES] as const)("%s", async (asker) => {
      const { status, headers, json } = await ask(route, asker);
      if (ALLOWED[access]!.includes(asker)) return expect([401, 403]).not.toContain(status);
      const isKnown = asker !== "nobody" && asker !== "wrong";
      expect(status).toBe(isKnown ? 403 : 401);
      expect(headers.get("www-authenticate")).toBe(isKnown ? null : "Bearer");
      expect(json.message).toMatch(isKnown ? `needs the role ${access}` : /token/);
    });
  },
);

test("what changes nothing is for viewers, and all else for those who may", () => {
  for (const [access, routes] of Object.entries(EXPECTED)) {
    const found = Object.keys(ACCESS).filter((route) => ACCESS[route] === access);
    expect(found.toSorted(), access).toEqual(routes.toSorted());
  }
  const changing = Object.keys(ACCESS).filter((route) => ACCESS[route] === "admin");
  expect(changing.every((route) => !route.startsWith("GET "))).toBe(true);
});

test("a route that nobody has decided on ends the start", () => {
  expect(() => accessOf("GET /new")).toThrow(/needs an entry/);
});

test("sidecars show their own token, and no role is one", async () => {
  for (const route of EXPECTED["sidecar"]!) {
    expect((await ask(route, "admin")).status, route).toBe(401);
  }
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
