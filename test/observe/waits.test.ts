import { afterEach, expect, test } from "vitest";
import { LOGGED_MAX } from "../../src/observe/wait_report.ts";
import { until } from "../support/child.ts";
import { manage, query, register, send } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Server, startServer } from "../support/server.ts";

const KEY = "iban-123";
const open: { close(): unknown }[] = [];

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function start(
  settings: Readonly<Record<string, string>> = {},
): Promise<{ server: Server; endpoint: Endpoint }> {
  const endpoint = await startEndpoint("h2");
  open.push(endpoint);
  const server = await startServer({
    runtime: "node",
    settings: { LOG_FORMAT: "json", LOG_WAITS_AFTER: "300ms", ...settings },
  });
  open.push(server);
  expect((await register(server, endpoint)).status).toBe(201);
  return { server, endpoint };
}

type Line = Readonly<Record<string, unknown>>;

/** Records with this message, and of this invocation if one is given. */
function records(server: Server, message: string, invocation?: string): Line[] {
  return server.logs().split("\n").filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line["message"] === message)
    .filter((line) => invocation === undefined || line["invocation"] === invocation);
}

const WAITED = "An invocation has waited for long";

async function sent(server: Server, path: string, body?: unknown): Promise<string> {
  const answer = await send(server, path, body);
  expect(answer.status).toBe(202);
  return (answer.body as { invocationId: string }).invocationId;
}

/** Two calls of an object, of which the second one waits for the first. Answers the second one. */
async function locked(server: Server, endpoint: Endpoint, name: string): Promise<string> {
  await sent(server, `Counter/${KEY}/hold`, name);
  await endpoint.happens(`${name} hold`);
  const waits = await sent(server, `Counter/${KEY}/hold`, name);
  await until("the wait to be logged", () => records(server, WAITED, waits).length > 0);
  return waits;
}

test("what waits for long is logged once, with the sentence that SQL has", async () => {
  const { server, endpoint } = await start();
  const waits = await locked(server, endpoint, "a");
  const asked = `select waiting_reason as reason from sys_invocation where id = '${waits}'`;
  const [{ reason }] = await query(server, asked) as [{ reason: string }];
  expect(reason).toMatch(`waits for the lock of Counter/${KEY}, which inv_1`);
  expect(records(server, WAITED, waits)).toEqual([expect.objectContaining({
    level: "warn",
    service: "Counter",
    key: KEY,
    handler: "hold",
    since: expect.stringMatching(/^20/),
    for: "lock",
    reason,
    more: `SELECT waiting_reason FROM sys_invocation WHERE id = '${waits}'`,
  })]);
  // More than one check logs begin to wait: the others are counted.
  await manage(server, "PATCH /services/Greeter", { paused: true });
  const many = await Promise.all(
    Array.from({ length: 10 * LOGGED_MAX }, () => sent(server, "Greeter/greet", "x")),
  );
  const counted = () =>
    records(server, "More invocations have waited for long")
      .reduce((sum, { count }) => sum + Number(count), 0);
  const logged = () => many.flatMap((id) => records(server, WAITED, id));
  await until("all of them", () => logged().length + counted() === many.length);
  expect(counted()).toBeGreaterThan(0);
  expect(logged()[0]).toMatchObject({
    for: "resume",
    reason: "waits because service Greeter is paused",
  });
  // Later checks were made, and did not log the first one again.
  expect(records(server, WAITED, waits)).toHaveLength(1);
  endpoint.release("a");
}, 30_000);

test("without details a record has no key, and not the sentence that names it", async () => {
  const { server, endpoint } = await start({ LOG_FAILURE_DETAILS: "false" });
  const waits = await locked(server, endpoint, "b");
  const [record] = records(server, WAITED, waits);
  expect(record).toMatchObject({ service: "Counter", handler: "hold", for: "lock" });
  expect(JSON.stringify(record)).not.toContain(KEY);
  expect(record).not.toHaveProperty("reason");
  endpoint.release("b");
}, 30_000);
