import { type CompareRequest, many } from "./compare_request.ts";

const NOBODY = "inv_1jFjS51tG8og6I6nyIrKMPWvEntzfHMOMo";
const NOWHERE = "dp_16lq9KEFemrppKnYdVPzpTj";
const REGISTER = { method: "POST", path: "/deployments" } as const;

export const INFO: readonly CompareRequest[] = [
  { method: "GET", path: "/health" },
  { method: "GET", path: "/version" },
  { method: "GET", path: "/v2/version" },
  { method: "GET", path: "/v1/version" },
  { method: "GET", path: "/v5/version" },
  { method: "GET", path: "/cluster-health" },
  { method: "GET", path: "/nope" },
  { method: "POST", path: "/version" },
  { method: "DELETE", path: "/services" },
  { method: "GET", path: "/services" },
  { method: "GET", path: "/deployments" },
];

export const DEPLOYMENTS: readonly CompareRequest[] = [
  { ...REGISTER, body: { uri: "$endpoint", dry_run: true } },
  { ...REGISTER, body: { uri: "$endpoint", metadata: { a: "b" } }, learns: "deployment" },
  { ...REGISTER, body: { uri: "$endpoint" } },
  { ...REGISTER, body: { uri: "$endpoint", unknown: 1 } },
  { ...REGISTER, body: { uri: "$endpoint", force: true } },
  { ...REGISTER, path: "/v2/deployments", body: { uri: "$endpoint" } },
  { ...REGISTER, path: "/v2/deployments", body: { uri: "$endpoint", force: false } },
  { ...REGISTER, path: "/v4/deployments", body: { uri: "$endpoint", breaking: true } },
  { ...REGISTER, body: { uri: "/foo" } },
  { ...REGISTER, body: { uri: "http://" } },
  { ...REGISTER, body: { uri: 1 } },
  { ...REGISTER, body: {} },
  { ...REGISTER, body: [] },
  { ...REGISTER, text: "{" },
  { ...REGISTER, text: "" },
  { ...REGISTER, body: { uri: "$endpoint" }, contentType: "" },
  { ...REGISTER, body: { uri: "$endpoint" }, contentType: "text/plain" },
  { ...REGISTER, body: { arn: "nope" } },
  { ...REGISTER, body: { arn: "arn:aws:lambda:eu-central-1:123456789012:function:f" } },
  { ...REGISTER, body: { uri: "$endpoint", force: "yes" } },
  { ...REGISTER, body: { uri: "$endpoint", additional_headers: { a: 1 } } },
  { ...REGISTER, body: { uri: "$endpoint", additional_headers: { "a b": "c" } } },
  { ...REGISTER, body: { uri: "http://127.0.0.1:1" } },
  { ...REGISTER, body: { uri: "$endpoint/other", use_http_11: true } },
  { ...REGISTER, text: `{"uri":"http://x","metadata":{"a":"${"x".repeat(2_200_000)}"}}` },
  ...many("GET", ["/deployments", "/v3/deployments", "/deployments/$deployment"]),
  ...many("GET", [`/deployments/${NOWHERE}`, "/deployments/foo"]),
  ...[{}, { additional_headers: { "x-a": "b" } }, { overwrite: true }, { dry_run: true }].map(
    (body) => ({ method: "PATCH", path: "/deployments/$deployment", body }),
  ),
  { method: "PATCH", path: "/deployments/$deployment", body: { uri: "http://127.0.0.1:1" } },
  { method: "PATCH", path: "/deployments/$deployment", body: { uri: 1 } },
  { method: "PATCH", path: "/deployments/$deployment", body: { assume_role_arn: "x" } },
  { method: "PATCH", path: `/deployments/${NOWHERE}`, body: { uri: "$endpoint" } },
  { method: "PATCH", path: "/deployments/foo", body: {} },
  { method: "PUT", path: "/deployments/$deployment", body: { uri: "$endpoint" } },
  { method: "PUT", path: "/v2/deployments/$deployment", body: { uri: "$endpoint" } },
];

const SERVICE = { method: "PATCH", path: "/services/Greeter" } as const;
const STATE = { method: "POST", path: "/services/Counter/state" } as const;

