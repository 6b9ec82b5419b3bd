import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { freePorts, until } from "../support/child.ts";
import { query } from "../support/client.ts";
import { type RuntimeName, Server } from "../support/server.ts";
import { sqldProgram, startSqld } from "../support/sqld.ts";
import { asServer, WorkerdServer } from "../workerd/_server.ts";
import { type SdkEndpoint, startSdk } from "./_sdk.ts";

// Flow control can be switched on and off over existing data; of the reference it cannot.

const ON = {
  EXPERIMENTAL_ENABLE_VQUEUES: "true",
  EXPERIMENTAL_ENABLE_SCOPED_VIRTUAL_OBJECTS: "true",
};

type Settings = Readonly<Record<string, string>>;

/** Where rows are: as settings, and what is closed at the end. */
interface Place {
  readonly runtime: RuntimeName | "workerd";
  readonly settings?: Settings;
  /** Its rows are on a libSQL server. */
  readonly isOnSqld?: true;
  /** No SQL query can be asked. */
  readonly isMute?: true;
}

const PLACES: Readonly<Record<string, Place>> = {
  "Node": { runtime: "node" },
  "Node with a libSQL server": { runtime: "node", isOnSqld: true },
  "Node with 3 partitions": {
    runtime: "node",
    settings: { DEFAULT_NUM_PARTITIONS: "3", STORAGE__DATABASES: "each" },
  },
  "Deno": { runtime: "deno" },
  "workerd": { runtime: "workerd" },
  "workerd with 3 Durable Objects": {
    runtime: "workerd",
    settings: { DEFAULT_NUM_PARTITIONS: "3" },
    isMute: true,
  },
};
const sqld = await sqldProgram();

/** One life of a server after the other, on the same rows and ports. */
class Lives {
  readonly #place: Place;
  readonly #ports: readonly number[];
  readonly #folder = mkdtempSync(path.join(tmpdir(), "perdure-scopes-"));
  #server: Server | undefined;
  #sqld: Awaited<ReturnType<typeof startSqld>> | undefined;

  constructor(place: Place, ports: readonly number[]) {
    this.#place = place;
    this.#ports = ports;
  }

  async next(settings: Settings): Promise<Server> {
    const { isOnSqld } = this.#place;
    if (isOnSqld) this.#sqld ??= await startSqld(sqld ?? "");
    await this.#server?.stop();
    const rows = this.#sqld && { STORAGE__DATABASE_URL: this.#sqld.url };
    this.#server = this.#make({ ...this.#place.settings, ...rows, ...settings });
    await this.#server.start();
    return this.#server;
  }

