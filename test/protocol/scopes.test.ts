import { expect } from "vitest";
import { until } from "../support/child.ts";
import { type Ask, attach, byTarget, call, operate, output, request, value } from "./_ask.ts";
import { type Check, idOf, protocolSuite } from "./_suite.ts";
import type { Target } from "./_target.ts";
import { startOf } from "./_wire.ts";

/** Calls or sends in a scope. */
function inScope(
  target: Target,
  scope: string,
  path: string,
  { given, ...ask }: Ask & { readonly given?: unknown } = {},
) {
  const body = given === undefined ? {} : { body: given };
  return request("POST", `${target.ingress}/${target.word}/scope/${scope}/${path}`, {
    ...ask,
    ...body,
  });
}

const seen: Check = async ({ target, named }) => {
  const path = `call/${named("Plain")}/request`;
  const both = await inScope(target, "blue", path, {
    query: "limit-key=c",
    headers: { [target.header("limit-key")]: "a/b/", "idempotency-key": "seen" },
  });
  expect(both.body).toEqual({ scope: "blue", limitKey: "a/b", idempotencyKey: "seen" });
  const one = await inScope(target, "blue", path, { query: "LIMIT-KEY=a%2Fb" });
  expect(one.body).toMatchObject({ scope: "blue", limitKey: "a/b" });
  const empty = { [target.header("limit-key")]: "" };
  for (const ask of [{ query: "limit-key=" }, { query: "limit-key=a", headers: empty }]) {
    const none = await inScope(target, "blue", path, ask);
    expect(none.body).toMatchObject({ scope: "blue" });
    expect(none.body).not.toHaveProperty("limitKey");
  }
  const unscoped = (await call(target, `${named("Plain")}/request`)).body;
  expect(unscoped).not.toHaveProperty("scope");
};

const seenAgain: Check = async ({ target, named, endpoint, id }) => {
  const sent = await inScope(target, "blue", `send/${named("Sleepy")}/nap`, {
    given: { id, ms: 1_000 },
    query: "limit-key=a",
  });
  const { invocationId } = sent.body as { invocationId: string };
  const attempt = await endpoint.suspends(invocationId);
  expect(attempt.headers["content-type"]).toContain("invocation.v7");
  expect((await attach(target, invocationId)).body).toBe(id);
  const starts = endpoint.attempts(invocationId).map(startOf);
  expect(starts.length).toBeGreaterThan(1);
  for (const { scope, limitKey } of starts) expect([scope, limitKey]).toEqual(["blue", "a"]);
};

const byHandlers: Check = async ({ target, named }) => {
  const service = named("Plain");
  const method = "request";
  const list = [
    { service, method, scope: "red", limitKey: "a/b" },
    { service, method, scope: "red" },
    { service, method },
  ];
  const called = await inScope(target, "blue", `call/${service}/calls`, { given: list });
  expect(called.body).toMatchObject([
    { value: { scope: "red", limitKey: "a/b" } },
    { value: { scope: "red" } },
    // What a handler calls without a scope is in none.
    { value: {} },
  ]);
  const [, second, third] = called.body as { value: object }[];
  expect(second?.value).not.toHaveProperty("limitKey");
  expect(third?.value).not.toHaveProperty("scope");
  const sent = await value(target, `${service}/sends`, list) as string[];
  const results = await Promise.all(sent.map(async (one) => (await attach(target, one)).body));
  expect(results).toMatchObject([{ scope: "red", limitKey: "a/b" }, { scope: "red" }, {}]);
  expect(await value(target, `${service}/callInScope`, { scope: "green", limitKey: "x" }))
    .toMatchObject({ scope: "green", limitKey: "x" });
};

