import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { until } from "../support/child.ts";
import { call, register, send } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type RuntimeName, type Server, startServer } from "../support/server.ts";
import { type Collector, startCollector } from "./_collector.ts";
import { parseMetrics, valueOf } from "./_parse.ts";

const ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = `00-${ID}-00f067aa0ba902b7-01`;
const SERVICES = path.join(import.meta.dirname, "services.mjs");

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function start(
  runtime: RuntimeName,
  settings: Readonly<Record<string, string>> = {},
): Promise<{ server: Server; endpoint: Endpoint }> {
  const endpoint = await startEndpoint("h2", SERVICES);
  open.push(endpoint);
  const server = await startServer({ runtime, settings });
  open.push(server);
  expect((await register(server, endpoint)).status).toBe(201);
  return { server, endpoint };
}

async function metrics(server: Server) {
  const response = await fetch(`${server.admin}/metrics`);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const families = parseMetrics(await response.text());
  return (name: string, labels: Readonly<Record<string, string>> = {}) =>
    valueOf(families, `perdure_${name}`, labels);
}

const echo = { service: "Traced", handler: "echo" };
const nap = { service: "Keyed", handler: "nap" };

/** 200 echoes and 3 refusals that are over, 4 naps of one key, 2 echoes for later. */
async function load(server: Server): Promise<void> {
  const callers = Array.from({ length: 8 }, async () => {
    for (let i = 0; i < 25; i++) expect((await call(server, "Traced/echo", i)).status).toBe(200);
  });
  for (let i = 0; i < 5; i++) await metrics(server);
  await Promise.all(callers);
  for (let i = 0; i < 3; i++) await call(server, "Traced/refuse");
  for (let i = 0; i < 4; i++) await send(server, "Keyed/one/nap", 600_000);
  for (let i = 0; i < 2; i++) await send(server, "Traced/echo", 1, { query: "delay=1h" });
}

/** Checks what `load` leaves, and answers the page. */
async function expectLoaded(server: Server) {
  const value = await metrics(server);
  expect(value("invocations_counted")).toBe(1);
  expect(value("invocations", { ...echo, status: "completed" })).toBe(200);
  expect(value("invocations", { ...echo, status: "scheduled" })).toBe(2);
  expect(value("invocations", { handler: "refuse", status: "completed" })).toBe(3);
  expect(value("invocations", { ...nap, status: "inboxed" })).toBe(3);
  const [invoked = 0, suspended = 0] = ["invoked", "suspended"].map((status) =>
    value("invocations", { ...nap, status })
  );
  expect(invoked + suspended).toBe(1);
  return value;
}

describe.each(["node", "deno"] as const)("the page of metrics on %s", (runtime) => {
  test("is valid under load, and its counts are right, also after a crash", async () => {
    const { server } = await start(runtime);
    await load(server);
    const value = await expectLoaded(server);
    expect(value("invocations_completed_total", { ...echo, result: "success" })).toBe(200);
    expect(value("invocations_completed_total", { handler: "refuse", result: "failure" })).toBe(3);
    expect(value("attempts_started_total", echo)).toBe(200);
    expect(value("invocation_duration_seconds", { ...echo, le: "+Inf" })).toBe(200);
    const calls = { interface: "ingress", route: "call" };
    expect(value("requests_total", { ...calls, status: "200" })).toBe(200);
    expect(value("requests_total", { interface: "ingress", route: "send", status: "202" })).toBe(6);
    const registered = { interface: "admin", route: "POST /deployments", status: "201" };
    expect(value("requests_total", registered)).toBe(1);
    const database = { database: "perdure.db" };
    expect(value("database_bytes", database)).toBeGreaterThan(0);
    expect(value("database_wal_bytes", database)).toBeGreaterThan(0);
    expect(value("commit_duration_seconds", { le: "+Inf" })).toBeGreaterThan(50);
    expect(value("resident_bytes")).toBeGreaterThan(0);
    expect(value("process_resident_memory_bytes")).toBeGreaterThan(1e7);
    await until(
      "the event loop to be measured",
      async () => ((await metrics(server))("event_loop_delay_seconds", { le: "+Inf" }) ?? 0) > 0,
    );
    await server.crash();
    const later = await expectLoaded(server);
    expect(later("invocations_completed_total", { ...echo, result: "success" })).toBe(0);
    await call(server, "Traced/echo", 1);
    const last = await metrics(server);
    expect(last("invocations", { ...echo, status: "completed" })).toBe(201);
  }, 60_000);
});

