import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { MESSAGE_CHARS_MAX } from "../../src/observe/failure_record.ts";
import { until } from "../support/child.ts";
import { query, register, send } from "../support/client.ts";
import { startEndpoint } from "../support/endpoint.ts";
import { type Server, startServer } from "../support/server.ts";
import { parseMetrics, valueOf } from "./_parse.ts";

const SERVICES = path.join(import.meta.dirname, "services.mjs");
const KEY = "iban-123";
const open: { close(): unknown }[] = [];

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function start(settings: Readonly<Record<string, string>> = {}): Promise<Server> {
  const endpoint = await startEndpoint("h2", SERVICES);
  open.push(endpoint);
  const server = await startServer({
    runtime: "node",
    settings: { LOG_FORMAT: "json", ...settings },
  });
  open.push(server);
  expect((await register(server, endpoint)).status).toBe(201);
  return server;
}

type Line = Readonly<Record<string, unknown>>;

/** Sends to a handler that gives up after two attempts, and answers what the log says of it. */
async function failing(server: Server, handler: string): Promise<Line[]> {
  const { status, body } = await send(server, `Keyed/${KEY}-${handler}/${handler}`);
  expect(status).toBe(202);
  const id = (body as { invocationId: string }).invocationId;
  const records = () =>
    server.logs().split("\n").filter((line) => line.startsWith("{") && line.includes(id))
      .map((line) => JSON.parse(line) as Line);
  const isPaused = () => records().some(({ message }) => message === "An invocation is paused");
  await until("the invocation to be paused", isPaused, 15_000);
  return records();
}

test(
  "the record of a handler that throws has message, target, attempt and next step",
  async () => {
    const server = await start();
    const [first, second, paused, ...more] = await failing(server, "breaks");
    const subject = {
      level: "warn",
      invocation: expect.stringMatching(/^inv_1/),
      service: "Keyed",
      key: `${KEY}-breaks`,
      handler: "breaks",
      code: "RT0007",
    };
    const failed = {
      ...subject,
      message: "An attempt failed",
      reason: expect.stringMatching(/^no such account x+…$/),
      command: { index: 1, type: "run", name: "charge card" },
    };
    expect(first).toMatchObject({ ...failed, attempt: 1, next: "retry" });
    expect(second).toMatchObject({ ...failed, attempt: 2, next: "paused" });
    expect(second).not.toHaveProperty("retryAt");
    const { invocation } = first!;
    const resume = `PATCH /invocations/${invocation}/resume`;
    expect(paused).toMatchObject({ ...subject, message: "An invocation is paused", resume });
    expect(more).toEqual([]);
    expect(first!["reason"]).toHaveLength(MESSAGE_CHARS_MAX + 1);
    const waitMs = Date.parse(String(first!["retryAt"])) - Date.parse(String(first!["time"]));
    expect(waitMs).toBeLessThanOrEqual(60_000);
    // The query that the record names shows all of the message.
    const [row] = await query(server, String(first!["more"]));
    expect(row?.["id"]).toBe(invocation);
    expect(row?.["event_json"]).toContain("x".repeat(5_000));
  },
  60_000,
);

test("a handler that changed is reported with both commands", async () => {
  const server = await start();
  const [first, second] = await failing(server, "drifts");
  expect(first).toMatchObject({ code: "RT0007", reason: "once", next: "retry" });
  expect(second).toMatchObject({
    message: "An attempt failed",
    code: "RT0016",
    key: `${KEY}-drifts`,
    attempt: 2,
    command: { index: 1 },
    next: "paused",
  });
  // The order is the SDK's.
  expect(second!["reason"]).toMatch(/previous execution.*'(run|sleep)'.*current execution/s);
  expect(second!["reason"]).toMatch(/'run'.*'sleep'|'sleep'.*'run'/s);
}, 60_000);

test("what may be secret is in no record where that is switched off", async () => {
  const server = await start({ LOG_FAILURE_DETAILS: "false" });
  for (const handler of ["breaks", "drifts"]) {
    const [first] = await failing(server, handler);
    expect(first).toMatchObject({ code: "RT0007", service: "Keyed", handler, attempt: 1 });
    expect(first).toHaveProperty("retryAt");
  }
  for (const secret of [KEY, "no such account", "charge card", "previous execution"]) {
    expect(server.logs()).not.toContain(secret);
  }
  const text = await (await fetch(`${server.admin}/metrics`)).text();
  const labels = { service: "Keyed", handler: "breaks", code: "RT0007" };
  expect(valueOf(parseMetrics(text), "perdure_attempts_failed_total", labels)).toBe(2);
}, 60_000);

test(
  "an endpoint that cannot be reached is reported with its address, whatever is switched off",
  async () => {
    const endpoint = await startEndpoint("h2", SERVICES);
    open.push(endpoint);
    const server = await startServer({
      runtime: "node",
      settings: { LOG_FORMAT: "json", LOG_FAILURE_DETAILS: "false" },
    });
    open.push(server);
    await register(server, endpoint);
    await endpoint.stop();
    const [first] = await failing(server, "breaks");
    expect(first).toMatchObject({ code: "RT0010", reason: expect.stringContaining(endpoint.url) });
  },
  60_000,
);
