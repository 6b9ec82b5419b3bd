import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Child } from "../support/child.ts";
import { sqldProgram, startSqld } from "../support/sqld.ts";
import { readConfig } from "../../src/config.ts";
import { COMPOSE, entrypointOf, readCompose, serversOf } from "./_compose.ts";
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
      expect(depends_on).toEqual({
        db: { condition: "service_healthy" },
        secrets: { condition: "service_completed_successfully" },
      });
      expect(environment["DATABASE_URL"]).toBe("http://db:8080");
    }
    expect(compose.services["db"]!.image).toMatch(
      /^ghcr\.io\/tursodatabase\/libsql-server:v\d+\.\d+\.\d+$/,
    );
    expect(compose.volumes).toHaveProperty("db");
  });

  test("knows no secret, and needs no variable", () => {
    const text = readFileSync(COMPOSE, "utf8").replaceAll("$$", "");
    const variables = [...text.matchAll(/\$\{?(\w+)([^}\n]*)\}?/g)];
    expect(variables.map(([, name, fallback]) => [name, fallback])).toEqual([
      ["PERDURE_TOKEN", ":-"],
      ["PERDURE_FLEET_SECRET", ":-"],
      ["PERDURE_KAFKA_TOKEN", ":-"],
    ]);
    for (const [, { environment, volumes }] of servers) {
      expect(Object.keys(environment).filter((name) => /TOKEN|SECRET/.test(name))).toEqual([]);
      expect(environment["SVC_CONFIG"]).toBe("/secrets/settings.toml");
      expect(volumes).toEqual(["secrets:/secrets"]);
    }
    expect(compose.services["secrets"]).toMatchObject({ volumes: ["secrets:/secrets"] });
    expect(compose.volumes).toHaveProperty("secrets");
  });

  test("has a sidecar of the same image, which knows both servers and their token", () => {
    const { build, entrypoint, environment, volumes } = compose.services["kafka"]!;
    const [, { build: ofServer }] = servers[0]!;
    expect([build, volumes]).toEqual([ofServer, ["secrets:/secrets"]]);
    expect(existsSync(path.join(ROOT, "adapters/kafka.ts"))).toBe(true);
    expect(entrypoint?.at(-1)).toContain("node dist/kafka.mjs");
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
    await run("docker", ["compose", "--file", COMPOSE, "config", "--quiet"]);
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

describe("what the compose file starts first", () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  const volume = () => {
    const folder = mkdtempSync(path.join(tmpdir(), "perdure-secrets-"));
    folders.push(folder);
    return folder;
  };
  const make = async (folder: string, env: Record<string, string> = {}) => {
    const words = entrypointOf(compose.services["secrets"]!, folder)
      .map((word) => word === "secrets.mjs" ? path.join(ROOT, "adapters/container", word) : word);
    const given = Object.keys(compose.services["secrets"]!.environment)
      .map((name) => [name, env[name] ?? ""] as const);
    const child = new Child(words as [string, ...string[]], Object.fromEntries(given));
    expect(await child.ended(), child.output()).toBe(0);
    return child.output();
  };
  const read = (folder: string, name: string) =>
    readFileSync(path.join(folder, name), "utf8").trim();
  const settings = (folder: string) => readConfig({ file: read(folder, "settings.toml"), env: {} });

  test("makes a secret of its own for each use, and prints none", async () => {
    const [folder, other] = [volume(), volume()];
    const output = await make(folder);
    await make(other);
    const names = ["token", "fleet.secret", "kafka.token"];
    const made = names.map((name) => read(folder, name));
    expect(new Set([...made, ...names.map((name) => read(other, name))]).size).toBe(6);
    for (const secret of made) {
      expect(secret.length).toBeGreaterThan(40);
      expect(output).not.toContain(secret);
    }
    expect(output).toContain(path.join(folder, "token"));
    for (const name of readdirSync(folder)) {
      expect(statSync(path.join(folder, name)).mode & 0o777, name).toBe(0o600);
    }
    expect(settings(folder)).toMatchObject({
      "admin.token": made[0],
      "ingress.token": made[0],
      "fleet.secret": made[1],
      "kafka.token": made[2],
    });
  });

  test("keeps them at the next start, but for those that a variable replaces", async () => {
    const folder = volume();
    await make(folder);
    const before = settings(folder);
    await make(folder);
    expect(settings(folder)).toEqual(before);
    await make(folder, { PERDURE_TOKEN: 'my"own\\token' });
    const replaced = { "admin.token": 'my"own\\token', "ingress.token": 'my"own\\token' };
    expect(settings(folder)).toEqual({ ...before, ...replaced });
    await make(folder);
    expect(settings(folder)).toEqual({ ...before, ...replaced });
  });
});