test("without a collector a trace is passed on as it came, through calls too", async () => {
  const { server } = await start("node");
  const headers = { traceparent: PARENT, tracestate: "a=1" };
  const { body } = await call(server, "Traced/root", undefined, { headers });
  expect(body).toEqual([
    { handler: PARENT, attempt: PARENT, state: "a=1" },
    { attempt: PARENT, state: "a=1" },
  ]);
  const none = await call(server, "Traced/root");
  expect(none.body).toEqual([{}, {}]);
}, 30_000);

/** The one span of this name and, if given, below this parent. */
function one(collector: Collector, name: string, parent?: string) {
  const found = collector.spans.filter((span) =>
    span.traceId === ID && span.name === name &&
    (parent === undefined || span.parentSpanId === parent)
  );
  expect(found, `${name} below ${parent}`).toHaveLength(1);
  const [{ spanId } = { spanId: "" }] = found;
  return spanId;
}

test("with a collector there are spans of requests, invocations and attempts", async () => {
  const collector = await startCollector();
  open.push(collector);
  const { server } = await start("node", { TRACING_ENDPOINT: collector.url });
  const { body } = await call(server, "Traced/root", undefined, {
    headers: { traceparent: PARENT },
  });
  await until(
    "all spans",
    () => collector.spans.filter(({ traceId }) => traceId === ID).length >= 5,
  );
  const request = one(collector, "ingress Traced/root", "00f067aa0ba902b7");
  const root = one(collector, "invoke Traced/root", request);
  const attempt = one(collector, "attempt Traced/root", root);
  const leaf = one(collector, "invoke Traced/leaf", root);
  const below = one(collector, "attempt Traced/leaf", leaf);
  expect(body).toEqual([
    { handler: PARENT, attempt: `00-${ID}-${attempt}-01` },
    { attempt: `00-${ID}-${below}-01` },
  ]);
  const unsampled = { traceparent: PARENT.replace(/01$/, "00") };
  const { body: quiet } = await call(server, "Traced/leaf", undefined, { headers: unsampled });
  expect(quiet).toMatchObject({ attempt: unsampled.traceparent });
  await call(server, "Traced/refuse");
  await until(
    "the failed spans",
    () =>
      collector.spans.some(({ name, status }) =>
        name === "invoke Traced/refuse" && status.code === 2
      ),
  );
  const value = await metrics(server);
  expect(value("spans_exported_total")).toBeGreaterThan(5);
  expect(value("spans_dropped_total")).toBe(0);
}, 30_000);

test("a trace outlives the process", async () => {
  const { server } = await start("node");
  const sent = send(server, "Traced/flaky", Date.now() + 1500, {
    headers: { traceparent: PARENT, "idempotency-key": "k" },
  });
  expect((await sent).status).toBe(202);
  await server.crash();
  const { body } = await call(server, "Traced/flaky", 0, { headers: { "idempotency-key": "k" } });
  expect(body).toBe(PARENT);
}, 30_000);

test("requests are counted by the route they found, whatever they name", async () => {
  const { server } = await start("node");
  for (const name of ["a", "b"]) {
    expect((await fetch(`${server.admin}/services/${name}`)).status).toBe(404);
    expect((await fetch(`${server.admin}/${name}`)).status).toBe(404);
    expect((await fetch(`${server.ingress}/svc/call/${name}/x`)).status).toBe(404);
  }
  await fetch(`${server.ingress}/svc/call/Traced/echo`, { method: "OPTIONS" });
  const value = await metrics(server);
  const requests = (labels: Readonly<Record<string, string>>) => value("requests_total", labels);
  const admin = { interface: "admin", status: "404" };
  expect(requests({ ...admin, route: "GET /services/:service" })).toBe(2);
  expect(requests({ ...admin, route: "other" })).toBe(2);
  expect(requests({ interface: "ingress", route: "other", status: "404" })).toBe(2);
  expect(requests({ interface: "ingress", route: "preflight" })).toBe(1);
}, 30_000);
