// node check.mjs ENDPOINT_URI INGRESS_URL ADMIN_URL [svc|restate]
//
// Registers the endpoint (or a function, by its ARN), drives it, and compares what is seen with
// expected.json, which RECORD=1 writes: for each check what is to be seen since which SDK version,
// so record with the oldest version first. A line per check; exits 1 when one fails.
// HTTP11=1 registers with HTTP/1.1; ONLY=word runs the checks that have the word; SEEN=FILE keeps
// what was seen.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { exchange, rowsOf, until } from "../common.mjs";
import { checks } from "./checks.mjs";

const [endpoint, ingress, admin, prefix = "svc"] = process.argv.slice(2);
const file = new URL("expected.json", import.meta.url);
const expected = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
const nonce = `n${Date.now().toString(36)}`;
const WAIT_MS = 20_000;

/** What differs from run to run is replaced, and one text that differs on purpose. */
function tidy(value) {
  const untraced = (key, inner) => {
    if (key.includes("stacktrace") && inner) return typeof inner;
    return key.endsWith("_doc_error_code") ? undefined : inner;
  };
  return JSON.parse(
    JSON.stringify(value ?? null, untraced)
      .replaceAll(nonce, "KEY")
      .replace(/\b(inv|sign|prom|dp)_1[0-9A-Za-z_-]{10,}/g, "$1_ID")
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)/g, "MOMENT")
      .replace(/\b(svc|restate)_code/g, "code")
      .replace(/Previously accepted/g, "the workflow method was already invoked")
      .replace(/\n? +at .*?(?=")/g, " STACK"),
  );
}

async function http(base, path, { method = "POST", body, headers = {} } = {}) {
  const isRaw = body === undefined || body instanceof Uint8Array;
  const kind = isRaw ? {} : { "content-type": "application/json" };
  const { status, type, id, value, bytes } = await exchange(`${base}/${path}`, {
    method,
    body: isRaw ? body : JSON.stringify(body),
    headers: { ...kind, ...headers },
    waitMs: WAIT_MS,
  });
  return { status, type, id, body: value, bytes };
}

const query = (sql) => rowsOf(admin, sql);

const call = (target, body, headers) =>
  http(ingress, `${prefix}/call/${target}`, { body, headers });
async function send(target, body, headers) {
  const answer = await http(ingress, `${prefix}/send/${target}`, { body, headers });
  if (answer.status !== 202) {
    throw new Error(`${target} refused: ${JSON.stringify(answer.body)}`);
  }
  return answer.body.invocationId;
}

/** An answer without what a run makes up. */
const shown = ({ status, type, body }) => ({ status, type, body });

/** What the journal holds: commands in order, notifications in any. */
async function journal(id) {
  const rows = await query(
    `SELECT entry_type, name, completed, invoked_target, promise_name FROM sys_journal
     WHERE id = '${id}' ORDER BY "index"`,
  );
  const lines = rows.map((row) =>
    [row.entry_type, row.name, row.completed, row.invoked_target, row.promise_name]
      .filter((one) => (one ?? "") !== "").join(" ")
  );
  const isCommand = (line) => line.startsWith("Command");
  return [...lines.filter(isCommand), ...lines.filter((line) => !isCommand(line)).sort()];
}

const inStatus = (id, ...wanted) =>
  until(`${id} to be ${wanted}`, async () => {
    const [row] = await query(`SELECT * FROM sys_invocation WHERE id = '${id}'`);
    return wanted.includes(row?.status) ? row : undefined;
  });

const attach = async (id) =>
  shown(await http(ingress, `${prefix}/attach/${id}`, { method: "GET" }));

/** Sends, and shows how it ended with its journal. */
async function told(target, body, headers) {
  const id = await send(target, body, headers);
  const answer = await attach(id);
  await inStatus(id, "completed");
  return { answer, journal: await journal(id) };
}

const manage = async (path, { method = "PATCH", body } = {}) =>
  shown(await http(admin, path, { method, body }));

async function register() {
  const what = endpoint.startsWith("arn:") ? { arn: endpoint } : { uri: endpoint };
  const use_http_11 = process.env.HTTP11 === "1" ? { use_http_11: true } : {};
  const body = { ...what, ...use_http_11, force: true };
  return await manage("deployments", { method: "POST", body });
}

const key = (name) => `${nonce}-${name}`;
const tools = {
  call,
  send,
  told,
  attach,
  manage,
  query,
  journal,
  inStatus,
  until,
  shown,
  key,
};
const world = { ...tools, register, ingress, prefix, http };

/** 1.12.0 as a number to compare. */
const rank = (version) => version.split(".").reduce((sum, part) => sum * 1000 + Number(part), 0);

/** What is to be seen with this version: recorded with the newest one that is not newer. */
function ofVersion(name) {
  const since = Object.keys(expected[name] ?? {}).filter((one) => rank(one) <= rank(version));
  return expected[name]?.[since.sort((a, b) => rank(a) - rank(b)).at(-1)];
}

/** Request-response mode has an entry of its own where it differs. */
const known = (name) => (isOneWay ? ofVersion(`${name} (one way)`) : undefined) ?? ofVersion(name);

/** A line per check and version. */
function laidOut(all) {
  const line = ([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
  const entry = ([name, since]) =>
    `${JSON.stringify(name)}: {\n  ${Object.entries(since).map(line).join(",\n  ")}\n}`;
  return `{\n${Object.entries(all).map(entry).join(",\n")}\n}\n`;
}

const kept = {};
let version, isOneWay, failed = 0, passed = 0;
for (const [name, run] of checks(world)) {
  const { ONLY } = process.env;
  if (ONLY && name !== "registered" && !name.includes(ONLY)) continue;
  const seen = tidy(await run().catch((cause) => `threw ${cause.message}`));
  version ??= String(seen.sdk).replace(/.*\//, "");
  isOneWay ??= seen.mode === "RequestResponse";
  delete seen.mode;
  if (name === "registered" && !/^\d+\.\d+\.\d+$/.test(version)) {
    throw new Error(JSON.stringify(seen));
  }
  kept[name] = seen;
  if (process.env.RECORD && !isDeepStrictEqual(seen, known(name))) {
    (expected[isOneWay ? `${name} (one way)` : name] ??= {})[version] = seen;
  }
  const ok = isDeepStrictEqual(seen, known(name)) &&
    !`${seen}`.startsWith("threw");
  if (ok) passed++;
  else failed++;
  console.log(`${ok ? "ok  " : "FAIL"} ${name}`);
  if (ok) continue;
  console.log(`  seen     ${JSON.stringify(seen)}`);
  console.log(`  expected ${JSON.stringify(known(name))}`);
}
if (process.env.RECORD) writeFileSync(file, laidOut(expected));
if (process.env.SEEN) {
  writeFileSync(process.env.SEEN, `${JSON.stringify(kept, null, 1)}\n`);
}
console.log(`${passed} passed, ${failed} failed (SDK ${version})`);
process.exit(failed > 0 ? 1 : 0);
