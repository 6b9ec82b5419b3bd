import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { Child } from "../support/child.ts";
import { sqldProgram, startSqld } from "../support/sqld.ts";
import { COMPOSE, readCompose, serversOf } from "./_compose.ts";
import { ROOT } from "./_image.ts";

vi.setConfig({ testTimeout: 30_000 });

const run = promisify(execFile);
const compose = readCompose();
const servers = serversOf(compose);
const program = await sqldProgram();
const hasCompose = await run("docker", ["compose", "version"]).then(() => true, () => false);

describe("the compose file", () => {
  test("has two servers of our image, which wait for a healthy database", () => {
    expect(servers.map(([name]) => name)).toEqual(["perdure-1", "perdure-2"]);
    for (const [, { build, init, depends_on, environment }] of servers) {
      const context = path.resolve(path.dirname(COMPOSE), build!.context);
      expect(context).toBe(ROOT);
      expect(existsSync(path.join(context, build!.dockerfile))).toBe(true);
      expect(init).toBe(true);
      expect(depends_on).toEqual({ db: { condition: "service_healthy" } });
      expect(environment["DATABASE_URL"]).toBe("http://db:8080");
    }
    expect(compose.services["db"]!.image).toMatch(
      /^ghcr\.io\/tursodatabase\/libsql-server:v\d+\.\d+\.\d+$/,
    );
    expect(compose.volumes).toHaveProperty("db");
  });

  test("knows no secret, and does not start without one", () => {
    for (const [, { environment }] of servers) {
      expect(environment["SVC_FLEET__SECRET"]).toMatch(/^\$\{PERDURE_FLEET_SECRET:\?.+\}$/);
      expect(environment["SVC_KAFKA__TOKEN"]).toMatch(/^\$\{PERDURE_KAFKA_TOKEN:\?.+\}$/);
      expect(environment["SVC_ADMIN__TOKEN"]).toMatch(/^\$\{PERDURE_TOKEN:\?.+\}$/);
      expect(environment["SVC_INGRESS__TOKEN"]).toBe(environment["SVC_ADMIN__TOKEN"]);
    }
  });

  test("has a sidecar of the same image, which knows both servers and their token", () => {
    const { build, entrypoint, environment } = compose.services["kafka"]!;
    const [, { build: ofServer, environment: settings }] = servers[0]!;
    expect(build).toEqual(ofServer);
    expect(existsSync(path.join(ROOT, "adapters/kafka.ts"))).toBe(true);
    expect(entrypoint).toEqual(["node", "dist/kafka.mjs"]);
    expect(environment["SVC_KAFKA__TOKEN"]).toBe(settings["SVC_KAFKA__TOKEN"]);
    expect(environment["SVC_KAFKA__SERVERS"])
      .toBe(servers.map(([name]) => `http://${name}:9070`).join(","));
    for (const [, one] of servers) expect(one.environment["SVC_KAFKA__SIDECAR"]).toBe("off");
  });

  test("publishes its ports to this machine alone, and the database not at all", () => {
    const published = Object.entries(compose.services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => [name, port] as const)
    );
    expect(published.map(([name]) => name)).not.toContain("db");
    for (const [, port] of published) expect(port).toMatch(/^127\.0\.0\.1:\d+:(8080|9070)$/);
    expect(new Set(published.map(([, port]) => port)).size).toBe(4);
  });

  test("each server says where the other one finds it", () => {
    for (const [name, { environment }] of servers) {
      const { hostname, port } = new URL(environment["SVC_FLEET__ADVERTISED_ADDRESS"]!);
      expect([hostname, port]).toEqual([name, environment["SVC_FLEET__BIND_PORT"]]);
    }
  });

  test.skipIf(!hasCompose)("is one to docker compose", async () => {
    const chosen = { PERDURE_TOKEN: "t", PERDURE_FLEET_SECRET: "s", PERDURE_KAFKA_TOKEN: "k" };
    const env = { ...process.env, ...chosen };
    await run("docker", ["compose", "--file", COMPOSE, "config", "--quiet"], { env });
    const { PERDURE_FLEET_SECRET: _, ...without } = env;
    const refused = run("docker", ["compose", "--file", COMPOSE, "config", "--quiet"], {
      env: without,
    });
    await expect(refused).rejects.toThrow("PERDURE_FLEET_SECRET");
  });
});

test.skipIf(!program)("the database's health is that of a real one", async () => {
  const [kind, ...command] = compose.services["db"]!.healthcheck!.test;
  expect(kind).toBe("CMD");
  const sqld = await startSqld(program!);
  const { port } = new URL(sqld.url);
  const [file = "", ...args] = command.map((word) => word.replace("/8080 ", `/${port} `));
  expect(await new Child([file, ...args]).ended()).toBe(0);
  await sqld.close();
  expect(await new Child([file, ...args]).ended()).not.toBe(0);
});
