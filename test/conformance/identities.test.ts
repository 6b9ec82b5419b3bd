import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { digestOf } from "../../src/auth/token_list.ts";
import { register } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { shows } from "../support/tokens.ts";
import { AUDIENCE, type Issuer, startIssuer } from "./_issuer.ts";
import { type Started, STARTS } from "./_runtimes.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** What is asked for: each needs something else. */
const QUESTIONS = [
  { at: "admin", method: "GET", path: "/deployments" },
  { at: "admin", method: "PATCH", path: "/invocations/none/cancel" },
  { at: "admin", method: "PATCH", path: "/services/None", body: "{}" },
  { at: "ingress", method: "POST", path: "/svc/call/Greeter/greet", body: '"you"' },
  { at: "ingress", method: "POST", path: "/svc/call/Counter/k/get" },
] as const;

async function statuses(server: Started, token: string | undefined): Promise<string> {
  const answers = QUESTIONS.map(async ({ at, method, path, ...rest }) => {
    const headers = {
      ...(token !== undefined && shows(token)),
      ...("body" in rest && { "content-type": "application/json" }),
    };
    const response = await fetch(server[at] + path, { method, headers, ...rest });
    await response.text();
    return response.status;
  });
  return (await Promise.all(answers)).join(" ");
}

/** By what a token may: what those questions are answered with. */
const UNKNOWN = "401 401 401 401 401";
const NOTHING = "403 403 403 403 403";
const VIEWER = "200 403 403 403 403";
const OPERATOR = "200 400 403 200 200";
const ADMIN = "200 400 404 200 200";
const CALLER = "403 403 403 200 200";
const GREETER = "403 403 403 200 403";
const COUNTER = "403 403 403 403 200";

describe.each(Object.entries(STARTS))("identities on %s", (_, start) => {
  let issuer: Issuer, stranger: Issuer, endpoint: Endpoint, server: Started;

  beforeAll(async () => {
    [issuer, stranger, endpoint] = await Promise.all([
      startIssuer(),
      startIssuer(),
      startEndpoint("h2"),
    ]);
    const lines = ["viewer", "operator", "admin", "invoke:Greeter/*", "invoke:Counter/*"]
      .map(async (role) => `list-${role} ${await digestOf(`list-${role}`)} ${role}`);
    server = await start({
      INGRESS__TOKEN: "the-token-of-callers",
      AUTH__TOKENS: (await Promise.all(lines)).join("\n"),
      AUTH__WRONG_TOKENS_LIMIT: "1000",
      AUTH__WRONG_TOKENS_LIMIT_PER_ADDRESS: "1000",
      AUTH__JWT__ISSUER: issuer.name,
      AUTH__JWT__AUDIENCE: AUDIENCE,
      AUTH__JWT__KEYS: issuer.keys,
    });
    const answer = await register({ ...server, token: "list-admin" }, endpoint);
    expect(answer.status).toBe(201);
  });
  afterAll(async () => {
    await server?.close();
    await endpoint?.close();
    issuer?.close();
    stranger?.close();
  });

  test.each([
    [undefined, UNKNOWN],
    ["wrong", UNKNOWN],
    ["the-token-of-callers", CALLER],
    ["list-viewer", VIEWER],
    ["list-operator", OPERATOR],
    ["list-admin", ADMIN],
    ["list-invoke:Greeter/*", GREETER],
    ["list-invoke:Counter/*", COUNTER],
  ])("the token %s of the settings", async (token, expected) => {
    expect(await statuses(server, token)).toBe(expected);
  });

  test.each([
    [[], NOTHING],
    [["openid"], NOTHING],
    [["viewer"], VIEWER],
    [["operator"], OPERATOR],
    [["admin"], ADMIN],
    [["invoke"], CALLER],
    [["invoke:Greeter/*"], GREETER],
    [["invoke:Counter/get"], COUNTER],
    [["viewer", "invoke:Greeter/greet"], "200 403 403 200 403"],
  ])("a token of the issuer with the roles %j", async (roles, expected) => {
    expect(await statuses(server, await issuer.sign(roles))).toBe(expected);
  });

  test("a token that is not for us, not valid any more or of another is unknown", async () => {
    const tokens = await Promise.all([
      issuer.sign(["admin"], { aud: "another" }),
      issuer.sign(["admin"], { exp: Math.floor(Date.now() / 1000) - 300 }),
      issuer.sign(["admin"], { iss: "https://another.example" }),
      stranger.sign(["admin"]),
      stranger.sign(["admin"], { iss: issuer.name }),
    ]);
    for (const token of tokens) expect(await statuses(server, token)).toBe(UNKNOWN);
    expect(tokens.filter((token) => server.logs().includes(token))).toEqual([]);
  });
});
