import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { freePorts, until } from "../support/child.ts";
import { Distance } from "../support/distance.ts";
import { type RuntimeName, Server } from "../support/server.ts";
import { type Sqld, startSqld } from "../support/sqld.ts";
import { Balancer } from "./_balancer.ts";

export const HEARTBEAT_MS = 250;
export const LEASE_MS = 1_500;

/** A process of the fleet, and its own way to the database. */
export interface Member {
  readonly server: Server;
  readonly distance: Distance;
  /** Where the other processes reach it. */
  readonly peers: string;
  /** What is in between. */
  readonly way: Distance;
}

export interface FleetOptions {
  readonly program: string;
  readonly processes: number;
  readonly partitions: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** Of one process, by its number. */
  readonly settingsOf?: (n: number) => Readonly<Record<string, string>>;
  /** Further variables of one process. */
  readonly envOf?: (n: number) => Readonly<Record<string, string>>;
  /** By number of the process. Default: Node, or Deno with FLEET_RUNTIME=deno. */
  readonly runtimes?: readonly RuntimeName[];
}

export const SECRET = "a-secret-of-this-test";

/** Several processes over one database server, and one address for all of them. */
export class TestFleet {
  readonly sqld: Sqld;
  readonly members: readonly Member[];
  readonly ingress: string;
  readonly admin: string;
  readonly #balancers: readonly Balancer[];

  constructor(sqld: Sqld, members: readonly Member[], balanced: Balanced) {
    this.sqld = sqld;
    this.members = members;
    this.#balancers = balanced.balancers;
    [this.ingress, this.admin] = balanced.urls;
  }

  static async start(options: FleetOptions): Promise<TestFleet> {
    const sqld = await startSqld(options.program);
    const members: Member[] = [];
    for (let n = 0; n < options.processes; n++) members.push(await memberOf(sqld, options, n));
    const fleet = new TestFleet(sqld, members, await balance(members));
    await Promise.all(members.map(({ server }) => server.start()));
    return fleet;
  }

  member(n: number): Member {
    const member = this.members[n];
    if (!member) throw new Error(`There is no process ${n}`);
    return member;
  }

  /** The owner of each partition, by its address, as the database has it. Empty: none. */
  async owners(): Promise<string[]> {
    const ask = "select coalesce(node.address, '') from lease left join node on node.id = owner " +
      "order by partition";
    const answer = await fetch(this.sqld.url, {
      method: "POST",
      body: JSON.stringify({ statements: [ask] }),
    });
    const [{ results }] = await answer.json() as [{ results: { rows: [string][] } }];
    return results.rows.map(([address]) => address);
  }

  /** Waits until every partition has an owner that lives, and all these have as many, or one more. */
  async settled(members: readonly Member[] = this.members): Promise<void> {
    await until("partitions to be spread", async () => {
      const owners = await this.owners();
      const counts = members.map(({ peers }) => owners.filter((one) => one === peers).length);
      const sum = counts.reduce((a, b) => a + b, 0);
      return sum === owners.length && Math.max(...counts) - Math.min(...counts) <= 1;
    }, 30_000);
  }

  logs(): string {
    return this.members.map(({ server, peers }) => `== ${peers}\n${server.logs().slice(-6000)}`)
      .join("\n");
  }

  async close(): Promise<void> {
    await Promise.all([
      ...this.#balancers.map((balancer) => balancer.close()),
      ...this.members.map(({ server }) => server.close()),
    ]);
    await Promise.all(this.members.flatMap(({ distance, way }) => [distance.close(), way.close()]));
    await this.sqld.close();
  }
}

interface Balanced {
  readonly balancers: readonly Balancer[];
  readonly urls: readonly [ingress: string, admin: string];
}

async function balance(members: readonly Member[]): Promise<Balanced> {
  const ingress = new Balancer(members.map(({ server }) => server.ingress));
  const admin = new Balancer(members.map(({ server }) => server.admin));
  return { balancers: [ingress, admin], urls: [await ingress.listen(), await admin.listen()] };
}

async function memberOf(
  sqld: Sqld,
  { partitions, settings, settingsOf, envOf, runtimes }: FleetOptions,
  n: number,
): Promise<Member> {
  const distance = new Distance({ target: new URL(sqld.url), delayMs: 0 });
  const url = await distance.listen();
  const [ingress = 0, admin = 0, port = 0] = await freePorts(3);
  const way = new Distance({ target: new URL(`http://127.0.0.1:${port}`), delayMs: 0 });
  const own = settingsOf?.(n) ?? {};
  const plain = await way.listen();
  const peers = own["FLEET__TLS__CERT_FILE"] ? plain.replace("http:", "https:") : plain;
  const server = new Server(
    {
      // FLEET_RUNTIME=deno
      runtime: runtimes?.[n] ?? (process.env["FLEET_RUNTIME"] === "deno" ? "deno" : "node"),
      settings: {
        STORAGE__DATABASE_URL: url,
        DEFAULT_NUM_PARTITIONS: String(partitions),
        FLEET__SECRET: SECRET,
        FLEET__BIND_PORT: String(port),
        FLEET__ADVERTISED_ADDRESS: peers,
        FLEET__HEARTBEAT_INTERVAL: `${HEARTBEAT_MS}ms`,
        FLEET__LEASE_DURATION: `${LEASE_MS}ms`,
        STORAGE__REQUEST_TIMEOUT: "2s",
        ...settings,
        ...own,
      },
      env: envOf?.(n) ?? {},
    },
    [ingress, admin],
    mkdtempSync(path.join(tmpdir(), "fleet-")),
  );
  return { server, distance, peers, way };
}