/** What a journal shows of a call (docs/sql.md). */
const shown: Check = async ({ target, named }) => {
  const service = named("Plain");
  const object = { service: named("Store"), method: "all", key: "k" };
  const answer = await call(target, `${service}/calls`, [
    { service, method: "request", scope: "red", limitKey: "a/b" },
    { service, method: "request" },
    { ...object, scope: "red" },
  ]);
  const query = "select entry_json, entry_lite_json from sys_journal where " +
    `id = '${idOf(target, answer)}' and entry_type = 'Command: Call' order by index`;
  const rows = async () => {
    const headers = { accept: "application/json" };
    const { body } = await request("POST", `${target.admin}/query`, { body: { query }, headers });
    return (body as { rows: { entry_json: string; entry_lite_json: string }[] }).rows;
  };
  const calls = (await rows()).map((row) => [
    JSON.parse(row.entry_json).Command.Call.request,
    JSON.parse(row.entry_lite_json).Command.Call.invocation_target,
  ]);
  const inRed = { Service: { name: service, handler: "request", scope: "red" } };
  const inNone = { Service: { name: service, handler: "request", scope: null } };
  const ofObject = { VirtualObject: { key: "k", scope: "red" } };
  expect(calls).toMatchObject([
    [{ invocation_target: inRed, limit_key: "a/b" }, inRed],
    [{ invocation_target: inNone }, inNone],
    [{ invocation_target: ofObject }, ofObject],
  ]);
  for (const [request] of calls.slice(1)) expect(request).not.toHaveProperty("limit_key");
};

const idempotent: Check = async ({ target, named, id }) => {
  const path = `${named("Plain")}/echo`;
  const headers = { "idempotency-key": id };
  const echo = async (scope: string | undefined, given: string, query = "") => {
    const ask = { headers, query };
    const answer = scope === undefined
      ? await call(target, path, given, ask)
      : await inScope(target, scope, `call/${path}`, {
        given: JSON.stringify(given),
        ...ask,
        headers: { ...headers, "content-type": "application/json" },
      });
    return { body: answer.body, id: idOf(target, answer) };
  };
  const first = await echo("blue", "blue", "limit-key=a");
  const other = await echo("red", "red");
  const unscoped = await echo(undefined, "none");
  expect([first.body, other.body, unscoped.body]).toEqual(["blue", "red", "none"]);
  // The limit key is no part of the identity.
  expect(await echo("blue", "again", "limit-key=b")).toEqual(first);
  expect(new Set([first.id, other.id, unscoped.id]).size).toBe(3);
  const [service, handler] = path.split("/");
  const named_ = { target: "idempotentInvocation", service, handler, idempotencyKey: id };
  for (const [scope, one] of [["blue", first], ["red", other], [undefined, unscoped]] as const) {
    const body = { ...named_, ...(scope !== undefined && { scope }) };
    expect((await byTarget(target, "lookup", body)).body).toEqual({ invocationId: one.id });
    expect((await byTarget(target, "attach", body)).body).toBe(one.body);
    expect((await byTarget(target, "output", body)).body).toBe(one.body);
  }
  const nowhere = { ...named_, scope: "nowhere" };
  expect((await byTarget(target, "output", nowhere)).status).toBe(404);
};

const workflows: Check = async ({ target, named, endpoint, id }) => {
  const flow = `${named("Flow")}/${id}`;
  const runs = ["blue", "red"].map((scope) =>
    inScope(target, scope, `call/${flow}/run`, { given: `"${id}-${scope}"`, ...JSON_TYPE })
  );
  for (const scope of ["blue", "red"]) await endpoint.happens(`${id}-${scope} run`);
  const again = await inScope(target, "blue", `call/${flow}/run`, { given: '"x"', ...JSON_TYPE });
  expect(again.status).toBe(409);
  await inScope(target, "red", `call/${flow}/resolve`, { given: "1", ...JSON_TYPE });
  expect((await runs[1])?.body).toEqual({ id: `${id}-red`, value: 1 });
  const peeked = await inScope(target, "blue", `call/${flow}/peek`);
  expect(peeked.body).toBeNull();
  expect(await value(target, `${flow}/state`)).toEqual({});
  await inScope(target, "blue", `call/${flow}/resolve`, { given: "2", ...JSON_TYPE });
  expect((await runs[0])?.body).toEqual({ id: `${id}-blue`, value: 2 });
  const body = { target: "workflow", workflowName: named("Flow"), workflowKey: id };
  expect((await byTarget(target, "output", { ...body, scope: "blue" })).body)
    .toEqual({ id: `${id}-blue`, value: 2 });
  expect((await byTarget(target, "output", body)).status).toBe(404);
};