export const SERVICES: readonly CompareRequest[] = [
  ...many("GET", ["/services", "/services/Greeter", "/services/Counter", "/services/Flow"]),
  ...many("GET", ["/services/Nope", "/services/Greeter/handlers", "/services/Nope/handlers"]),
  ...many("GET", ["/services/Greeter/handlers/greet", "/services/Counter/handlers/value"]),
  ...many("GET", ["/services/Greeter/handlers/nope", "/services/Nope/handlers/nope"]),
  ...many("GET", ["/services/Greeter/openapi", "/services/Nope/openapi"]),
  ...[
    {},
    { public: false },
    { public: true },
    { idempotency_retention: "2h" },
    { idempotency_retention: "PT3H" },
    { journal_retention: "90m" },
    { inactivity_timeout: "75ms", abort_timeout: "5m" },
    { workflow_completion_retention: "1h" },
    { public: "yes" },
    { idempotency_retention: "often" },
    { idempotency_retention: 5 },
    { unknown: true },
  ].map((body) => ({ ...SERVICE, body })),
  { ...SERVICE, text: "{" },
  { ...SERVICE, body: {}, contentType: "" },
  { ...SERVICE, path: "/services/Flow", body: { workflow_completion_retention: "2h" } },
  { ...SERVICE, path: "/services/Nope", body: {} },
  { ...SERVICE, path: "/services/Nope", body: { public: true } },
  { ...STATE, body: { object_key: "s", new_state: { a: [49] } } },
  { ...STATE, body: { object_key: "s", new_state: { a: "text" } } },
  { ...STATE, body: { object_key: "s", new_state: {}, version: "wrong" } },
  { ...STATE, body: { object_key: "s", new_state: { a: [256] } } },
  { ...STATE, body: { object_key: "s", new_state: { a: 1 } } },
  { ...STATE, body: { object_key: "s" } },
  { ...STATE, body: { new_state: {} } },
  { ...STATE, text: "{" },
  { ...STATE, body: { object_key: "s", new_state: {}, scope: "bad scope" } },
  { ...STATE, path: "/services/Greeter/state", body: { object_key: "s", new_state: {} } },
  { ...STATE, path: "/services/Nope/state", body: { object_key: "s", new_state: {} } },
  { ...STATE, path: "/services/Nope/state", body: { object_key: "s", new_state: { a: [1] } } },
];

const QUERY = { method: "POST", path: "/query", headers: { accept: "application/json" } } as const;

export const QUERIES: readonly CompareRequest[] = [
  { ...QUERY, body: { query: "select name, revision, public, ty from sys_service" } },
  { ...QUERY, body: { query: "select * from sys_invocation where id = 'foo'" } },
  { ...QUERY, body: { query: "select 1 as one, 'a' as a, null as nothing, true as yes" } },
  { ...QUERY, body: { query: "select nope from state" } },
  { ...QUERY, body: { query: "select * from nope" } },
  { ...QUERY, body: { query: "selec" } },
  { ...QUERY, body: { query: "delete from state" } },
  { ...QUERY, body: { query: "select 1; select 2" } },
  { ...QUERY, body: { query: "" } },
  { ...QUERY, body: {} },
  { ...QUERY, text: "{" },
  { ...QUERY, body: { query: "select 1" }, contentType: "" },
  { method: "GET", path: "/query" },
];

const BATCH = "/internal/invocations_batch_operations";

export const BATCHES: readonly CompareRequest[] = [
  ...["kill", "cancel", "purge", "purge-journal", "pause", "resume", "restart-as-new"].flatMap(
    (kind) =>
      [{ invocation_ids: [NOBODY] }, { invocation_ids: [] }, { invocation_ids: ["foo"] }, {}].map(
        (body) => ({ method: "POST", path: `${BATCH}/${kind}`, body }),
      ),
  ),
  { method: "POST", path: `${BATCH}/nope`, body: {} },
  { method: "POST", path: `${BATCH}/kill`, text: "{" },
  {
    method: "POST",
    path: `${BATCH}/kill`,
    body: { invocation_ids: Array.from({ length: 1001 }, () => NOBODY) },
  },
  ...["Latest", "latest", "Keep", "bad", NOWHERE].map((deployment) => ({
    method: "POST",
    path: `${BATCH}/resume`,
    body: { invocation_ids: [NOBODY], deployment },
  })),
];

export const FAREWELL: readonly CompareRequest[] = [
  { method: "DELETE", path: "/deployments/$deployment?force=maybe" },
  { method: "DELETE", path: "/deployments/$deployment" },
  { method: "DELETE", path: `/deployments/${NOWHERE}` },
  { method: "DELETE", path: `/deployments/${NOWHERE}?force=true` },
  { method: "DELETE", path: "/deployments/foo?force=true" },
  { method: "DELETE", path: "/deployments/$deployment?force=true" },
  { method: "GET", path: "/deployments/$deployment" },
  { method: "GET", path: "/services" },
];
