import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callOnce } from "../crash/_retry.ts";
import { until } from "../support/child.ts";
import { get, manage, register } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { PlayedSidecar } from "../support/played_sidecar.ts";
import { sqldProgram } from "../support/sqld.ts";
import { TestFleet } from "./_fleet.ts";

const program = await sqldProgram();

describe.skipIf(!program)("Kafka with two processes over one database", () => {
  let fleet: TestFleet, endpoint: Endpoint;
  beforeAll(async () => {
    [fleet, endpoint] = await Promise.all([
      TestFleet.start({ program: program ?? "", processes: 2, partitions: 4 }),
      startEndpoint("h2"),
    ]);
    await fleet.settled();
  }, 60_000);
  afterAll(() => Promise.all([fleet?.close(), endpoint?.close()]));

  const servers = () => {
    const [one, two] = fleet.members.map(({ server }) => server);
    if (!one || !two) throw new Error("there are two");
    return [one, two] as const;
  };

  /** A subscription that the first process is asked for, and a sidecar of each process. */
  async function subscribed(name: string, sink: string) {
    const [one, two] = servers();
    const properties = { "bootstrap.servers": "127.0.0.1:1" };
    const cluster = await manage(one, "POST /kafka-clusters", { name, properties });
    expect(cluster.status).toBe(201);
    const source = `kafka://${name}/t`;
    const { body } = await manage(one, "POST /subscriptions", { source, sink });
    const { id } = body as { id: string };
    return { id, first: new PlayedSidecar(one, id), second: new PlayedSidecar(two, id) };
  }

  test("what one is asked for is in the plan of the other, which waits for it", async () => {
    const [one] = servers();
    await register(one, endpoint);
    const { id, first, second } = await subscribed("plan", "service://Greeter/greet");
    const plans = await Promise.all(
      [first, second].map((sidecar) => sidecar.ask("plan").then((answer) => answer.json())),
    );
    expect(plans[1]).toEqual(plans[0]);
    const [next] = await Promise.all([
      second.ask(`plan?known=${plans[0].version}&wait=30000`).then((answer) => answer.json()),
      manage(one, `PATCH /subscriptions/${id}`, { paused: true }),
    ]);
    expect(next.subscriptions).toMatchObject([{ id, paused: true }]);
  });

  test("what is reported to one is shown by the other, also in SQL", async () => {
    const [, two] = servers();
    const { id, first } = await subscribed("report", "service://Greeter/greet");
    await first.report("blocked", [{ topic: "t", partition: 0, position: 3, end: 9 }]);
    expect((await get(`${two.admin}/subscriptions/${id}`)).body).toMatchObject({
      state: "blocked",
      partitions: [{ topic: "t", partition: 0, position: 3, end: 9, lag: 6 }],
    });
    const query = `SELECT s.state, p.lag FROM sys_subscription s
      JOIN sys_subscription_partition p ON p.subscription_id = s.id WHERE s.id = '${id}'`;
    const answer = await fetch(`${two.admin}/query`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ query }),
    });
    expect(await answer.json()).toEqual({ rows: [{ state: "blocked", lag: 6 }] });
  });

  test("records are taken by either, each once, for partitions of both", async () => {
    const [, two] = servers();
    const { first, second } = await subscribed("records", "service://Counter/add");
    const bytes = (text: string) => new TextEncoder().encode(text);
    const all = Array.from(
      { length: 40 },
      (_, n) => ({ key: bytes(`f${n % 8}`), value: bytes("1") }),
    );
    expect(await first.records(0, all.slice(0, 25))).toEqual({ next: 25 });
    expect(await second.records(10, all.slice(10))).toEqual({ next: 40 });
    expect(await first.records(0, all)).toEqual({ next: 40 });
    for (let n = 0; n < 8; n++) {
      const sum = async () =>
        (await callOnce(two, `Counter/f${n}/add`, { body: 0, key: `sum of ${n} ${Date.now()}` }))
          .body;
      await until("all of a key", async () => await sum() === 5);
    }
  });
});
