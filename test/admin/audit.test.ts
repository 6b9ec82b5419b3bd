import { expect, test } from "vitest";
import { ACCESS, auditedOf } from "../../src/admin/access.ts";
import type { AuditLimits, AuditRecord, AuditStore } from "../../src/audit_port.ts";
import { until } from "../support/child.ts";
import { authenticatorOf, shows } from "../support/tokens.ts";
import { discovered, type FakeStore, service, setup } from "./_setup.ts";

/** Routes that are no GET and are not recorded: a new one is, until it is written here. */
const SILENT = [
  "POST /internal/kafka/letters",
  "POST /internal/kafka/records",
  "POST /internal/kafka/reports",
  "POST /internal/services/:service/serdes/decode/:serde+",
  "POST /internal/services/:service/serdes/encode/:serde+",
  "POST /internal/ui/calls-token",
  "POST /query",
];

/** They are recorded, and their own tests say so (`sessions.test.ts`): they look at no header. */
const SIGNING = ["POST /internal/ui/session", "DELETE /internal/ui/session"];

class Records implements AuditStore {
  readonly all: AuditRecord[] = [];
  readonly pruned: AuditLimits[] = [];
  failure: Error | undefined;
  writes = 0;
  /** Resolves writes when it is called. */
  gate: Promise<void> = Promise.resolve();

  async add(records: readonly AuditRecord[]): Promise<void> {
    this.writes++;
    await this.gate;
    if (this.failure) throw this.failure;
    this.all.push(...records);
  }

  prune(limits: AuditLimits): Promise<void> {
    this.pruned.push(limits);
    return Promise.resolve();
  }
}

const SETTINGS = { retentionMs: 1000, rowsMax: 100, refusedMax: 1, withQueries: false };
const JSON_TYPE = { "content-type": "application/json" };

