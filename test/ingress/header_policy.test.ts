import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { HeaderPolicy } from "../../src/ingress/header_policy.ts";
import type { HeaderPair } from "../../src/model/journal.ts";
import { call, query, register } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Server, startServer } from "../support/server.ts";

const opened: (Server | Endpoint)[] = [];
afterEach(() => Promise.all(opened.splice(0).map((one) => one.close())));

const pairs = (): HeaderPair[] => [["x-svc-ingress-path", "/"], ["cookie", "c"], ["x-a-1", "v"]];
const apply = (drop: string[], redact: string[], asked?: string) =>
  new HeaderPolicy({ drop, redact }).apply(pairs(), {
    metadata: undefined,
    handler: asked === undefined ? {} : { metadata: { "ingress-headers": asked } },
  });

test("names match in any case, and by how they begin", () => {
  expect(apply(["Cookie"], ["X-A-*"])).toEqual([pairs()[0], ["x-a-1", "***"]]);
  expect(apply([], ["cook"])).toEqual(pairs());
  expect(apply(["*"], [])).toEqual([pairs()[0]]);
});

test("who asks for a header gets it, unless it is dropped", () => {
  expect(apply([], ["*"], "x-a-*")).toEqual([pairs()[0], ["cookie", "***"], ["x-a-1", "v"]]);
  expect(apply(["cookie"], [], "cookie").map(([name]) => name)).not.toContain("cookie");
});

test("what is no name of a header is refused at the start", () => {
  for (const name of ["", "a b", "*a", "a:"]) {
    const env = { SVC_INGRESS__DROP_HEADERS: JSON.stringify([name]) };
    expect(() => readConfig({ env, args: [] }), name).toThrow(
      /DROP_HEADERS: .* is not a list of names/,
    );
  }
});

const SENT = {
  "authorization": "Bearer marked-1",
  "cookie": "sid=marked-2",
  "proxy-authorization": "Basic marked-3",
  "x-signed-by": "marked-4",
  "x-internal-id": "marked-5",
};

async function headersOf(settings: Record<string, string>) {
  const script = path.join(import.meta.dirname, "../support/services_headers.mjs");
  const [server, endpoint] = await Promise.all([
    startServer({ runtime: "node", settings: { AUTH__MODE: "none", ...settings } }),
    startEndpoint("h2", script),
  ]);
  opened.push(server, endpoint);
  await register(server, endpoint);
  const get = async (handler: string) => {
    const { status, body } = await call(server, `Headers/${handler}`, undefined, { headers: SENT });
    expect(status).toBe(200);
    return body as Record<string, string>;
  };
  return { server, plain: await get("plain"), asking: await get("asking") };
}

test("unmodified handlers of the SDK get all headers but those of proxies", async () => {
  const { plain } = await headersOf({});
  expect(plain).toMatchObject({ ...SENT, "proxy-authorization": "***" });
}, 60_000);

test("handlers get what they ask for, and no journal has the rest", async () => {
  const { server, plain, asking } = await headersOf({
    INGRESS__REDACT_HEADERS: '["authorization", "cookie", "proxy-authorization", "x-signed-*"]',
    INGRESS__DROP_HEADERS: '["X-Internal-*"]',
  });
  const { authorization, "x-signed-by": signed } = SENT;
  const hidden = { authorization: "***", cookie: "***", "x-signed-by": "***" };
  expect(plain).toMatchObject(hidden);
  expect(asking).toMatchObject({ ...hidden, authorization, "x-signed-by": signed });
  for (const one of [plain, asking]) expect(one).not.toHaveProperty("x-internal-id");
  const id = "select id from sys_invocation where target_handler_name = 'plain'";
  const rows = await query(server, `select * from sys_journal where id in (${id})`);
  expect(rows.length).toBeGreaterThan(0);
  expect(JSON.stringify(rows)).not.toContain("marked-");
}, 60_000);
