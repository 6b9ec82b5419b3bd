import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Child, freePorts, until } from "../support/child.ts";
import { query } from "../support/client.ts";
import { Container } from "./_container.ts";
import { isSent } from "./_dockerfile.ts";
import { buildImage, filesOf, type Image, inside, ROOT } from "./_image.ts";

const BUILD_MS = 120_000;
const START_MS = 30_000;
/** What we add to the image of Node. It was 36 MiB. */
const BYTES_MAX = 48 * 1024 * 1024;

vi.setConfig({ testTimeout: 30_000 });

let image: Image;

beforeAll(() => void (image = buildImage()), BUILD_MS);
afterAll(() => image?.remove(), BUILD_MS);

const bytesOf = (folder: string) =>
  filesOf(folder).reduce((sum, file) => sum + statSync(path.join(folder, file)).size, 0);

describe("the image", () => {
  test("is made of what is needed, and of nothing else that lies about", () => {
    const tops = new Set(image.context.map((file) => file.split("/")[0]));
    expect([...tops].sort()).toEqual([
      "LICENSE",
      "adapters",
      "package-lock.json",
      "package.json",
      "src",
    ]);
    const dockerignore = readFileSync(path.join(ROOT, ".dockerignore"), "utf8");
    for (const name of [".git/config", ".env", "node_modules/a", "svc-data/perdure.db", "dist/a"]) {
      expect(isSent(dockerignore, name)).toBe(false);
    }
  });

  test("is small: what built it is not in it", () => {
    const packages = readdirSync(inside(image, "node_modules"));
    expect(packages).toContain("libsql");
    expect(packages.filter((name) => /esbuild|vitest|typescript|\.bin/.test(name))).toEqual([]);
    expect(readdirSync(inside(image, ".")).sort()).toEqual([
      "LICENSE",
      "dist",
      "health.mjs",
      "node_modules",
      "package.json",
      "secrets.mjs",
    ]);
    expect(bytesOf(image.folder)).toBeLessThan(BYTES_MAX);
  });

  test("starts as npm start does, without npm", () => {
    const { scripts } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8"));
    expect(image.entrypoint.join(" ")).toBe(scripts.start);
  });

  test("has the sidecar, with the packages that it needs", async () => {
    const sidecar = new Child([process.execPath, inside(image, "dist/kafka.mjs"), "--version"]);
    expect(await sidecar.ended(), sidecar.output()).toBe(0);
  });

  test("says what is to be published and kept, and who it runs as", () => {
    expect(image).toMatchObject({ exposed: ["8080", "9070"], volumes: ["/data"] });
    expect(image.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(image.base).toMatch(/^node:\d+-bookworm-slim$/);
  });
});

describe("a container of it", () => {
  let container: Container;
  let [ingress, admin] = ["", ""];

  beforeAll(async () => {
    const [first = "", second = ""] = (await freePorts(2)).map(String);
    [ingress, admin] = [first, second];
    const ports = { SVC_INGRESS__BIND_PORT: ingress, SVC_ADMIN__BIND_PORT: admin };
    container = new Container(image, ports);
    await until("HEALTHCHECK to say 0", async () => {
      if (!container.isAlive()) throw new Error(`The server ended: ${container.output()}`);
      return await container.check() === 0;
    }, START_MS);
  }, START_MS + 5_000);

  afterAll(() => container?.stop(), START_MS);

  test("is not root, and process 1 of its own, where this machine lets us try", ({ skip }) => {
    skip(!container.isOne, "unshare(1) is not allowed here");
    const [uid = ""] = image.user.split(":");
    expect(container.status("Uid")[0]).toBe(uid);
    expect(container.status("NSpid").at(-1)).toBe("1");
  });

  test("is reached by other addresses than its own loopback", async () => {
    // Not the address that a server without settings listens on, and still this machine alone.
    expect((await fetch(`http://127.0.0.2:${admin}/health`)).status).toBe(200);
    expect((await fetch(`http://127.0.0.2:${ingress}/svc/health`)).status).toBe(200);
  });

  test("keeps its data in the volume, with all that it needs to read it", async () => {
    expect(existsSync(inside(image, "/data/perdure.json"))).toBe(true);
    const token = readFileSync(inside(image, "/data/admin.token"), "utf8").trim();
    const address = { ingress: "", admin: `http://127.0.0.1:${admin}`, token };
    expect((await fetch(`${address.admin}/deployments`)).status).toBe(401);
    expect(await query(address, "select count(*) as n from sys_invocation")).toEqual([{ n: 0 }]);
  });

  test("stops in order when it is told to, and is not healthy any more", async () => {
    expect(await container.stop()).toBe(0);
    expect(container.output()).toContain(`"message":"Stopping"`);
    expect(await container.check()).toBe(1);
  });
});
