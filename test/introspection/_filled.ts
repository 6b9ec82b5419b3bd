import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePorts, until } from "../support/child.ts";
import { Endpoint } from "../support/endpoint.ts";
import { type RuntimeName, type Server, startServer } from "../support/server.ts";
import { asServer, startWorkerd } from "../workerd/_server.ts";

const SCRIPT = path.join(import.meta.dirname, "_services.mjs");

/** A server on which every handler of `_services.mjs` has run, or runs. */
export interface Filled {
  /** Rows of a statement, as JSON. Rejects when it is refused. */
  rows(query: string): Promise<Record<string, unknown>[]>;
  ask(query: string, accept?: string): Promise<Response>;
  /** Where callers reach it, when that is known. */
  readonly ingress?: string;
  close(): Promise<void>;
}

/** With `PEER` set to an admin address, that server is queried; it must be filled already. */
export async function startFilled(
  runtime: RuntimeName | "workerd" = "node",
  own: Readonly<Record<string, string>> = {},
): Promise<Filled> {
  const peer = process.env["PEER"];
  if (peer) return asking(peer, async () => {});
  const [port = 0] = await freePorts(1);
  const isWorkerd = runtime === "workerd";
  const endpoint = new Endpoint(isWorkerd ? "h1" : "h2", port, { script: SCRIPT });
  // An invocation that waits for a retry waits until the test is over.
  const settings = {
    DEFAULT_RETRY_POLICY__INITIAL_INTERVAL: "1h",
    DEFAULT_RETRY_POLICY__MAX_INTERVAL: "1h",
    ADMIN__QUERY_ENGINE__TIMEOUT: "3s",
    // An attempt that hangs is not aborted during the test.
    WORKER__INVOKER__ABORT_TIMEOUT: "1h",
    LOG_LEVEL: "info",
    ...own,
  };
  const starting = isWorkerd
    ? startWorkerd({ settings }).then(asServer)
    : startServer({ runtime, settings });
  const [server] = await Promise.all([starting, endpoint.start()]);
  const filled = asking(server.admin, async () => {
    await Promise.all([server.close(), endpoint.close()]);
  });
  await fill(server, endpoint);
  const { ingress } = server;
  const left = "status NOT IN ('completed', 'scheduled', 'suspended', 'paused', 'pending')";
  await until("invocations to reach their last status", async () => {
    const rows = await filled.rows(`SELECT status FROM sys_invocation WHERE ${left}`);
    const statuses = rows.map(({ status }) => status).sort();
    return statuses.join() === "backing-off,running";
  }, 20_000);
  return { ...filled, ingress };
}

/** Asks the server with this admin address. */
export function asking(admin: string, close: () => Promise<void>): Filled {
  const ask = (query: string, accept?: string) =>
    fetch(`${admin}/query`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(accept && { accept }) },
      body: JSON.stringify({ query }),
    });
  const rows = async (query: string) => {
    const answer = await ask(query, "application/json");
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${answer.status} ${text} for ${query}`);
    return JSON.parse(text).rows;
  };
  return { ask, rows, close };
}

const RULES = [
  { pattern: "*", limits: { concurrency: 5 }, description: "for all, \ue000 too" },
  { pattern: "a/b", limits: { rate: { count: 100, period: "90s", burst: 20 } }, disabled: true },
];

async function fill(server: Server, endpoint: Endpoint): Promise<void> {
  await post(`${server.admin}/deployments`, {
    uri: endpoint.url,
    use_http_11: endpoint.transport === "h1",
  });
  await fetch(`${server.admin}/limits/rules`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(RULES),
  });
  const properties = { "bootstrap.servers": "127.0.0.1:1" };
  await post(`${server.admin}/kafka-clusters`, { name: "k", properties });
  const subscription = { source: "kafka://k/orders", sink: "service://Cart/add" };
  await post(`${server.admin}/subscriptions`, subscription);
  const at = (path: string) => `${server.ingress}/restate/${path}`;
  await post(at("call/Cart/alice/add"), 1);
  const { invocationId } = JSON.parse(await post(at("send/Greeter/sleeper"), "x"));
  await post(at("send/Greeter/hang"), "x");
  // One that is canceled before its timer is made would not have it in its journal.
  await sleep(100);
  await post(at("call/Greeter/all"), invocationId);
  await post(at("send/Signup/u1/run"), {});
  for (const handler of ["Greeter/fail", "Greeter/flaky", "Greeter/pauser", "Greeter/awaits"]) {
    await post(at(`send/${handler}`), 1);
  }
  for (const handler of ["hold", "add", "add"]) await post(at(`send/Cart/held/${handler}`), 1);
  await post(at("call/Cart/alice/lazy"), {});
  await post(at("call/Greeter/greet"), "idem", { "idempotency-key": "k1" });
  await post(at("send/Greeter/greet?delay=1h"), "later");
}

/** The text of an answer that is no failure. */
export async function post(url: string, body: unknown, headers = {}): Promise<string> {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} ${text} from ${url}`);
  return text;
}