const objects: Check = async ({ target, named, endpoint, id }) => {
  const store = `${named("Store")}/${id}`;
  const put = (scope: string, entries: object) =>
    inScope(target, scope, `call/${store}/put`, { given: entries });
  expect((await put("blue", { a: 1 })).status).toBe(200);
  expect((await put("red", { b: 2 })).status).toBe(200);
  const all = async (scope: string) => (await inScope(target, scope, `call/${store}/all`)).body;
  expect([await all("blue"), await all("red"), await value(target, `${store}/all`)])
    .toEqual([{ a: 1 }, { b: 2 }, {}]);
  // One that runs in a scope keeps no other scope waiting, and has an inbox of its own.
  const nap = { id: `${id}-nap`, ms: 600 };
  const first = inScope(target, "blue", `call/${store}/nap`, { given: nap });
  await endpoint.happens(`${id} in ${id}-nap`);
  const second = inScope(target, "blue", `call/${store}/put`, { given: { a: 3 } });
  expect((await put("red", { b: 4 })).status).toBe(200);
  expect(endpoint.count(`${id} out ${id}-nap`)).toBe(0);
  expect([(await first).status, (await second).status]).toEqual([200, 200]);
  expect(await all("blue")).toEqual({ a: 3 });
};

const edited: Check = async ({ target, named, id }) => {
  const path = `${target.admin}/services/${named("Store")}/state`;
  const body = { object_key: id, scope: "blue", new_state: { a: "5" } };
  expect((await request("POST", path, { body })).status).toBe(202);
  const all = `call/${named("Store")}/${id}/all`;
  await until("the edit", async () => {
    const { body } = await inScope(target, "blue", all);
    return JSON.stringify(body) === '{"a":5}';
  });
  expect(await value(target, `${named("Store")}/${id}/all`)).toEqual({});
};

const restarted: Check = async ({ target, named }) => {
  const first = await inScope(target, "blue", `call/${named("Plain")}/request`, {
    query: "limit-key=a/b",
  });
  const id = idOf(target, first);
  const restart = () => operate(target, "restart-as-new", id);
  await until("the restart", async () => (await output(target, id)).status === 200);
  const { body } = await restart();
  const { new_invocation_id: newId } = body as { new_invocation_id: string };
  expect(newId.slice(0, 16)).toBe(id.slice(0, 16));
  expect((await attach(target, newId)).body).toMatchObject({ scope: "blue", limitKey: "a/b" });
};

const charset = "value contains characters outside the allowed set [a-zA-Z0-9_.-]";

const refused: Check = async ({ target, named }) => {
  const service = named("Plain");
  const long = "a".repeat(37);
  const rows: readonly (readonly [path: string, query: string, wanted: string])[] = [
    ["scope/a%20b/call", "", `bad scope value: ${charset}`],
    [`scope/${long}/call`, "", "bad scope value: value too long: 37 bytes (max 36)"],
    ["scope//call", "", "bad scope value: value cannot be empty"],
    ["call", "limit-key=a", "limit-key requires a scope to be set"],
    [
      "call",
      "limit-key=a/b/c",
      "invalid limit-key: too many path components in the given limit-key (max 2)",
    ],
    ["scope/s/send", "limit-key=a+b", `invalid limit-key: invalid limit-key component: ${charset}`],
    [
      "scope/s/send",
      "limit-key=/",
      "invalid limit-key: invalid limit-key component: value cannot be empty",
    ],
  ];
  for (const [path, query, message] of rows) {
    const url = `${target.ingress}/${target.word}/${path}/${service}/request`;
    const { status, body } = await request("POST", url, { query });
    expect([status, body]).toMatchObject([400, { message, source: "ingress" }]);
  }
};

const JSON_TYPE = { headers: { "content-type": "application/json" } };

protocolSuite("scopes", {
  "92 a handler sees its scope and limit key": seen,
  "92b every attempt sees them": seenAgain,
  "93 handlers call and send in scopes": byHandlers,
  "93b a journal shows the scopes and limit keys of calls": shown,
  "94 an idempotency key in a scope is another one, and finds its result": idempotent,
  "95 a workflow id in a scope is another one": workflows,
  "96 an object in a scope is another one": objects,
  "96b an operator edits the state of an object in a scope": edited,
  "97 a restart keeps scope and limit key": restarted,
  "98 bad scopes and limit keys are refused": refused,
}, {
  options: {
    // Several, so that calls of handlers go from one partition to another.
    "default-num-partitions": "4",
    "experimental-enable-vqueues": "true",
    "experimental-enable-protocol-v7": "true",
    "experimental-enable-scoped-virtual-objects": "true",
  },
});
