// node check.mjs ENDPOINT_URI INGRESS_URL ADMIN_URL [prefix svc|restate]
//
// Registers the endpoint, drives it, and compares what is seen with expected.json, which was
// recorded with the reference server (RECORD=1). A line per check; exits 1 when one fails.
// ONLY=word runs the checks whose name has that word.
import { readFileSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { exchange, rowsOf, until } from "../common.mjs";
import { checks } from "./checks.mjs";

const [endpoint, ingress, admin, prefix = "svc"] = process.argv.slice(2);
const file = new URL("expected.json", import.meta.url);
const expected = JSON.parse(readFileSync(file, "utf8"));
const nonce = `n${Date.now().toString(36)}`;
const WAIT_MS = 30_000;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Where this server decided on other words than the reference, whose are in expected.json. */
const DECIDED = [
  ["Previously accepted", "the workflow method was already invoked"],
  ['{"message":"not found"}', '{"code":404,"message":"invocation not found","source":"ingress"}'],
  [
    '{"message":"not ready"}',
    '{"code":470,"message":"the invocation exists but has not completed yet","source":"ingress"}',
  ],
];

/** What differs between two runs is replaced: ids, the run's own keys, moments. */
function normalized(value) {
  const escaped = (text) => text.replaceAll('"', '\\"');
  let seen = JSON.stringify(value ?? null);
  for (const [ours, theirs] of DECIDED) {
    seen = seen.replaceAll(ours, theirs).replaceAll(escaped(ours), escaped(theirs));
  }
  const text = seen
    .replaceAll("=/svc/", "=/restate/")
    // A workflow's promise may be kept before the run looks at it first.
    .replaceAll(/Some\([\\"]+([^"\\]+)[\\"]+\), \1, /g, "None, $1, ")
    .replaceAll(nonce, "KEY")
    .replaceAll(/\b(inv|sign|prom|dp)_[0-9A-Za-z_-]{10,}/g, "$1_ID")
    // Ours says more.
    .replaceAll("; an invocation id looks like inv_ID", "")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)/g, "MOMENT")
    .replaceAll(endpoint.replace(/\/$/, ""), "ENDPOINT");
  return JSON.parse(text);
}

async function http(url, init = {}) {
  const { status, type, id, value } = await exchange(url, { waitMs: WAIT_MS, ...init });
  return { status, kind: type, id, body: value };
}

/** A call (or another verb) of the ingress; `input` is sent as JSON unless it is bytes or none. */
async function ingressCall(path, input, { verb = "call", method = "POST", headers = {} } = {}) {
  const raw = input === undefined || input instanceof Uint8Array;
  const kind = raw ? {} : { "content-type": "application/json" };
  const body = raw ? input : JSON.stringify(input);
  const url = `${ingress}/${prefix}/${verb}/${path}`;
  return await http(url, { method, body, headers: { ...kind, ...headers } });
}

const query = (sql) => rowsOf(admin, sql);

/** The journal of an invocation: its commands in order, its notifications in any. */
async function journal(id) {
  const rows = await query(
    `SELECT "index", entry_type, name, completed, invoked_target, promise_name FROM sys_journal
     WHERE id = '${id}' ORDER BY "index"`,
  );
  const words = rows.map((row) => {
    const { index: _, entry_type, ...rest } = row;
    const more = Object.entries(rest).filter(([, value]) => (value ?? "") !== "");
    return [entry_type, ...more.map(([name, value]) => `${name}=${value}`)].join(" ");
  });
  const isCommand = (word) => word.startsWith("Command");
  return [...words.filter(isCommand), ...words.filter((word) => !isCommand(word)).sort()];
}

/** The invocation, once it is in one of the statuses. */
function inStatus(id, ...statuses) {
  return until(`${id} to be ${statuses}`, async () => {
    const [row] = await query(`SELECT * FROM sys_invocation WHERE id = '${id}'`);
    return statuses.includes(row?.status) ? row : undefined;
  });
}

/** The note that a handler left with an object. */
function note(key, test = (text) => text !== "") {
  return until(`a note of ${key}`, async () => {
    const { body } = await ingressCall(`RustObject/${key}/noted`);
    return test(body) ? body : undefined;
  });
}

const manage = (path, method = "PATCH", body = undefined) =>
  http(`${admin}/${path}`, {
    method,
    body: body && JSON.stringify(body),
    headers: body ? { "content-type": "application/json" } : {},
  });

const isHttp1 = await fetch(`${endpoint}/health`).then((a) => a.ok, () => false);
const tools = {
  call: ingressCall,
  send: (path, input, headers) => ingressCall(path, input, { verb: "send", headers }),
  query,
  journal,
  until,
  inStatus,
  note,
  manage,
  pause,
  ingress,
  key: (name) => `${nonce}-${name}`,
  register: () =>
    manage("deployments", "POST", { uri: endpoint, use_http_11: isHttp1, force: true }),
  mode: isHttp1 ? "h1" : "h2",
};

let failed = 0, passed = 0;
for (const [name, run] of Object.entries(checks(tools))) {
  if (process.env.ONLY && name !== "registration" && !name.includes(process.env.ONLY)) continue;
  const slot = /^(registration|deployment|service )/.test(name) ? `${name} (${tools.mode})` : name;
  let seen;
  try {
    seen = normalized(await run());
  } catch (error) {
    seen = `threw ${error.message}`;
  }
  if (process.env.RECORD) expected[slot] = seen;
  const ok = isDeepStrictEqual(seen, expected[slot]) && !`${seen}`.startsWith("threw");
  if (ok) passed++;
  else failed++;
  console.log(`${ok ? "ok  " : "FAIL"} ${name}`);
  if (!ok) {
    console.log(`  seen     ${JSON.stringify(seen)}\n  expected ${JSON.stringify(expected[slot])}`);
  }
}
if (process.env.RECORD) writeFileSync(file, `${JSON.stringify(expected, null, 2)}\n`);
console.log(`${passed} passed, ${failed} failed (${tools.mode})`);
process.exit(failed === 0 ? 0 : 1);