async function audited(settings = {}, store?: FakeStore) {
  const records = new Records();
  const authenticator = await authenticatorOf(["viewer", "operator", "admin"]);
  const audit = { ...SETTINGS, ...settings };
  const addressOf = () => "192.0.2.7";
  const parts = { authenticator, audit, auditStore: records, addressOf };
  const served = await setup(store, parts);
  const as = (role: string, method: string, path: string, body?: unknown) =>
    served.send(method, path, {
      headers: { ...JSON_TYPE, ...shows(role) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return { ...served, records, as };
}

type As = Awaited<ReturnType<typeof audited>>["as"];
const change = (as: As) => as("admin", "PUT", "/limits/rules", []);

test("every route that may change something is recorded", () => {
  const changing = Object.keys(ACCESS).filter((route) => !route.startsWith("GET "));
  expect(changing.filter((route) => auditedOf(route) !== "change").toSorted()).toEqual(SILENT);
  for (const route of changing.filter((one) => !SILENT.includes(one) && !SIGNING.includes(one))) {
    expect(["operator", "admin"]).toContain(ACCESS[route]);
  }
});

test("every such route is recorded when it is refused, with its parameters", async () => {
  const { send, records } = await audited({ refusedMax: 1000 });
  const changing = Object.keys(ACCESS)
    .filter((route) => auditedOf(route) === "change" && !SIGNING.includes(route));
  for (const route of changing) {
    const [method = "", path = ""] = route.split(" ");
    const headers = shows("wrong");
    expect((await send(method, path.replace(/:\w+\+?/g, "none"), { headers })).status).toBe(401);
    const last = records.all.at(-1)!;
    expect(`${last.method} ${last.route}`).toBe(route);
    expect(last).toMatchObject({ identity: null, status: 401, remoteAddress: "192.0.2.7" });
    const names = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => [name, "none"]);
    expect(last.target).toEqual(Object.fromEntries(names));
  }
  expect(records.all).toHaveLength(changing.length);
});

test("a change has who did it, what it made, and no secret of its body", async () => {
  const { as, endpoints, records, logged } = await audited();
  const uri = "http://localhost:9080/";
  endpoints.set(uri, discovered([service("A")]));
  const body = { uri, additional_headers: { "x-api": "secret-of-endpoint" } };
  const { id } = (await as("admin", "POST", "/deployments", body)).json;
  await as("admin", "DELETE", `/deployments/${id}?force=true`);
  await as("operator", "DELETE", `/deployments/${id}`);
  expect(records.all).toMatchObject([
    {
      identity: "admin",
      route: "/deployments",
      status: 201,
      target: { created: `deployments/${id}` },
    },
    { identity: "admin", method: "DELETE", status: 202, target: { deployment: id, force: "true" } },
    { identity: "operator", status: 403, target: { deployment: id } },
  ]);
  const lines = logged.filter(({ message }) => message === "A change through the admin API");
  expect(lines.map(({ fields }) => fields["status"])).toEqual([201, 202, 403]);
  expect(JSON.stringify([records.all, logged])).not.toContain("secret-of-endpoint");
});

test("ids in bodies are recorded, the first of many", async () => {
  const { as, records } = await audited();
  const ids = Array.from({ length: 30 }, () => "inv_1aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
  const path = "/internal/invocations_batch_operations/kill";
  await as("operator", "POST", path, { invocation_ids: ids });
  expect(records.all[0]!.target["invocation_ids"]).toMatch(/^inv_1a+(, inv_1a+){19}, … \(30\)$/);
});

test("reads are not recorded, and queries where a setting says so, without their text", async () => {
  for (const withQueries of [false, true]) {
    const { as, records } = await audited({ withQueries });
    await as("viewer", "GET", "/deployments");
    await as("viewer", "POST", "/query", { query: "select 'secret-text'" });
    expect(records.all.map(({ route }) => route)).toEqual(withQueries ? ["/query"] : []);
    expect(JSON.stringify(records.all)).not.toContain("secret-text");
  }
});

test("of a flood of refused changes some are recorded, and all are counted", async () => {
  const { as, records, world } = await audited();
  for (let i = 0; i < 100; i++) await as("viewer", "DELETE", "/deployments/dp_none");
  const { length } = records.all;
  expect(length).toBe(10);
  world.pass(5000);
  await as("viewer", "DELETE", "/deployments/dp_none");
  expect(records.all.at(-1)).toMatchObject({ omitted: 90, status: 403 });
  // Changes are not bounded by it.
  for (let i = 0; i < 30; i++) await change(as);
  expect(records.all.filter(({ identity }) => identity === "admin")).toHaveLength(30);
});

test("a change is answered when its record is durable, and one write has those that wait", async () => {
  const { as, records, logged } = await audited();
  let open = () => {};
  records.gate = new Promise((resolve) => open = resolve);
  let answers = 0;
  const all = Array.from({ length: 20 }, async () => {
    await change(as);
    answers++;
  });
  await until("all to wait", () => logged.length === 20);
  expect([answers, records.all.length]).toEqual([0, 0]);
  open();
  await Promise.all(all);
  expect(records.all).toHaveLength(20);
  expect(records.writes).toBeLessThanOrEqual(2);
});

test("what cannot be stored is in the log, and the change is answered", async () => {
  const { as, records, logged } = await audited();
  records.failure = new Error("disk full");
  expect((await change(as)).status).toBe(200);
  expect(logged).toContainEqual(expect.objectContaining({ level: "error" }));
  expect(logged).toContainEqual(
    expect.objectContaining({ message: "A change through the admin API" }),
  );
});

test("old records are dropped, and those beyond a number", async () => {
  const { as, records, world } = await audited();
  await change(as);
  expect(records.pruned).toEqual([{ before: world.now - 1000, rowsMax: 100 }]);
  const unstored = await audited({ retentionMs: 0 });
  await change(unstored.as);
  expect(unstored.records.all).toEqual([]);
});
