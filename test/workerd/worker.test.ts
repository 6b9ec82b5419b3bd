import { Miniflare } from "miniflare";
import { readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseToml } from "../../src/config/toml.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { bundled, compatibilityDate, importsOf } from "./_build.ts";

/** Compressed, with the web UI. Deployments may have 3 MiB. */
const BUNDLE_BYTES_MAX = 576 * 1024;
/** As small as `wrangler.toml` wants it: what is deployed is what is tested. */
const SCRIPT = bundled("adapters/workerd.ts", { minify: true });

const started: Miniflare[] = [];
let plain: Miniflare;
let h1: Endpoint, h2: Endpoint;

/** The Worker as `wrangler dev` runs it, all at one address. */
function worker(bindings: Record<string, string> = {}): Miniflare {
  const miniflare = new Miniflare({
    modules: [{ type: "ESModule", path: "worker.mjs", contents: SCRIPT }],
    compatibilityDate: compatibilityDate(),
    durableObjects: { PARTITION: { className: "PartitionObject", useSQLite: true } },
    bindings: { SVC_LOG_LEVEL: "error", ...bindings },
  });
  started.push(miniflare);
  return miniflare;
}

beforeAll(async () => {
  plain = worker();
  [h1, h2] = await Promise.all([startEndpoint("h1"), startEndpoint("h2")]);
  const { status } = await ask(plain, "POST", "/admin/deployments", {
    uri: h1.url,
    use_http_11: true,
  });
  if (status !== 201) throw new Error(`Registration answered ${status}`);
}, 30_000);
afterAll(async () => {
  await Promise.all([...started.map((one) => one.dispose()), h1?.close(), h2?.close()]);
});

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function ask(
  on: Miniflare,
  method: string,
  address: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const url = new URL(address, "http://localhost");
  const response = await on.dispatchFetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return { status: response.status, body: isJson ? JSON.parse(text) : text };
}

test("is small enough to be deployed", () => {
  expect(gzipSync(SCRIPT).length).toBeLessThan(BUNDLE_BYTES_MAX);
  expect(readFileSync("wrangler.toml", "utf8")).toMatch(/^minify = true$/m);
});

test("asks nothing of its runtime but the web's standards, sockets and Durable Objects", () => {
  expect(importsOf("adapters/workerd.ts").toSorted())
    .toEqual(["cloudflare:sockets", "cloudflare:workers"]);
});

test("is what wrangler.toml names", () => {
  const file = path.resolve(import.meta.dirname, "../../wrangler.toml");
  // Our own reader does not know arrays of tables; what we look for are plain lines.
  const text = readFileSync(file, "utf8").replace(/^\[\[?.*\]?\]$/gm, "");
  const lines = text.split("\n").filter((line) => /^(main|name|class_name|new_sqlite)/.test(line));
  const values = lines.filter((line) => line !== `name = "perdure"`).join("\n");
  const known = new Map(parseToml(values).map(({ key, value }) => [key, value]));
  expect(Object.fromEntries(known)).toEqual({
    main: "adapters/workerd.ts",
    name: "PARTITION",
    class_name: "PartitionObject",
    new_sqlite_classes: ["PartitionObject"],
  });
});

test("serves callers at the root and operators below /admin", async () => {
  expect(await ask(plain, "GET", "/admin/version")).toMatchObject({ status: 200 });
  expect(await ask(plain, "GET", "/admin/v3/deployments")).toMatchObject({ status: 200 });
  expect(await ask(plain, "GET", "/svc/health")).toMatchObject({ status: 200 });
  expect(await ask(plain, "POST", "/svc/call/Greeter/greet", "you"))
    .toEqual({ status: 200, body: "Hello you" });
  expect(await ask(plain, "POST", "/Greeter/greet", "you"))
    .toEqual({ status: 200, body: "Hello you" });
  expect(await ask(plain, "GET", "/version")).toMatchObject({ status: 400 });
});

test("answers operators from elsewhere only with the token", async () => {
  const away = "http://perdure.example.com/admin/version";
  expect(await ask(plain, "GET", away)).toMatchObject({
    status: 403,
    body: { message: expect.stringContaining("SVC_ADMIN__TOKEN") },
  });
  const closed = worker({ SVC_ADMIN__TOKEN: "s3cret", SVC_ADMIN__PATH_PREFIX: "/-/ops" });
  const get = (address: string, authorization?: string) =>
    ask(closed, "GET", address, undefined, authorization === undefined ? {} : { authorization });
  const path = "http://perdure.example.com/-/ops/version";
  expect(await get(path, "Bearer s3cret")).toMatchObject({ status: 200 });
  for (const wrong of [undefined, "s3cret", "Bearer s3cre", "Bearer s3cret2", "Bearer "]) {
    expect(await get(path, wrong), wrong).toMatchObject({ status: 401 });
  }
  expect(await get("http://localhost/-/ops/version")).toMatchObject({ status: 401 });
});

