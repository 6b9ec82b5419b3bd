import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callOnce, sendOnce } from "../crash/_retry.ts";
import { until } from "../support/child.ts";
import { manage, register } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { startServer } from "../support/server.ts";
import { sqldProgram } from "../support/sqld.ts";
import { LEASE_MS, SECRET, TestFleet } from "./_fleet.ts";

const program = await sqldProgram();
const PARTITIONS = 4;

describe.skipIf(!program)("three processes over one database", () => {
  let fleet: TestFleet, endpoint: Endpoint, other: Endpoint;

  beforeAll(async () => {
    [fleet, endpoint, other] = await Promise.all([
      TestFleet.start({ program: program ?? "", processes: 3, partitions: PARTITIONS }),
      startEndpoint("h2"),
      startEndpoint("h1"),
    ]);
    await fleet.settled();
  }, 60_000);
  afterAll(() => Promise.all([fleet?.close(), endpoint?.close(), other?.close()]));

  const servers = () => fleet.members.map(({ server }) => server);

  async function query(admin: string, sql: string): Promise<Record<string, unknown>[]> {
    const answer = await fetch(`${admin}/query`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ query: sql }),
    });
    const body = await answer.json();
    if (answer.status !== 200) throw new Error(JSON.stringify(body));
    return body.rows;
  }

  test("what is registered with one is known to all when it is answered", async () => {
    const [one, two, three] = servers();
    if (!one || !two || !three) throw new Error("there are three");
    expect((await register(one, endpoint)).status).toBe(201);
    for (const server of servers()) {
      const ask = { body: "x", key: `known to ${server.ingress}` };
      expect((await callOnce(server, "Greeter/greet", ask)).status).toBe(200);
    }
    // At once, with two of them: neither loses what the other has written.
    const both = await Promise.all([register(two, endpoint), register(three, other)]);
    expect(both.map(({ status }) => status)).toEqual([200, 201]);
    for (const { admin } of servers()) {
      const { deployments } = await fetch(`${admin}/deployments`).then((answer) => answer.json());
      expect(deployments).toHaveLength(2);
    }
  });

  test("what is limited with one is known to all when it is answered", async () => {
    const [one, two, three] = servers();
    if (!one || !two || !three) throw new Error("there are three");
    const entry = { pattern: "tenant", precondition: { type: "does_not_exist" } };
    const tries = await Promise.all(
      [...servers(), ...servers()].map((server) => manage(server, "PUT /limits/rules", [entry])),
    );
    expect(tries.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409, 409]);
    const limits = { concurrency: 1000, paused: true };
    expect((await manage(two, "PATCH /services/Fragile", limits)).status).toBe(200);
    for (const { admin } of servers()) {
      expect(await (await fetch(`${admin}/services/Fragile`)).json()).toMatchObject(limits);
      expect(await query(admin, "SELECT pattern FROM sys_rules")).toEqual([{ pattern: "tenant" }]);
    }
    const removal = [{ pattern: "tenant", expected_version: 1 }];
    expect((await manage(three, "POST /limits/rules/bulk-delete", removal)).body).toEqual([
      "tenant",
    ]);
    expect((await manage(one, "PATCH /services/Fragile", { paused: false })).status).toBe(200);
  });

  test("each takes requests for every partition, and each sees what all have done", async () => {
    const keys = Array.from({ length: 24 }, (_, n) => `k${n}`);
    await Promise.all(
      keys.flatMap((key) =>
        servers().map((server) =>
          callOnce(server, `Counter/${key}/add`, { body: 1, key: `${key}${server.admin}` })
        )
      ),
    );
    for (const server of servers()) {
      const { body } = await callOnce(server, "Counter/k0/add", { body: 0, key: server.admin });
      expect(body).toBe(3);
      const sql =
        "SELECT count(*) AS n FROM sys_invocation WHERE target_service_name = 'Counter' " +
        "AND target_service_key <> 'k0'";
      expect(await query(server.admin, sql)).toEqual([{ n: 23 * 3 }]);
    }
  });

  test("an operator may ask any of them", async () => {
    const ids = await Promise.all(
      servers().map((server, n) =>
        sendOnce(server, "Greeter/greet?delay=60s", { body: "x", key: `d${n}` })
      ),
    );
    const [one] = servers();
    for (const id of ids) {
      const url = `${one?.admin}/invocations/${id}/cancel`;
      expect([200, 202]).toContain((await fetch(url, { method: "PATCH" })).status);
    }
  });

  test("strangers learn nothing, and the secret is nowhere", async () => {
    const { peers } = fleet.member(0);
    const ask = (headers: Record<string, string>) =>
      fetch(`${peers}/partitions/0/output`, { method: "POST", headers, body: "x" });
    expect((await ask({})).status).toBe(401);
    const refused = await ask({ authorization: "Bearer another-secret-of-these" });
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.not.stringContaining(SECRET),
    ]);
    expect(fleet.logs()).not.toContain(SECRET);
  });

  test("one that leaves hands over what it has, and one that comes back gets its share", async () => {
    const { server } = fleet.member(1);
    const stopped = server.stop("SIGTERM");
    const rest = fleet.members.filter((member) => member.server !== server);
    await stopped;
    const left = Date.now();
    await fleet.settled(rest);
    const tookMs = Date.now() - left;
    await server.start();
    await fleet.settled();
    // No process waits for a lease to expire; this is much less than a lease even on a busy machine.
    expect(tookMs).toBeLessThan(LEASE_MS);
  });

  test("a call that waits goes on when its partition moves", async () => {
    const started = await sendOnce(fleet, "Counter/moved/add", { body: 1, key: "m1" });
    expect(started).toMatch(/^inv_/);
    for (const { server } of fleet.members.slice(0, 2)) {
      const waiting = Promise.all(
        Array.from(
          { length: 6 },
          (_, n) =>
            callOnce(fleet, `Counter/moved${n}/add`, { body: 1, key: `${server.admin}${n}` }),
        ),
      );
      await server.stop("SIGKILL");
      for (const { status } of await waiting) expect(status).toBe(200);
      await server.start();
    }
    await until(
      "the sum",
      async () =>
        (await callOnce(fleet, "Counter/moved0/add", { body: 0, key: `s${Math.random()}` }))
          .body === 2,
    );
  }, 60_000);
});

describe("settings that do not go together", () => {
  const CASES: [Record<string, string>, string][] = [
    [{ FLEET__SECRET: SECRET }, '"fleet.secret" needs "storage.database-url"'],
    [{ FLEET__SECRET: "short" }, "at least 16"],
    [
      {
        FLEET__SECRET: SECRET,
        FLEET__LEASE_DURATION: "2s",
        STORAGE__DATABASE_URL: "http://localhost:1",
      },
      '"fleet.lease-duration" must be at least 3 times',
    ],
    [
      {
        FLEET__SECRET: SECRET,
        FLEET__BIND_ADDRESS: "0.0.0.0",
        STORAGE__DATABASE_URL: "http://localhost:1",
      },
      '"fleet.advertised-address" is needed',
    ],
  ];
  test("are refused with what to do", async () => {
    const server = await startServer({ runtime: "node" });
    try {
      for (const [settings, message] of CASES) {
        const { end, output } = await server.rival(settings);
        expect([end, output]).toEqual([1, expect.stringContaining(message)]);
        expect(output).toContain("RT0002");
        expect(output).not.toContain(SECRET);
      }
    } finally {
      await server.close();
    }
  }, 30_000);
});
