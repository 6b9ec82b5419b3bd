import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { until } from "../support/child.ts";
import { call, query, register } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { sqldProgram } from "../support/sqld.ts";
import { TestFleet } from "./_fleet.ts";

vi.setConfig({ testTimeout: 90_000 });

const WITHIN_MS = 30_000;
const KEYS = Array.from({ length: 24 }, (_, index) => `key-${index}`);
const COUNT = "select count(*) as n from sys_invocation";
const program = await sqldProgram();

interface Cluster {
  readonly metadata_cluster_health: { readonly members: readonly number[] };
  readonly members: readonly {
    readonly address: string;
    readonly partitions: readonly number[];
    readonly reached: boolean;
    readonly cause?: string;
  }[];
}

describe.skipIf(!program)("in a fleet", () => {
  let fleet: TestFleet, endpoint: Endpoint;
  beforeAll(async () => {
    const options = { program: program ?? "", processes: 3, partitions: 6 };
    [fleet, endpoint] = await Promise.all([TestFleet.start(options), startEndpoint("h2")]);
    await register(fleet, endpoint);
    await fleet.settled();
  }, 60_000);
  afterAll(() => Promise.all([fleet?.close(), endpoint?.close()]));

  const refused = async (settings: Readonly<Record<string, string>>) => {
    const { end, output } = await fleet.member(0).server.rival({
      FLEET__BIND_PORT: "0",
      FLEET__ADVERTISED_ADDRESS: "",
      FLEET__ADDRESS_CHECK_TIMEOUT: "500ms",
      ...settings,
    });
    expect(end, output).toBe(1);
    expect(await fleet.owners()).toHaveLength(6);
    return output.split("\n").find((line) => line.startsWith("[")) ?? output;
  };

  test("a process whose address leads nowhere does not start", async () => {
    const output = await refused({ FLEET__ADVERTISED_ADDRESS: "http://127.0.0.1:1" });
    expect(output).toMatch(/^\[RT0030\] .*127\.0\.0\.1:1 by itself: .*fleet\.advertised-address/);
  });

  test("a process whose address leads to another one does not start", async () => {
    const output = await refused({ FLEET__ADVERTISED_ADDRESS: fleet.member(1).peers });
    expect(output).toMatch(/^\[RT0030\] .*another process answers there/);
  });

  test("a process with another secret does not start", async () => {
    const output = await refused({ FLEET__SECRET: "another-secret-of-this" });
    expect(output).toMatch(/^\[RT0031\] .*http:\/\/127\.0\.0\.1:\d+ has another "fleet\.secret"/);
  });

  const cluster = async (n: number): Promise<Cluster> => {
    const answer = await fetch(`${fleet.member(n).server.admin}/cluster-health`);
    return await answer.json() as Cluster;
  };

  test("the members and their partitions are reported", async () => {
    const { metadata_cluster_health, members } = await cluster(0);
    expect(metadata_cluster_health).toEqual({ members: [1, 2, 3] });
    expect(members.map(({ address }) => address).sort())
      .toEqual(fleet.members.map(({ peers }) => peers).sort());
    expect(members.flatMap(({ partitions }) => partitions).sort()).toEqual([0, 1, 2, 3, 4, 5]);
    expect(members.every(({ reached }) => reached)).toBe(true);
  });

  test("a process that the others cannot reach gives its partitions to them, until they can", async () => {
    const [lost, seer] = [fleet.member(0), fleet.member(1)];
    lost.way.isCut = true;
    lost.way.reset();
    // As long as it owns partitions, a query would miss what it has committed.
    const early = await query(seer.server, COUNT).then(() => "answered", String);
    expect(early).toMatch(new RegExp(`answered|at ${lost.peers} does not answer`));
    await fleet.settled(fleet.members.slice(1));

    for (const key of KEYS) {
      expect((await call(seer.server, `Counter/${key}/add`, 1)).status, key).toBe(200);
    }
    expect(await query(seer.server, COUNT)).toHaveLength(1);
    const told = (await cluster(1)).members.find(({ address }) => address === lost.peers);
    expect(told).toMatchObject({ partitions: [], reached: false, cause: expect.any(String) });
    expect(seer.server.logs()).toMatch(
      new RegExp(`Another process of the fleet cannot be reached.*${lost.peers}`),
    );
    const metrics = await fetch(`${seer.server.admin}/metrics`).then((answer) => answer.text());
    expect(metrics).toContain("perdure_fleet_members 3\n");
    expect(metrics).toContain("perdure_fleet_members_unreached 1\n");
    expect(metrics).toContain(`perdure_fleet_partitions{address="${lost.peers}"} 0\n`);
    const ready = await fetch(`${lost.server.admin}/ready`);
    expect([ready.status, await ready.text()]).toEqual([
      503,
      expect.stringContaining("cannot reach each other"),
    ]);

    lost.way.isCut = false;
    lost.way.reset();
    await fleet.settled();
    await until("it to be ready again", async () => (
      (await fetch(`${lost.server.admin}/ready`)).status === 200
    ), WITHIN_MS);
    for (const key of KEYS) {
      expect((await call(lost.server, `Counter/${key}/add`, 1)).status, key).toBe(200);
    }
  });
});
