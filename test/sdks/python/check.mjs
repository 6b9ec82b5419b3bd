// node check.mjs ENDPOINT_URI INGRESS_URL ADMIN_URL [svc|restate]: a line per check, 1 when one fails.
// What is to be seen is in expected.jsonl; RECORD=file writes such a file of what was seen instead,
// ONLY=pattern runs some, and PYTHON=path, an interpreter with the SDK, runs client.py too.
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual, promisify } from "node:util";

import { exchange, rowsOf, until } from "../common.mjs";
import { scenarios } from "./scenarios.mjs";

const [endpoint, ingress, admin, prefix = "restate"] = process.argv.slice(2);
const here = (name) => new URL(name, import.meta.url);
const tag = `t${Date.now().toString(36)}`;

/** What differs from run to run and from server to server, by its kind. */
const masks = [
  [new RegExp(tag, "g"), "TAG"],
  [new RegExp(`\\b${prefix}_code`, "g"), "code"],
  [new RegExp(`x-${prefix}-`, "g"), "x-"],
  [/inv_1\w+/g, "INV"],
  [/(sign|prom)_1[\w-]+/g, "AWAKEABLE"],
  [/dp_\w+/g, "DP"],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, "TIME"],
  [/127\.0\.0\.1:\d+|localhost:\d+/g, "HOST"],
];
const masked = (value) =>
  JSON.parse(
    masks.reduce((text, [from, to]) => text.replace(from, to), JSON.stringify(value ?? null)),
  );

/** Of an admin, where the server asks for tokens; `client.py` shows it as well. */
const { TOKEN } = process.env;

async function call(base, method, path, body, headers = {}) {
  const type = body === undefined || body instanceof Uint8Array
    ? {}
    : { "content-type": "application/json" };
  const sent = body === undefined || body instanceof Uint8Array ? body : JSON.stringify(body);
  const all = { ...TOKEN && { authorization: `Bearer ${TOKEN}` }, ...type, ...headers };
  const answer = await exchange(base + path, { method, body: sent, headers: all });
  const { status, value } = answer;
  if (typeof value === "object") delete value?.stacktrace;
  return { status, type: answer.type ?? null, body: value, headers: answer.headers };
}

const sleep = (ms) => new Promise((go) => setTimeout(go, ms));

/** Everything a scenario may do; it returns what it saw. */
const world = {
  tag,
  prefix,
  endpoint,
  sleep,
  admin: (method, path, body) => call(admin, method, path, body),
  ingress: (method, path, body, headers) => call(ingress, method, path, body, headers),
  call: (target, body, headers) =>
    call(ingress, "POST", `/${prefix}/call/${target}`, body, headers),
  async send(target, body, headers) {
    const sent = await call(ingress, "POST", `/${prefix}/send/${target}`, body, headers);
    return sent.body.invocationId;
  },
  rows: (sql) => rowsOf(admin, sql, TOKEN && { authorization: `Bearer ${TOKEN}` }),
  until,
  status: (id, ...wanted) =>
    world.until(`${id} is ${wanted}`, async () => {
      const [row] = await world.rows(`SELECT status FROM sys_invocation WHERE id = '${id}'`);
      return wanted.includes(row?.status) && row.status;
    }),
  attach: (id) => call(ingress, "GET", `/${prefix}/invocation/${id}/attach`),
  output: (id) => call(ingress, "GET", `/${prefix}/invocation/${id}/output`),
  seen: ({ status, type, body }) => ({ status, type, body }),
  /** The commands of its journal in order, and what it waits for or ended with. */
  async journal(id) {
    const rows = await world.rows(
      `SELECT index, entry_type, name, completed, invoked_target, promise_name FROM sys_journal WHERE id = '${id}' ORDER BY index`,
    );
    const [state] = await world.rows(
      `SELECT target, status, completion_result, completion_failure FROM sys_invocation WHERE id = '${id}'`,
    );
    const commands = rows.filter((row) => row.entry_type.startsWith("Command"));
    return {
      commands: commands.map(({ index: _, ...row }) =>
        Object.entries(row).filter(([, v]) => v !== null && v !== undefined && v !== "").map((
          [k, v],
        ) => `${k}=${v}`).join(" ")
      ),
      notifications: rows.filter((row) => !row.entry_type.startsWith("Command"))
        .map((row) => row.entry_type).sort().join(", "),
      state,
    };
  },
  /** Calls, and tells the answer together with the journal it left. */
  async told(target, body, headers) {
    const answer = await world.call(target, body, headers);
    const id = answer.headers.get(`x-${prefix}-id`);
    return { ...world.seen(answer), ...(id ? { journal: await world.journal(id) } : {}) };
  },
  async client() {
    if (!process.env.PYTHON) return undefined;
    const run = promisify(execFile);
    const options = { env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" } };
    return JSON.parse(
      (await run(process.env.PYTHON, [here("client.py").pathname, ingress, tag], options)).stdout,
    );
  },
};

const lines = process.env.RECORD
  ? []
  : readFileSync(here("expected.jsonl"), "utf8").trim().split("\n");
const expected = Object.fromEntries(lines.map((line) => JSON.parse(line)));
const recorded = {};
let failed = 0;
for (const [name, run] of Object.entries(scenarios)) {
  if (process.env.ONLY && !new RegExp(process.env.ONLY).test(name)) continue;
  let seen;
  try {
    seen = masked(await run(world));
  } catch (error) {
    seen = { threw: String(error.stderr?.slice(-800) ?? error.stack ?? error) };
  }
  recorded[name] = seen;
  const wanted = (world.oneWay && expected[`${name} (HTTP/1.1)`]) || expected[name];
  const fine = process.env.RECORD
    ? seen?.threw === undefined
    : seen === null || isDeepStrictEqual(seen, wanted);
  failed += fine ? 0 : 1;
  console.log(`${fine ? seen === null ? "skip" : "ok  " : "FAIL"} ${name}`);
  if (!fine) {
    console.log(`  saw      ${JSON.stringify(seen)}\n  expected ${JSON.stringify(wanted)}`);
  }
}
if (process.env.RECORD) {
  const told = Object.entries(recorded).map((one) => JSON.stringify(one) + "\n");
  writeFileSync(process.env.RECORD, told.join(""));
}
console.log(`${Object.keys(recorded).length - failed} of ${Object.keys(recorded).length} passed`);
process.exit(failed > 0 ? 1 : 0);
