import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isTaken } from "../../adapters/cli/endpoint_process.ts";
import { Child, freePorts, until } from "../support/child.ts";
import { perdure, program } from "./_cli.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const modules = path.join(ROOT, "node_modules");
const folder = mkdtempSync(path.join(tmpdir(), "dev-types-"));
const file = path.join(folder, "greeter.ts");
const children: Child[] = [];

beforeAll(() => {
  symlinkSync(modules, path.join(folder, "node_modules"));
  writeFileSync(
    path.join(folder, "package.json"),
    `{ "type": "module", "dependencies": { "@restatedev/restate-sdk": "*" } }`,
  );
  writeFileSync(
    file,
    `import { type Context, serve, service } from "@restatedev/restate-sdk";
const greeting: string = "Hello";
const greet = async (_: Context, name: string): Promise<string> => greeting + " " + name;
serve({ services: [service({ name: "Greeter", handlers: { greet } })] });
`,
  );
});

afterAll(async () => {
  await Promise.all(children.map((child) => child.stop("SIGTERM")));
  rmSync(folder, { recursive: true, force: true });
});

test("a TypeScript file runs by --runtime deno, whatever runs the server", async () => {
  const [ingress = 0, admin = 0, port = 0] = await freePorts(3);
  const settings = ["--base-dir", path.join(folder, "svc-data")].concat(
    ["--ingress.bind-port", `${ingress}`, "--admin.bind-port", `${admin}`],
  );
  const flags = ["--runtime", "deno", "--port", `${port}`, "--json", "--", ...settings];
  const env = { PATH: [path.join(modules, ".bin"), process.env["PATH"]].join(path.delimiter) };
  const dev = new Child([process.execPath, program(), "dev", file, ...flags], env);
  children.push(dev);
  const isRegistered = () => !dev.isAlive() || dev.output().includes(`{"event":"registered"`);
  await until("the registration", isRegistered, 30_000)
    .catch((cause) => {
      throw new Error(`${cause.message}: ${dev.output()}`);
    });
  const answer = await perdure(["call", "Greeter/greet", '"Ada"'], {
    env: { PERDURE_INGRESS: `http://127.0.0.1:${ingress}` },
  });
  expect(answer).toEqual({ code: 0, out: `"Hello Ada"\n`, said: "" });
  // This `deno` is a wrapper, and must not leave the endpoint behind.
  await dev.stop("SIGTERM");
  expect(await isTaken(port)).toBe(false);
}, 60_000);

const [major = 0] = process.versions.node.split(".").map(Number);

test.runIf(major < 22)("a Node that runs no TypeScript says what does", async () => {
  const { code, said } = await perdure(["dev", file]);
  expect([code, said]).toEqual([2, expect.stringContaining("--runtime deno")]);
}, 30_000);