  #make(settings: Settings): Server {
    const { runtime } = this.#place;
    return runtime === "workerd"
      ? asServer(new WorkerdServer(this.#folder, this.#ports, { settings }))
      : new Server({ runtime, settings }, this.#ports, this.#folder);
  }

  async close(): Promise<void> {
    await this.#server?.close();
    await this.#sqld?.close();
  }
}

let endpoint: SdkEndpoint;
let lives: Lives | undefined;

beforeAll(async () => {
  endpoint = await startSdk({ transport: "h2" });
}, 60_000);
afterEach(async () => await lives?.close());
afterAll(async () => await endpoint.close());

async function ask(
  url: string,
  body?: unknown,
  method = "POST",
): Promise<[status: number, body: unknown]> {
  const response = await fetch(url, {
    method,
    headers: { "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return [response.status, text === "" ? undefined : JSON.parse(text)];
}

async function features({ admin }: Server): Promise<unknown> {
  const { features } = await (await fetch(`${admin}/version`)).json();
  return features;
}

/** Sends to a handler that is held until `id` is released. */
async function sent(to: string, id: string): Promise<string> {
  const [status, body] = await ask(to, id);
  expect(status).toBe(202);
  return (body as { invocationId: string }).invocationId;
}

/** The protocol versions in which an invocation was spoken of. */
function versions(id: string): (string | undefined)[] {
  const types = endpoint.attempts(id).map(({ headers }) => headers["content-type"] ?? "");
  return [...new Set(types.map((type) => /invocation\.v(\d+)/.exec(type)?.[1]))];
}

/** What waits for a limit of its scope. */
async function waiting(server: Server): Promise<unknown[]> {
  const sql = "select id from sys_invocation where scope = 'blue' and status = 'pending'";
  return (await query(server, sql)).map(({ id }) => id);
}

const RULE = { pattern: "blue", limits: { concurrency: 1 } };
const IN_SCOPE = { scope: "blue", limitKey: "a" };
const scopedAt = ({ ingress }: Server) => `${ingress}/svc/scope/blue`;

/** Off: an invocation is pinned to version 6 of the protocol. */
async function pinned(server: Server, name: string): Promise<string> {
  expect((await ask(`${server.admin}/deployments`, { uri: endpoint.url }))[0]).toBe(201);
  const id = await sent(`${server.ingress}/svc/send/Plain/requestHeld`, name);
  await endpoint.happens(`${name} held`);
  expect(await features(server)).toMatchObject({ vqueues: false, protocol_v7: false });
  return id;
}

/** On: new ones in a scope have version 7. A rule lets one run, and the second one waits. */
async function scoped(server: Server, [runs, waits]: [string, string]): Promise<[string, string]> {
  expect(await features(server)).toMatchObject({
    vqueues: true,
    protocol_v7: true,
    scoped_virtual_objects: true,
  });
  const to = scopedAt(server);
  expect((await ask(`${to}/call/Store/k/put`, { n: 1 }))[0]).toBe(200);
  expect((await ask(`${server.admin}/limits/rules`, [RULE], "PUT"))[0]).toBe(200);
  const second = await sent(`${to}/send/Plain/requestHeld?limit-key=a`, runs);
  await endpoint.happens(`${runs} held`);
  const third = await sent(`${to}/send/Plain/requestHeld?limit-key=a`, waits);
  return [second, third];
}

/** On once more: the object in the scope has its state, the rule is there, and no slot is held. */
async function isWhole(server: Server): Promise<void> {
  expect(await ask(`${scopedAt(server)}/call/Store/k/all`)).toEqual([200, { n: 1 }]);
  const precondition = { type: "does_not_exist" };
  expect(await ask(`${server.admin}/limits/rules`, [{ ...RULE, precondition }], "PUT"))
    .toMatchObject([409, { message: expect.stringContaining("actual version: Some(v1)") }]);
  // One at a time may run, so that these end only if none holds a slot.
  for (let i = 0; i < 2; i++) {
    expect(await ask(`${scopedAt(server)}/call/Plain/request?limit-key=a`))
      .toMatchObject([200, IN_SCOPE]);
  }
}

test.each(Object.entries(PLACES).filter(([, { isOnSqld }]) => !isOnSqld || sqld !== undefined))(
  "flow control is switched on and off over existing data on %s",
  async (name, place) => {
    lives = new Lives(place, [...await freePorts(2)]);
    const [six, seven, eight] = [`${name}-six`, `${name}-seven`, `${name}-eight`] as const;
    const first = await pinned(await lives.next({}), six);

    const on = await lives.next(ON);
    // It goes on in version 6.
    await until("the second attempt", () => endpoint.attempts(first).length > 1);
    const [second, third] = await scoped(on, [seven, eight]);
    if (!place.isMute) {
      await until("the second one to wait", async () => (await waiting(on)).length === 1);
    }

    // Off again: what is in a scope goes on and is found, and nothing new gets in.
    const off = await lives.next({});
    if (!place.isMute) expect(await waiting(off)).toEqual([third]);
    await until("the one that ran to go on", () => endpoint.count(`${seven} held`) > 1);
    expect(endpoint.count(`${eight} held`)).toBe(0);
    for (const one of [six, seven, eight]) endpoint.release(one);
    const attach = async (id: string) => (await fetch(`${off.ingress}/svc/attach/${id}`)).json();
    expect(await attach(first)).toEqual({ id: six });
    expect(await attach(second)).toEqual({ id: seven, ...IN_SCOPE });
    expect(await attach(third)).toEqual({ id: eight, ...IN_SCOPE });
    expect([first, second, third].map(versions)).toEqual([["6"], ["7"], ["7"]]);
    expect(await ask(`${scopedAt(off)}/call/Plain/request`)).toMatchObject([400, {
      message: "scoped invocations require vqueues to be enabled",
    }]);

    const last = await lives.next(ON);
    await isWhole(last);
    if (place.isMute) return;
    expect(await query(last, "select * from sys_user_limits")).toEqual([]);
    expect(await query(last, "select pattern, concurrency from sys_rules"))
      .toEqual([{ pattern: "blue", concurrency: 1 }]);
  },
  120_000,
);
