import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { denoProgram } from "../support/build.ts";
import { Child, freePorts, until } from "../support/child.ts";
import { query } from "../support/client.ts";
import { missing } from "../support/fetched.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
/** Installing and the first start. */
const START_MS = 120_000;
/** How a registry and its certificates are named; nothing else of the environment is passed on. */
const REGISTRY_ENV =
  /^(npm_config_(registry|cafile|https?_proxy|noproxy)|(https?|no|all)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|DENO_CERT)$/i;

const registry = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
const cannot = await whyUnreachable();

let folder: string;
let child: Child | undefined;
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), "fresh-"))));
afterEach(async () => {
  await child?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Why packages cannot be had. Undefined: they can. */
async function whyUnreachable(): Promise<string | undefined> {
  try {
    execFileSync("npm", ["view", "superstruct", "version"], { stdio: "pipe", timeout: 30_000 });
  } catch (cause) {
    const why = `${registry} does not answer`;
    missing("the starts from a fresh copy", why);
    return cause instanceof Error ? why : String(cause);
  }
}

/** The programs of a machine that has only these, and a home with nothing in it. */
function machine(programs: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const [bin, home] = [path.join(folder, "bin"), path.join(folder, "home")];
  for (const one of [bin, home]) mkdirSync(one, { recursive: true });
  for (const [name, file] of Object.entries(programs)) symlinkSync(file, path.join(bin, name));
  const passed = Object.entries(process.env).filter(([name]) => REGISTRY_ENV.test(name));
  return {
    ...Object.fromEntries(passed),
    NPM_CONFIG_REGISTRY: registry,
    DENO_TLS_CA_STORE: "system,mozilla",
    PATH: bin,
    HOME: home,
  };
}

/** What a clone would hold: everything that git does not ignore. */
function clone(): string {
  const copy = path.join(folder, "copy");
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  const files = execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).split("\0");
  for (const file of files) {
    const from = path.join(ROOT, file);
    if (file !== "" && existsSync(from)) cpSync(from, path.join(copy, file));
  }
  return copy;
}

const where = (name: string) =>
  execFileSync("sh", ["-c", `command -v "$0"`, name], { encoding: "utf8" }).trim();

/** Every package, down to those of a scope, with its version. */
function packages(copy: string): string[] {
  const home = path.join(copy, "node_modules");
  return readdirSync(home).filter((name) => !name.startsWith(".")).flatMap((name) =>
    name.startsWith("@") ? readdirSync(path.join(home, name)).map((one) => `${name}/${one}`) : name
  ).map((name) => {
    const { version } = JSON.parse(readFileSync(path.join(home, name, "package.json"), "utf8"));
    return `${name} ${version}`;
  });
}

const LOCKS = ["package.json", "package-lock.json", "deno.json"];
const unchanged = (copy: string) =>
  LOCKS.filter((name) =>
    readFileSync(path.join(copy, name), "utf8") === readFileSync(path.join(ROOT, name), "utf8")
  );

/** Runs a command of the README in a copy until it serves, asks it something and ends it. Answers what it printed. */
async function serves(command: string, copy: string, env: NodeJS.ProcessEnv): Promise<string> {
  expect(readFileSync(path.join(copy, "README.md"), "utf8"))
    .toContain(command.replaceAll("exec ", ""));
  const [ingress, admin] = await freePorts(2);
  const settings = { SVC_INGRESS__BIND_PORT: `${ingress}`, SVC_ADMIN__BIND_PORT: `${admin}` };
  const script = `cd "$0" && exec env -i "$@" sh -c '${command}'`;
  const all = Object.entries({ ...env, ...settings }).map(([name, value]) => `${name}=${value}`);
  const server = child = new Child(["sh", "-c", script, copy, ...all], {}, { isGroup: true });
  const at = `http://127.0.0.1:${admin}`;
  const isHealthy = async () => {
    if (!server.isAlive()) throw new Error(`It ended: ${server.output()}`);
    return await fetch(`${at}/health`).then(({ ok }) => ok, () => false);
  };
  await until("the server to be healthy", isHealthy, START_MS).catch((cause) => {
    throw new Error(`${cause.message}\n${server.output()}`);
  });
  const rows = await query(
    { ingress: `http://127.0.0.1:${ingress}`, admin: at },
    "select 1 as one",
  );
  expect(rows).toEqual([{ one: 1 }]);
  await server.stop("SIGTERM");
  return server.output();
}

describe.skipIf(cannot !== undefined)("a fresh copy serves", () => {
  test("with Deno alone, and asks no registry but npm's", async () => {
    const [copy, env] = [clone(), machine({ deno: denoProgram(), sh: where("sh") })];
    const output = await serves("exec deno task serve", copy, env);
    expect(output).toContain("is ready");
    expect(output).not.toContain("jsr.io");
    expect(unchanged(copy)).toEqual(LOCKS);
    // The tools of development are not among them.
    expect(packages(copy).filter((name) => /^(vitest|workerd|typescript|deno) /.test(name)))
      .toEqual([]);
  }, START_MS);

  test("with Node alone, and then with Deno from what npm installed", async () => {
    const node = { node: process.execPath, npm: where("npm"), sh: where("sh") };
    const [copy, env] = [clone(), machine(node)];
    const output = await serves("npm ci --omit=dev && exec npm start", copy, env);
    expect(output).toContain("is ready");
    expect(unchanged(copy)).toEqual(LOCKS);
    const installed = packages(copy);
    const both = { ...env, ...machine({ deno: denoProgram() }) };
    expect(await serves("exec deno task serve", copy, both)).toContain("is ready");
    expect(packages(copy)).toEqual(installed);
    expect(unchanged(copy)).toEqual(LOCKS);
  }, START_MS);
});
