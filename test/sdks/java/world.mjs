// What every check is given: how to speak to the server, and how to tell what was seen.
import assert from "node:assert/strict";
import { exchange, rowsOf, until } from "../common.mjs";

export { until };

export const [endpoint, ingress, admin, prefix = "svc", language = "java"] = process.argv
  .slice(2);
/** Where the two SDKs of the JVM differ, the checks say how. */
export const isKotlin = language === "kotlin";
export const seen = {};
/** The transport under test, and an id of this run that all keys begin with. */
export const world = { transport: "", id: "", failures: 0 };
const json = { "content-type": "application/json" };

export const ask = async (url, { bytes: isRaw = false, ...init } = {}) => {
  const { status, headers, bytes, text } = await exchange(url, init);
  let value = isRaw ? [...bytes] : text;
  try {
    if (!isRaw) value = JSON.parse(text);
  } catch {
    // an answer that is no JSON stays text
  }
  return { status, value, headers };
};

const withInput = (input, headers) =>
  input === undefined
    ? { headers }
    : { body: JSON.stringify(input), headers: { ...json, ...headers } };

export const call = (path, input, headers = {}) =>
  ask(`${ingress}/${prefix}/call/${path}`, withInput(input, headers));

/** Calls with a body as it is. */
export const callRaw = (path, contentType, body) =>
  ask(`${ingress}/${prefix}/call/${path}`, {
    body,
    headers: { "content-type": contentType },
    bytes: typeof body !== "string",
  });

/** Sends, and gives the id of the invocation. */
export const send = async (path, input, headers = {}) =>
  (await ask(`${ingress}/${prefix}/send/${path}`, withInput(input, headers))).value.invocationId;

export const ended = (id) => ask(`${ingress}/${prefix}/attach/${id}`, { method: "GET" });

export const operate = async (id, what) => {
  const { status, value } = await ask(`${admin}/invocations/${id}/${what}`, { method: "PATCH" });
  note(what, [status, value]);
};

export const query = (sql) => rowsOf(admin, sql);

export const register = (http1) =>
  ask(`${admin}/deployments`, {
    body: JSON.stringify({ uri: endpoint, use_http_11: http1, force: true }),
    headers: json,
  });

export const status = async (id) =>
  (await query(`SELECT status FROM sys_invocation WHERE id = '${id}'`))[0]?.status;

/** Waits for one of the states; gives it. */
export const becomes = (id, ...wanted) =>
  until(`${wanted} of ${id}`, async () => {
    const is = await status(id);
    return wanted.includes(is) && is;
  });

/** Commands by type and name, notifications by type after a `~`. */
export const journal = async (id) => {
  const rows = await query(
    `SELECT index, entry_type, name FROM sys_journal WHERE id = '${id}' ORDER BY index`,
  );
  const type = (row) => row.entry_type.replace("Command: ", "").replace("Notification: ", "~");
  return rows.map((row) => type(row) + (row.name ? ` ${row.name}` : "")).join(", ");
};

/** The id of the awakeable that a handler has put in the box. */
export const boxed = (key) =>
  until(`an awakeable in ${key}`, async () => {
    const { value } = await call(`Box/${key}/get`);
    return typeof value === "string" && /^(sign|prom)_1/.test(value) && value;
  });

export const signal = (awakeable, what, body) =>
  ask(`${ingress}/restate/awakeables/${awakeable}/${what}`, { body, headers: json });

/** Keeps something that two servers need not have in common. */
export const note = (name, what) => {
  seen[`${world.transport} ${name}`] = what;
};

/** One check: what it saw must be what is expected. */
export const check = async (name, expected, read) => {
  const full = `${world.transport} ${name}`;
  try {
    const found = await read();
    seen[full] = found;
    assert.deepEqual(found, expected);
    console.log(`ok   ${full}`);
  } catch (error) {
    world.failures++;
    seen[full] ??= `${error}`.slice(0, 300);
    console.log(`FAIL ${full}: ${JSON.stringify(seen[full])}`);
  }
};

/** A call with its answer. */
export const answers = (name, { path, input, headers }, expected, code = 200) =>
  check(name, [code, expected], async () => {
    const { status, value } = await call(path, input, headers);
    return [status, value];
  });

/** Sends and attaches, and looks at the journal too. */
export const journals = (name, { path, input }, expected, ...entries) =>
  check(`${name}, with its journal`, [200, expected, entries.join(", ")], async () => {
    const id = await send(path, input, { "idempotency-key": `${world.id}${name}` });
    const { status, value } = await ended(id);
    return [status, value, await journal(id)];
  });
