import { execFile, execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { buildUi } from "../support/build.ts";
import { type Child, until } from "../support/child.ts";
import { query, value } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { ROOT } from "./_installed.ts";
import { isWhole, start, START_MS } from "./_serves.ts";

// The one file to copy, in a folder of its own: no Node, no npm and no package is found from there.
const BYTES_MAX = 160 * 1024 ** 2;
const root = mkdtempSync(path.join(tmpdir(), "executable-"));
const file = path.join(root, "perdure");
let endpoint: Endpoint;
let child: Child | undefined;

beforeAll(async () => {
  buildUi();
  const script = path.join(ROOT, "adapters/package/executable/build.mjs");
  execFileSync(process.execPath, [script, file], { stdio: "pipe" });
  endpoint = await startEndpoint("h2");
}, 120_000);
afterEach(() => void child?.stop());
afterAll(async () => {
  await endpoint?.close();
  rmSync(root, { recursive: true, force: true });
});

/** A new home, and a folder to work in. */
function place() {
  const folder = mkdtempSync(path.join(root, "place-"));
  const home = path.join(folder, "home");
  mkdirSync(home);
  return { folder, home, env: { HOME: home, PATH: "/nonexistent" } };
}

const unpackedIn = (home: string) => {
  const parent = path.join(home, ".cache/perdure");
  return readdirSync(parent).map((name) => path.join(parent, name));
};

const run = (env: Record<string, string>, ...args: readonly string[]) =>
  promisify(execFile)(file, args, { env });

test("it serves calls, queries and the UI, and goes on after kill -9", async () => {
  const at = place();
  const first = await start([file], at, "one");
  child = first.child;
  await isWhole(first.server, endpoint);
  await child.stop("SIGKILL");
  const second = await start([file], at, "one");
  child = second.child;
  // The deployment is there, and so is the invocation.
  expect(await value(second.server, "Greeter/greet", "Ada")).toBe("Hello Ada");
  const count = async () =>
    (await query(second.server, "select count(*) as n from sys_invocation"))[0]?.["n"];
  await until("both invocations to be seen", async () => (await count()) === 2, START_MS);
  expect(unpackedIn(at.home)).toHaveLength(1);
  await child.stop("SIGTERM");
}, 2 * START_MS);

test("it has the commands and the sidecar, and weighs no more than Node and a little", async () => {
  const { home, env } = place();
  const { stdout } = await run(env, "version", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ runtime: `node ${process.versions.node}` });
  const [folder = ""] = unpackedIn(home);
  const sidecar = await run(env, path.join(folder, "dist/kafka.mjs"), "--help");
  expect(sidecar.stdout).toContain("The Kafka sidecar");
  expect(statSync(file).size).toBeLessThan(BYTES_MAX);
}, START_MS);

test("starts at the same time unpack it once", async () => {
  const { home, env } = place();
  const together = () => Promise.all([1, 2, 3, 4].map(() => run(env, "version")));
  for (const { stdout } of await together()) expect(stdout).toContain("perdure");
  const [folder = "", ...others] = unpackedIn(home);
  expect(others).toEqual([]);
  // And the same where there is something to mend.
  for (const name of ["cli.mjs", "perdure.mjs"]) writeFileSync(path.join(folder, "dist", name), "");
  for (const { stdout } of await together()) expect(stdout).toContain("perdure");
  expect(unpackedIn(home)).toEqual([folder]);
}, START_MS);

test("a file that was changed after it was unpacked is not run", async () => {
  const { home, env } = place();
  await run(env, "version");
  const [folder = ""] = unpackedIn(home);
  const changed = path.join(folder, "dist/cli.mjs");
  writeFileSync(changed, "console.log('not ours');");
  expect((await run(env, "version")).stdout).not.toContain("not ours");
  expect(unpackedIn(home)).toEqual([folder]);
  rmSync(changed);
  expect((await run(env, "version")).stdout).toContain("perdure");
}, START_MS);

test("what others may have put beside the program is removed before anything runs", async () => {
  const { folder: outside, home, env } = place();
  await run(env, "version");
  const [folder = ""] = unpackedIn(home);
  // A package there would be found before the one of the program.
  const planted = path.join(folder, "dist/node_modules/libsql");
  mkdirSync(planted, { recursive: true });
  writeFileSync(path.join(planted, "index.js"), "console.log('not ours');");
  // The right contents, in a file and in folders that can be changed later.
  const [linked, target] = [path.join(folder, "dist/cli.mjs"), path.join(outside, "cli.mjs")];
  renameSync(linked, target);
  symlinkSync(target, linked);
  chmodSync(path.join(folder, "node_modules"), 0o777);
  expect((await run(env, "version")).stdout).not.toContain("not ours");
  expect(existsSync(path.join(folder, "dist/node_modules"))).toBe(false);
  expect(lstatSync(linked).isFile()).toBe(true);
  expect(readFileSync(target).equals(readFileSync(linked))).toBe(true);
  expect(statSync(path.join(folder, "node_modules")).mode & 0o777).toBe(0o700);
  // A link in the place of the folder is removed, and not what it leads to.
  renameSync(folder, path.join(outside, "moved"));
  symlinkSync(path.join(outside, "moved"), folder);
  expect((await run(env, "version")).stdout).toContain("perdure");
  expect(lstatSync(folder).isDirectory()).toBe(true);
  expect(existsSync(path.join(outside, "moved/dist/cli.mjs"))).toBe(true);
}, START_MS);

test("a folder that others may write into is refused, and another one can be named", async () => {
  const { folder, home, env } = place();
  const parent = path.join(home, ".cache/perdure");
  mkdirSync(parent, { recursive: true });
  chmodSync(parent, 0o777);
  await expect(run(env, "version")).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^\[RT0039\] Cannot unpack .*PERDURE_UNPACK_DIR\.\n$/),
  });
  const named = { ...env, PERDURE_UNPACK_DIR: path.join(folder, "elsewhere") };
  expect((await run(named, "version")).stdout).toContain("perdure");
}, START_MS);
