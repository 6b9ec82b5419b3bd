import { readFileSync } from "node:fs";
import process from "node:process";
import { afterEach, describe, expect, test } from "vitest";
import { until } from "../support/child.ts";
import { get, manage, register } from "../support/client.ts";
import { startEndpoint } from "../support/endpoint.ts";
import { type RuntimeName, type Server, startServer } from "../support/server.ts";

const servers: Server[] = [];
const sidecars = new Set<number>();
afterEach(async () => {
  // Those that outlived a server keep its output open.
  for (const pid of sidecars) end(pid, "SIGKILL");
  sidecars.clear();
  for (const server of servers.splice(0)) await server.close();
});

function end(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended already.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function start(runtime: RuntimeName, settings = {}): Promise<Server> {
  const server = await startServer({ runtime, settings: { KAFKA__SIDECAR: "auto", ...settings } });
  servers.push(server);
  return server;
}

/** Ids of the processes that a server says it has started. */
function startedBy(server: Server): number[] {
  const found = [...server.logs().matchAll(/"The Kafka sidecar is started","pid":(\d+)/g)];
  for (const [, pid] of found) sidecars.add(Number(pid));
  return found.map(([, pid]) => Number(pid));
}

async function sidecarOf(server: Server): Promise<number> {
  await until("a sidecar", () => startedBy(server).length > 0);
  await until("it to follow the plan", () => server.logs().includes("The sidecar runs"));
  return startedBy(server)[0]!;
}

/** `stop` would wait for the sidecar as well, which has the same output. */
async function killed(server: Server): Promise<void> {
  server.signal("SIGKILL");
  await until("the server to be gone", () => !isAlive(server.pid ?? 0));
}

/** Nothing listens there: the sidecar is up all the same. */
const cluster = { name: "c", properties: { "bootstrap.servers": "127.0.0.1:1" } };

async function createCluster(server: Server): Promise<void> {
  const answer = await manage(server, "POST /kafka-clusters", cluster);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
}

describe.each(["node", "deno"] as const)("the sidecar of a server on %s", (runtime) => {
  test("is started with the first cluster, and ends with the last one", async () => {
    const server = await start(runtime);
    expect(startedBy(server)).toEqual([]);
    await createCluster(server);
    const pid = await sidecarOf(server);
    const answer = await manage(server, "DELETE /kafka-clusters/c", undefined);
    expect(answer.status).toBe(202);
    await until("it to end", () => !isAlive(pid));
  });

  test("ends with its server", async () => {
    const server = await start(runtime);
    await createCluster(server);
    const pid = await sidecarOf(server);
    expect(await server.stop("SIGTERM")).toBe(0);
    expect(isAlive(pid)).toBe(false);
    expect(server.logs()).not.toMatch(/Cannot wait for a plan|undefined/);
  });

  test("is started again when it ends", async () => {
    const server = await start(runtime);
    await createCluster(server);
    end(await sidecarOf(server), "SIGKILL");
    await until("another one", () => startedBy(server).length === 2);
    expect(server.logs()).toContain("The Kafka sidecar has ended and is started again");
  });
});

test("a sidecar outlives the crash of its server, and the next one starts no other", async () => {
  const server = await start("node");
  await createCluster(server);
  const pid = await sidecarOf(server);
  await killed(server);
  expect(isAlive(pid)).toBe(true);
  await server.start();
  // The new server relies on it, and starts another one only when it has gone.
  await until("it to wait for a plan", () => server.said().includes("is ready"));
  await manage(server, "POST /kafka-clusters", { ...cluster, name: "d" });
  expect(startedBy(server)).toEqual([pid]);
  expect(isAlive(pid)).toBe(true);
  end(pid, "SIGTERM");
  await until("another one", () => startedBy(server).length === 2);
});

test("a sidecar that was found at work ends with the server that found it", async () => {
  const server = await start("node");
  await createCluster(server);
  const pid = await sidecarOf(server);
  const endpoint = await startEndpoint("h2");
  try {
    await register(server, endpoint);
    await killed(server);
    await server.start();
    const subscription = { source: "kafka://c/t", sink: "service://Greeter/greet" };
    const { body } = await manage(server, "POST /subscriptions", subscription);
    const { id } = body as { id: string };
    // It is the only one that can say what is wrong with the broker.
    await until("its report", async () => {
      const { body } = await get(`${server.admin}/subscriptions/${id}`);
      return (body as { last_error?: object }).last_error !== undefined;
    });
  } finally {
    await endpoint.close();
  }
  expect(await server.stop("SIGTERM")).toBe(0);
  await until("it to end", () => !isAlive(pid));
  expect(startedBy(server)).toEqual([pid]);
});

test.each(["true", "false"])(
  "it runs commands for tokens if the server allows it: %s",
  async (allowed) => {
    const server = await start("node", { KAFKA__ALLOW_TOKEN_COMMANDS: allowed });
    await createCluster(server);
    const args = readFileSync(`/proc/${await sidecarOf(server)}/cmdline`, "utf8").split("\0");
    expect(args[args.indexOf("--kafka.allow-token-commands") + 1]).toBe(allowed);
  },
);

test("nothing is told without the token, and the log does not have it", async () => {
  const server = await start("node");
  await createCluster(server);
  await sidecarOf(server);
  const answer = await fetch(`${server.admin}/internal/kafka/plan`);
  expect(answer.status).toBe(401);
  expect(server.logs()).not.toMatch(/"authorization"|Bearer [0-9a-f]{16}/);
});

test("switched off, none is started", async () => {
  const server = await start("node", { KAFKA__SIDECAR: "off" });
  await createCluster(server);
  const wrong = await fetch(`${server.admin}/internal/kafka/plan`, {
    headers: { authorization: "Bearer of-somebody-else" },
  });
  expect(wrong.status).toBe(401);
  expect(startedBy(server)).toEqual([]);
});