test("gives everybody the files of the UI, which asks for the token, and says where they are", async () => {
  const closed = worker({ SVC_ADMIN__TOKEN: "s3cret" });
  const get = async (path: string) => {
    const url = `http://perdure.example.com${path}`;
    const response = await closed.dispatchFetch(url, { redirect: "manual" });
    await response.arrayBuffer();
    return [response.status, response.headers.get("location")];
  };
  expect(await get("/admin")).toEqual([308, "/admin/ui/"]);
  expect(await get("/admin/")).toEqual([308, "ui/"]);
  expect(await get("/admin/ui/invocations")).toEqual([200, null]);
  expect(await get("/admin/ui/../version")).toEqual([401, null]);
  const url = "http://perdure.example.com/admin/ui/";
  expect((await closed.dispatchFetch(url, { method: "POST" })).status).toBe(405);
  expect((await plain.dispatchFetch(url)).status).toBe(403);
  for (const server of [closed, plain]) {
    for (const path of ["/admin", "/admin/", "/admin/ui/", "/admin/ui/none.js"]) {
      const init = { method: "HEAD", redirect: "manual" } as const;
      const { headers } = await server.dispatchFetch(`http://perdure.example.com${path}`, init);
      expect(headers.get("content-security-policy"), path).toContain("frame-ancestors 'none'");
      expect(headers.get("x-content-type-options"), path).toBe("nosniff");
    }
  }
});

test("lets sidecars in by their own token, and to nothing else", async () => {
  const token = "a-token-of-sidecars";
  const closed = worker({ SVC_ADMIN__TOKEN: "s3cret", SVC_KAFKA__TOKEN: token });
  const get = async (path: string, shown: string) => {
    const address = `http://perdure.example.com/admin${path}`;
    const headers = { authorization: `Bearer ${shown}` };
    return (await ask(closed, "GET", address, undefined, headers)).status;
  };
  expect(await get("/internal/kafka/plan", token)).toBe(200);
  expect(await get("/internal/kafka/plan", "s3cret")).toBe(401);
  expect(await get("/deployments", token)).toBe(401);
  for (const path of ["../../deployments", "%2e%2e/%2e%2e/deployments", "..%2f..%2fdeployments"]) {
    expect([401, 404], path).toContain(await get(`/internal/kafka/${path}`, token));
  }
});

test("speaks HTTP/2 to services, and says so when they speak another version", async () => {
  const other = worker();
  const register = (uri: string, use_http_11: boolean) =>
    ask(other, "POST", "/admin/deployments", { uri, use_http_11 });
  expect(await register(h1.url, false)).toMatchObject({
    status: 500,
    body: { svc_code: "META0014" },
  });
  expect(await register(h2.url, true)).toMatchObject({
    status: 500,
    body: {
      message: expect.stringMatching(/HTTP\/2 only.*without HTTP\/1\.1/),
      svc_code: "META0003",
    },
  });
  expect(await register("http://127.0.0.1:1", false))
    .toMatchObject({ status: 500, body: { svc_code: "META0003" } });
  expect(await register(h2.url, false)).toMatchObject({ status: 201 });
  expect(await ask(other, "POST", "/svc/call/Greeter/greet", "h2"))
    .toEqual({ status: 200, body: "Hello h2" });
});

test("answers queries", async () => {
  const query = (query: string) =>
    ask(plain, "POST", "/admin/query", { query }, { accept: "application/json" });
  expect(await query("select 1 as one")).toEqual({ status: 200, body: { rows: [{ one: 1 }] } });
  expect(await query("select one from nowhere")).toEqual({
    status: 400,
    body: { message: expect.stringContaining("nowhere"), svc_code: null, restate_code: null },
  });
});

test("takes bodies as large as a row may be, and says 413 to larger ones", async () => {
  const sized = (size: number) => ask(plain, "POST", "/svc/call/Greeter/greet", "x".repeat(size));
  const most = 1024 * 1024;
  const { status, body } = await sized(most - 2);
  expect([status, (body as string).length]).toEqual([200, most - 2 + "Hello ".length]);
  expect((await sized(most)).status).toBe(413);
});

test("answers others while many wait", async () => {
  let answered = 0;
  const waiting = Array.from({ length: 50 }, async (_, i) => {
    const answer = await ask(plain, "POST", "/svc/call/Greeter/nap", {
      id: `many-${i}`,
      ms: 4_000,
    });
    answered++;
    return answer;
  });
  await h1.happens("many-49 asleep");
  expect(await ask(plain, "POST", "/svc/call/Greeter/greet", "quick"))
    .toEqual({ status: 200, body: "Hello quick" });
  expect(answered).toBe(0);
  for (const { status } of await Promise.all(waiting)) expect(status).toBe(200);
});

test("says which setting it cannot read", async () => {
  for (
    const [name, value, path] of [
      ["SVC_INGRESS__REQUEST_SIZE_LIMIT", "2MiB", "/svc/health"],
      ["SVC_WORKER__CLEANUP_INTERVAL", "soon", "/svc/health"],
      ["SVC_ADMIN__PATH_PREFIX", "admin", "/"],
    ] as const
  ) {
    const { status, body } = await ask(worker({ [name]: value }), "GET", path);
    expect([status, body]).toEqual([503, {
      svc_code: "RT0002",
      restate_code: "RT0002",
      message: expect.stringMatching(/^\[RT0002\]/),
    }]);
  }
});
