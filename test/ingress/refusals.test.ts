import { describe, expect, it } from "vitest";
import { type AskInit, fixture, told } from "./_fixture.ts";

const idExample = "; an invocation id looks like inv_17kO36pqgIap3xDjDhLpCIiunpzEd8hWuT";

async function refusal(method: string, path: string, init?: AskInit): Promise<string> {
  const { ask, invocations } = fixture();
  const response = await ask(method, path, init);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("x-svc-error-source")).toBe("ingress");
  expect(response.headers.has("x-svc-id")).toBe(false);
  expect([...invocations.calls, ...invocations.sends]).toEqual([]);
  const [status, body] = await told(response);
  const { message } = body as { message: string };
  expect(body).toEqual({ code: status, message, source: "ingress" });
  return `${status} ${message}`;
}

const charset = "value contains characters outside the allowed set [a-zA-Z0-9_.-]";

// docs/spec/ingress.md#errors, and what the reference server answered when asked.
const rows: [method: string, path: string, init: AskInit, wanted: string][] = [
  [
    "POST",
    "/svc/call/Nope/x",
    {},
    "404 service 'Nope' not found, make sure to register the service before calling it.",
  ],
  [
    "POST",
    "/svc/call/Svc/nope",
    {},
    "404 the service 'Svc' exists, but the handler 'nope' was not found, check that the handler " +
    "exists in the latest registered service version.",
  ],
  ["POST", "/svc/call/Private/x", {}, "400 the invoked service is not public"],
  ["POST", "/svc/send/Svc/priv", {}, "400 the invoked service is not public"],
  ["PUT", "/svc/call/Svc/opt", {}, "405 method not allowed"],
  ["DELETE", "/Svc/opt", {}, "405 method not allowed"],
  ["PATCH", "/svc/send/Obj/k/set", {}, "405 method not allowed"],
  [
    "POST",
    "/svc/call/Svc/opt?delay=1s",
    {},
    "400 cannot use the delay query parameter with calls. The delay is supported only with sends",
  ],
  [
    "POST",
    "/Svc/opt?delay=0",
    {},
    "400 cannot use the delay query parameter with calls. The delay is supported only with sends",
  ],
  [
    "POST",
    "/svc/send/Svc/opt?delay=1month",
    {},
    "400 bad delay query parameter, must be a ISO8601 duration: please use units of days or smaller",
  ],
  [
    "POST",
    "/svc/call/Wf/w/run",
    { headers: { "idempotency-key": "k" } },
    "400 cannot use the idempotency key with workflow handlers. The handler invocation will " +
    "already be idempotent by the workflow key itself.",
  ],
  [
    "POST",
    "/svc/call/Svc/opt",
    { headers: { "x-bad": "\xe9" } },
    "400 bad header x-bad: ToStrError { _priv: () }",
  ],
  [
    "POST",
    "/svc/call/Svc/opt",
    { headers: { "idempotency-key": "\xe9" } },
    "400 bad header idempotency-key: ToStrError { _priv: () }",
  ],
  [
    "POST",
    "/svc/call/Svc/opt",
    { headers: { "content-type": "text/plain\xe9" } },
    "400 bad header content-type: ToStrError { _priv: () }",
  ],
  [
    "POST",
    "/svc/call/Obj/%FF/get",
    {},
    "400 bad path, cannot decode key: it is not UTF-8",
  ],
  [
    "POST",
    "/svc/scope/s/call/Svc/opt",
    {},
    "400 scoped invocations require vqueues to be enabled",
  ],
  [
    "POST",
    "/svc/scope/s/call/Obj/k/get",
    {},
    "400 scoped invocations require vqueues to be enabled",
  ],
  ["POST", "/svc/scope/a%20b/send/Svc/opt", {}, `400 bad scope value: ${charset}`],
  ["POST", "/svc/scope//call/Svc/opt", {}, "400 bad scope value: value cannot be empty"],
  [
    "POST",
    `/svc/scope/${"a".repeat(37)}/call/Svc/opt`,
    {},
    "400 bad scope value: value too long: 37 bytes (max 36)",
  ],
  ["POST", "/svc/call/Svc/opt?limit-key=a", {}, "400 limit-key requires a scope to be set"],
  ["POST", "/svc/call/Svc/opt?LIMIT-KEY=a%2Fb/", {}, "400 limit-key requires a scope to be set"],
  [
    "POST",
    "/svc/call/Svc/opt",
    { headers: { "x-svc-limit-key": "a" } },
    "400 limit-key requires a scope to be set",
  ],
  [
    "POST",
    "/svc/call/Svc/opt?limit-key=a",
    { headers: { "x-restate-limit-key": "a/b/c" } },
    "400 invalid limit-key: too many path components in the given limit-key (max 2)",
  ],
  [
    "POST",
    "/svc/call/Svc/opt?limit-key=a+b",
    {},
    `400 invalid limit-key: invalid limit-key component: ${charset}`,
  ],
  ...["/", "a//", "/a"].map((key): [string, string, AskInit, string] => [
    "POST",
    `/svc/call/Svc/opt?limit-key=${key}`,
    {},
    "400 invalid limit-key: invalid limit-key component: value cannot be empty",
  ]),
  [
    "POST",
    `/svc/call/Svc/opt?limit-key=${"a".repeat(37)}`,
    {},
    "400 invalid limit-key: invalid limit-key component: value too long: 37 bytes (max 36)",
  ],
  [
    "POST",
    "/x",
    {},
    "400 bad path: /x; a call is POST /svc/call/:service/:handler, and GET /openapi describes " +
    "all paths",
  ],
  ["POST", "/svc/nope/x", {}, "404 not found"],
  ["GET", "/openapi/x", {}, "404 not found"],
];

