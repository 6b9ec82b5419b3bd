import { chownSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Child, freePorts, until } from "../support/child.ts";
import { type Address, call, query, register, value } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Sqld, sqldProgram, startSqld } from "../support/sqld.ts";
import { entrypointOf, readCompose, serversOf } from "./_compose.ts";
import { Container } from "./_container.ts";
import { buildImage, type Image, inside } from "./_image.ts";

const BUILD_MS = 120_000;
const START_MS = 30_000;
const KEYS = Array.from({ length: 24 }, (_, index) => `key-${index}`);

vi.setConfig({ testTimeout: 90_000 });

const program = await sqldProgram();

interface Server extends Address {
  readonly container: Container;
}

/** What a server is given: what the compose file says, and ports of its own. */
type Settings = Readonly<Record<string, string>>;

/** Runs the service that makes the secrets, and answers the token of operators. */
async function makeSecrets(image: Image): Promise<string> {
  const { secrets } = readCompose().services;
  const folder = inside(image, "/secrets");
  const [file, script = "", ...args] = entrypointOf(secrets!, folder);
  const child = new Child([file, inside(image, script), ...args]);
  expect(await child.ended(), child.output()).toBe(0);
  // As in a volume that only containers of the image write.
  for (const name of readdirSync(folder)) chown(image, path.join(folder, name));
  return readFileSync(path.join(folder, "token"), "utf8").trim();
}

function chown({ user }: Image, file: string): void {
  if (process.getuid?.() !== 0) return;
  const [uid = 0, gid = 0] = user.split(":").map(Number);
  chownSync(file, uid, gid);
}

/** The environment of each server, with names and ports as they are on this machine. */
async function plan(image: Image, database: string): Promise<readonly Settings[]> {
  const servers = serversOf(readCompose());
  const ports = await Promise.all(servers.map(async () => (await freePorts(3)).map(String)));
  const replaced: readonly (readonly [string | RegExp, string])[] = [
    ["http://db:8080", database],
    ["/secrets", inside(image, "/secrets")],
    ...servers.map(([name], index) => [`${name}:5122`, `127.0.0.1:${ports[index]?.[2]}`] as const),
  ];
  const here = (value: string) =>
    replaced.reduce((text, [from, to]) => text.replace(from, to), value);
  return servers.map(([, { environment }], index) => {
    const [ingress = "", admin = "", fleet = ""] = ports[index] ?? [];
    const given = Object.entries(environment).map(([name, value]) => [name, here(value)]);
    return {
      ...Object.fromEntries(given),
      SVC_INGRESS__BIND_PORT: ingress,
      SVC_ADMIN__BIND_PORT: admin,
      SVC_FLEET__BIND_PORT: fleet,
    };
  });
}

function start(image: Image, settings: Settings, token: string): Server {
  return {
    container: new Container(image, settings),
    ingress: `http://127.0.0.1:${settings["SVC_INGRESS__BIND_PORT"]}`,
    admin: `http://127.0.0.1:${settings["SVC_ADMIN__BIND_PORT"]}`,
    token,
  };
}

/** Adds one, as a caller does who asks again when a server says that it cannot answer now. */
async function add(server: Server, key: string, id: string): Promise<void> {
  await until(`"${id}" for ${key}: ${server.container.output()}`, async () => {
    const headers = { "idempotency-key": id };
    const { status } = await call(server, `Counter/${key}/add`, 1, { headers });
    return status === 200;
  }, START_MS);
}

describe.skipIf(!program)("the servers of the compose file", () => {
  let image: Image, database: Sqld, endpoint: Endpoint;
  let servers: readonly Server[] = [];

  beforeAll(async () => {
    image = buildImage();
    database = await startSqld(program!);
    endpoint = await startEndpoint("h2");
    const token = await makeSecrets(image);
    servers = (await plan(image, database.url)).map((one) => start(image, one, token));
    for (const { container } of servers) {
      await until("HEALTHCHECK to say 0", async () => {
        if (!container.isAlive()) throw new Error(`The server ended: ${container.output()}`);
        return await container.check() === 0;
      }, START_MS);
    }
  }, BUILD_MS);

  afterAll(async () => {
    await Promise.all(servers.map(({ container }) => container.stop()));
    await endpoint?.close();
    await database?.close();
    image?.remove();
  }, BUILD_MS);

  test("share the work: what one was told the other knows, and both serve every key", async () => {
    const [first, second] = servers as [Server, Server];
    expect((await register(first, endpoint)).status).toBe(201);
    await Promise.all(KEYS.flatMap((key) => [add(first, key, "a"), add(second, key, "b")]));
    for (const server of servers) {
      // What the other one has committed gets into the tables a little later.
      await until("the rows of all partitions", async () => {
        const [row] = await query(server, "select count(*) as n from sys_invocation");
        return row?.["n"] === 2 * KEYS.length;
      }, START_MS);
    }
  });

  test("ask for the token, and hand the sidecar of the file its plan", async () => {
    for (const { admin, ingress } of servers) {
      expect((await fetch(`${admin}/deployments`)).status).toBe(401);
      expect((await fetch(`${ingress}/Counter/k/get`, { method: "POST" })).status).toBe(401);
    }
    const { kafka } = readCompose().services;
    const [file, ...args] = entrypointOf(kafka!, inside(image, "/secrets"))
      .map((word) => word.replace("dist/kafka.mjs", inside(image, "dist/kafka.mjs")));
    const env = { SVC_KAFKA__SERVERS: servers.map(({ admin }) => admin).join(",") };
    const sidecar = new Child([file!, ...args], env);
    await until("the sidecar to run", () => sidecar.output().includes("The sidecar runs"));
    // One with another token is told so, by which time the first one had its answer.
    const stranger = [process.execPath, inside(image, "dist/kafka.mjs")] as const;
    const other = new Child(stranger, { ...env, SVC_KAFKA__TOKEN: "another" });
    await until("its refusal", () => other.output().includes("There is no plan"));
    expect([sidecar.isAlive(), sidecar.output()]).toEqual([
      true,
      expect.not.stringMatching(/plan/),
    ]);
    await Promise.all([sidecar.stop(), other.stop()]);
  });

  test("go on when one of them is stopped", async () => {
    const [first, second] = servers as [Server, Server];
    expect(await first.container.stop()).toBe(0);
    await Promise.all(KEYS.map((key) => add(second, key, "c")));
    const values = await Promise.all(KEYS.map((key) => value(second, `Counter/${key}/get`)));
    expect(values).toEqual(KEYS.map(() => 3));
  });
});
