// Drives the endpoint of this folder through a server and compares what is seen with expected.json.
//
// Usage: node check.mjs ENDPOINT_URI INGRESS_URL ADMIN_URL [prefix svc|restate]
// HTTP11=1 registers with HTTP/1.1; RECORD=FILE writes what was seen to FILE and compares nothing.
import { readFileSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { exchange, rowsOf, until as waited } from "../common.mjs";
import { adminChecks } from "./check_admin.mjs";
import { talkChecks } from "./check_talk.mjs";

const [endpoint, ingress, admin, prefix = "svc"] = process.argv.slice(2);
const record = process.env.RECORD;
const expectedFile = new URL("./expected.json", import.meta.url);
const expected = record ? {} : JSON.parse(readFileSync(expectedFile, "utf8"));
const run = `r${Date.now().toString(36)}`;
const seen = {};
let failed = 0;

/** Prints one line: `value` is what was seen, or a function that finds it. */
async function check(name, value) {
  try {
    seen[name] = JSON.parse(tidy(await (typeof value === "function" ? value() : value)));
  } catch (cause) {
    seen[name] = `threw ${cause.message}`;
  }
  if (record) return console.log(`seen    ${name}: ${JSON.stringify(seen[name]).slice(0, 200)}`);
  const ok = isDeepStrictEqual(seen[name], expected[name]);
  if (!ok) failed += 1;
  console.log(ok ? `ok      ${name}` : `FAILED  ${name}: ${JSON.stringify(seen[name])}`);
  if (!ok) console.log(`        expected: ${JSON.stringify(expected[name])}`);
}

/**
 * JSON without what differs from run to run and from server to server. Four texts differ on
 * purpose: ours are those of the documentation.
 */
function tidy(value) {
  const untraced = (key, inner) =>
    key === "stacktrace" ? typeof inner : key.endsWith("_doc_error_code") ? undefined : inner;
  return JSON.stringify(value ?? null, untraced)
    .replaceAll(run, "RUN").replace(/\b(svc|restate)_code/g, "code")
    .replace(/\b(inv|prom|sign)_1[A-Za-z0-9_-]{10,}/g, "$1_ID")
    .replace(/dp_1[A-Za-z0-9]{10,}/g, "dp_ID")
    .replace(/; an invocation id \w+ like inv_ID/g, "")
    .replace(/Previously accepted/g, "the workflow method was already invoked")
    .replace(/the invocation exists but has not completed yet/g, "not ready")
    .replace(/(not found: 404 )invocation not found/g, "$1not found")
    .replaceAll(`x-${prefix}-`, "x-").replaceAll(`/${prefix}/`, "/PREFIX/");
}

/** A token of an admin, where the server asks for tokens. The endpoint's client gets it as `TOKEN`, too. */
const { TOKEN } = process.env;
const shown = TOKEN ? { authorization: `Bearer ${TOKEN}` } : {};

/** Calls the ingress; JSON bodies are read, errors come with their status. */
async function call(path, body, { method = "POST", headers = {}, type = "application/json" } = {}) {
  const sent = body === undefined ? undefined : type.includes("json") ? JSON.stringify(body) : body;
  const { ok, status, value } = await exchange(`${ingress}/${path}`, {
    method,
    body: sent,
    headers: { ...shown, ...(sent === undefined ? {} : { "content-type": type }), ...headers },
  });
  return ok ? value : { status, body: value };
}

/** Sends to a handler and answers the invocation's id. */
const send = async (path, body) => (await call(`${path}/send`, body)).invocationId;

const attach = (id) => call(`${prefix}/invocation/${id}/attach`, undefined, { method: "GET" });

const query = (sql) => rowsOf(admin, sql, shown);

/** What the journal of an invocation holds, in its order. */
async function journal(id) {
  const rows = await query(
    `SELECT entry_type, name, invoked_target, promise_name FROM sys_journal WHERE id = '${id}' ORDER BY "index"`,
  );
  return rows.map((row) =>
    [row.entry_type, row.name, row.invoked_target, row.promise_name].filter(Boolean).join(" ")
  );
}

/** Waits until `read` answers something. */
const until = (read) => waited("an answer", read);

const status = async (id) =>
  (await query(`SELECT status FROM sys_invocation WHERE id = '${id}'`))[0]?.status;

const http = async (method, path, body) => {
  const { status, value } = await exchange(`${admin}${path}`, {
    method,
    headers: { ...shown, ...(body && { "content-type": "application/json" }) },
    body: body && JSON.stringify(body),
  });
  return { status, body: value };
};

const use_http_11 = process.env.HTTP11 === "1";
const made = await http("POST", "/deployments", { uri: endpoint, force: true, use_http_11 });
await check(
  "registered",
  () => made.body.services?.map((one) => `${one.name} ${one.ty}`).sort() ?? made,
);
if (made.status >= 300) process.exit(1);
await check("deployment", async () => {
  const { body } = await http("GET", `/deployments/${made.body.id}`);
  const { id: _, uri: _u, created_at: _c, services, metadata: _m, ...rest } = body;
  const shown = { ...rest, sdk_version: rest.sdk_version?.replace(/\/v.*/, "") };
  delete shown.protocol_type, delete shown.http_version;
  return { ...shown, services: services.map((one) => one.name).sort() };
});
for (const name of ["GoService", "GoObject", "GoLazy", "GoFlow", "Inner"]) {
  await check(`service ${name}`, async () => {
    const { body } = await http("GET", `/services/${name}`);
    const { deployment_id: _, revision: _r, handlers, ...rest } = body;
    const all = [rest, ...handlers.sort((a, b) => a.name < b.name ? -1 : 1)];
    // The inactivity timeout is that of the server's settings, or none with request-response.
    for (const one of all) delete one.inactivity_timeout, delete one.info;
    return { ...rest, handlers: all.slice(1) };
  });
}

await check("inactivity timeout of a handler", async () => {
  const { body } = await http("GET", "/services/GoService/handlers/echo");
  return body.inactivity_timeout === "30s" || body.info[0].code === "RT0021";
});

const tools = { check, call, send, attach, query, journal, until, status, http, run, prefix };
await talkChecks({ ...tools, endpoint, ingress });
await adminChecks(tools);

if (record) writeFileSync(record, `${JSON.stringify(seen, null, 1)}\n`);
console.log(`${Object.keys(seen).length - failed} of ${Object.keys(seen).length} checks passed`);
process.exit(failed > 0 ? 1 : 0);