describe("refusals", () => {
  it.each(rows)("%s %s %j", async (method, path, init, wanted) => {
    expect(await refusal(method, path, init)).toBe(wanted);
  });

  it("HEAD is refused like any other method", async () => {
    const response = await fixture().ask("HEAD", "/svc/call/Svc/opt");
    expect(response.status).toBe(405);
  });

  it("a name that every object has is no handler", async () => {
    for (const name of ["constructor", "__proto__", "toString"]) {
      expect(await refusal("POST", `/svc/call/Svc/${name}`)).toMatch(
        /^404 the service 'Svc' exists/,
      );
    }
  });

  it("an empty limit key is none, and the header's beats the query's", async () => {
    const { ask } = fixture();
    expect((await ask("POST", "/svc/call/Svc/opt?limit-key=")).status).toBe(200);
    const headers = { "x-svc-limit-key": "" };
    expect((await ask("POST", "/svc/call/Svc/opt?limit-key=a", { headers })).status).toBe(200);
  });
});

// docs/spec/ingress.md#order-of-checks: each request has all the faults of the rows below it too.
describe("of several faults", () => {
  const faults = { "idempotency-key": "\xe9", "x-bad": "\xe9" };
  const query = "delay=bad&limit-key=a/b/c";
  const big = { headers: { ...faults, "content-length": "99999999" } };
  const { "idempotency-key": _, ...noKey } = faults;

  it.each<[string, string, string, AskInit, RegExp]>([
    ["an unknown service", "PUT", `/svc/call/Nope/nope?${query}`, big, /^404 service/],
    ["an unknown handler", "PUT", `/svc/call/Svc/nope?${query}`, big, /^404 the service/],
    ["a private one", "PUT", `/svc/call/Private/x?${query}`, big, /not public/],
    [
      "a bad idempotency key",
      "PUT",
      `/svc/scope/a%20b/call/Wf/w/run?${query}`,
      big,
      /^400 bad header idempotency-key/,
    ],
    [
      "an idempotent run",
      "PUT",
      `/svc/scope/a%20b/call/Wf/w/run?${query}`,
      { headers: { ...noKey, "idempotency-key": "k" } },
      /cannot use the idempotency key/,
    ],
    ["a bad scope", "PUT", `/svc/scope/a%20b/call/Svc/opt?${query}`, {}, /bad scope/],
    ["a scope", "PUT", `/svc/scope/a/call/Svc/opt?${query}`, {}, /require vqueues/],
    ["the method", "PUT", `/svc/call/Svc/opt?${query}`, { headers: noKey }, /^405/],
    [
      "the size",
      "POST",
      `/svc/call/Svc/opt?${query}`,
      { headers: { ...noKey, "content-length": "99999999" } },
      /^413/,
    ],
    [
      "the content type",
      "POST",
      `/svc/call/Svc/opt?${query}`,
      { headers: { ...noKey, "content-type": "x" } },
      /input validation/,
    ],
    ["the delay", "POST", `/svc/call/Svc/opt?${query}`, { headers: noKey }, /bad delay/],
    [
      "the limit key",
      "POST",
      "/svc/call/Svc/opt?delay=1s&limit-key=a/b/c",
      { headers: noKey },
      /invalid limit-key/,
    ],
    [
      "a limit key without scope",
      "POST",
      "/svc/call/Svc/opt?delay=1s&limit-key=a",
      { headers: noKey },
      /requires a scope/,
    ],
    [
      "a limit key that is no text",
      "POST",
      "/svc/call/Svc/opt?delay=1s",
      { headers: { ...noKey, "x-svc-limit-key": "\xe9" } },
      /bad header x-svc-limit-key/,
    ],
    ["a bad header", "POST", "/svc/call/Svc/opt?delay=1s", { headers: noKey }, /bad header x-bad/],
    ["a delayed call", "POST", "/svc/call/Svc/opt?delay=1s", {}, /cannot use the delay/],
  ])("%s comes first", async (_name, method, path, init, wanted) => {
    expect(await refusal(method, path, init)).toMatch(wanted);
  });
});

describe("other routes", () => {
  it("GET /svc/health lists the services, private ones too", async () => {
    const response = await fixture().ask("GET", "/svc/health");
    expect(await told(response)).toEqual([200, { services: ["Svc", "Obj", "Wf", "Private"] }]);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await refusal("POST", "/svc/health")).toBe("405 method not allowed");
  });

  it("GET /svc/ready says that there is nothing in the way", async () => {
    expect(await told(await fixture().ask("GET", "/svc/ready"))).toEqual([200, { ready: true }]);
    expect(await refusal("POST", "/svc/ready")).toBe("405 method not allowed");
  });

  const id = `inv_1${"0".repeat(33)}`;
  it.each([
    ["GET", "/svc/lookup"],
    ["GET", "/svc/attach"],
    ["GET", "/svc/output"],
    ["POST", `/svc/attach/${id}`],
    ["PUT", `/svc/output/${id}`],
    ["POST", `/svc/invocation/${id}/attach`],
    ["POST", "/svc/workflow/Wf/k/output"],
    ["GET", "/svc/awakeables/foo/resolve"],
  ])("%s %s is refused", async (method, path) => {
    expect(await refusal(method, path)).toBe("405 method not allowed");
  });

  it.each([
    [`/svc/attach/${id}x`, `400 bad invocation id '${id}x': bad length${idExample}`],
    [
      "/svc/output/inv_xyz",
      `400 bad invocation id 'inv_xyz': unrecognized codec version${idExample}`,
    ],
    [
      "/svc/invocation/Nope/x/ik/output",
      "404 service 'Nope' not found, make sure to register the service before calling it.",
    ],
  ])("GET %s is refused", async (path, wanted) => {
    expect(await refusal("GET", path)).toBe(wanted);
  });
});
