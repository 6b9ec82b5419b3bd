import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePorts, until } from "../support/child.ts";
import { Endpoint } from "../support/endpoint.ts";
import { type Server, startServer } from "../support/server.ts";
import { asking, post } from "./_filled.ts";

// What is shown of the last attempt of invocations of which none runs. All of it was looked up at
// the reference, which forgets it when it restarts.

const WAIT_MS = 20_000;

type Row = Record<string, unknown>;

let server: Server;
let endpoint: Endpoint;
const ids = { backsOff: "", paused: "", gaveUp: "", broken: "", unreached: "" };

beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  endpoint = new Endpoint("h2", port, {
    script: path.join(import.meta.dirname, "_services.mjs"),
  });
  const settings = {
    DEFAULT_RETRY_POLICY__INITIAL_INTERVAL: "1h",
    DEFAULT_RETRY_POLICY__MAX_INTERVAL: "1h",
  };
  [server] = await Promise.all([startServer({ runtime: "node", settings }), endpoint.start()]);
  await post(`${server.admin}/deployments`, { uri: endpoint.url });
  const before = Date.now();
  ids.backsOff = await send("flaky");
  ids.paused = await send("flaky");
  ids.gaveUp = await send("pauser");
  await shows(ids.gaveUp, "paused");
  for (const id of [ids.backsOff, ids.paused]) {
    const { last_start_at: at } = await shows(id, "backing-off");
    expect(Date.parse(String(at))).toBeGreaterThanOrEqual(before);
  }
  await operate(ids.paused, "pause");
  ids.broken = await send("breaks");
  await shows(ids.broken, "completed");
  await endpoint.stop();
  ids.unreached = await send("greet");
}, 60_000);

afterAll(async () => {
  await Promise.all([server?.close(), endpoint?.close()]);
});

async function send(handler: string): Promise<string> {
  const { invocationId } = JSON.parse(
    await post(`${server.ingress}/svc/send/Greeter/${handler}`, 1),
  );
  return invocationId;
}

async function operate(id: string, operation: string): Promise<void> {
  const answer = await fetch(`${server.admin}/invocations/${id}/${operation}`, { method: "PATCH" });
  expect(answer.ok).toBe(true);
}

async function shows(id: string, status: string): Promise<Row> {
  const { rows } = asking(server.admin, async () => {});
  let row: Row | undefined;
  await until(`it to be ${status}`, async () => {
    [row] = await rows(`select status, retry_count, last_start_at, next_retry_at,
      last_attempt_deployment_id as deployment, last_attempt_server as sdk, last_failure,
      last_failure_error_code as code, last_failure_related_command_name as command
      from sys_invocation where id = '${id}'`);
    return row?.["status"] === status;
  }, WAIT_MS);
  return row ?? {};
}

const deployment = expect.stringMatching(/^dp_1/);
const sdk = expect.stringMatching(/^restate-sdk-typescript\//);
const time = expect.stringMatching(/^\d{4}-.*Z$/);
const upstream = {
  last_start_at: time,
  deployment,
  sdk,
  last_failure: expect.stringMatching(/^\[500 Internal\] upstream 503/),
  code: "RT0007",
  command: "call-upstream",
};

test("an invocation that waits for a retry shows the attempt that failed", async () => {
  expect(await shows(ids.backsOff, "backing-off"))
    .toEqual({ status: "backing-off", retry_count: 1, next_retry_at: time, ...upstream });
});

test("an invocation paused before a retry shows it too, and no retry", async () => {
  expect(await shows(ids.paused, "paused"))
    .toEqual({ status: "paused", retry_count: 1, ...upstream });
  const { rows } = asking(server.admin, async () => {});
  const running = await rows("select id, in_flight from sys_invocation_state order by id");
  expect(running).toEqual(
    [ids.backsOff, ids.unreached].sort().map((id) => ({ id, in_flight: false })),
  );
});

test("a failure shows its code as a number only, which elsewhere has a name", async () => {
  const { rows } = asking(server.admin, async () => {});
  for (const table of ["sys_invocation", "sys_invocation_status"]) {
    const ended = await rows(
      `select completion_failure as text from ${table} where id = '${ids.broken}'`,
    );
    expect(ended).toEqual([{ text: "[500] no code given" }]);
  }
});

test("an invocation without attempts left shows none", async () => {
  expect(await shows(ids.gaveUp, "paused")).toEqual({ status: "paused" });
});

test("the failure of an unreachable endpoint names no SDK", async () => {
  expect(await shows(ids.unreached, "backing-off")).toEqual({
    status: "backing-off",
    retry_count: 1,
    last_start_at: time,
    next_retry_at: time,
    deployment,
    last_failure: expect.stringContaining("error when calling"),
    code: "RT0010",
  });
});

test("it survives the server, and an early retry that reaches no endpoint adds to it", async () => {
  const all = () => Promise.all(Object.values(ids).map((id) => shows(id, status(id))));
  const status = (id: string) => {
    if (id === ids.broken) return "completed";
    return [ids.paused, ids.gaveUp].includes(id) ? "paused" : "backing-off";
  };
  const before = await all();
  await server.crash();
  expect(await all()).toEqual(before);
  await operate(ids.backsOff, "resume");
  await until("the second failure", async () => {
    const { retry_count } = await shows(ids.backsOff, "backing-off");
    return retry_count === 2;
  }, WAIT_MS);
  const { last_start_at: at, ...again } = await shows(ids.backsOff, "backing-off");
  expect(again).toMatchObject({ deployment, sdk, code: "RT0010" });
  expect(Date.parse(String(at))).toBeGreaterThan(Date.parse(String(before[0]?.["last_start_at"])));
});
