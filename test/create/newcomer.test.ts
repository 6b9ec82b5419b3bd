import { copyFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { denoProgram } from "../support/build.ts";
import { Child, freePorts, until } from "../support/child.ts";
import { missing } from "../support/fetched.ts";
import { node24 } from "../support/fetched_node.ts";
import { removeFolders } from "./_built.ts";
import { isReachable, Newcomer, nodeAlone, upstream } from "./_newcomer.ts";
import { packBoth } from "./_packed.ts";
import { openRegistry, type Registry } from "./_registry.ts";

const WAY_MS = 300_000;
const START_MS = 60_000;
const TESTS = "the way of a newcomer";
const node = await node24(TESTS);
const from = upstream();
const canInstall = await isReachable(from) || missing(TESTS, `${from} does not answer`) === true;

const packed = packBoth();
let registry: Registry;
const children: Child[] = [];
beforeAll(async () => {
  registry = await openRegistry([packed.perdure, packed.create], from);
});
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.stop("SIGTERM")));
});
afterAll(async () => {
  await registry?.close();
  removeFolders();
});

/** Starts what does not end by itself, until it has printed `text`. */
async function started(newcomer: Newcomer, command: string, { text, folder }: {
  readonly text: string;
  readonly folder?: string;
}): Promise<void> {
  const child = new Child(newcomer.words(command, folder), {}, { isGroup: true });
  children.push(child);
  await newcomer.timed(command.replace(/( --)? --base-dir.*/, ""), async () => {
    await until(text, () => {
      if (!child.isAlive()) throw new Error(`It ended: ${child.output()}`);
      return child.output().includes(text);
    }, START_MS);
  });
}

async function settings(): Promise<{ readonly flags: string; readonly ingress: string }> {
  const [ingress, admin] = await freePorts(2);
  const ports = `--ingress.bind-port ${ingress} --admin.bind-port ${admin}`;
  return { flags: `--base-dir data ${ports}`, ingress: `http://127.0.0.1:${ingress}` };
}

const PACKED_MAX = 100_000;

test("the tarball of create-perdure has what it needs, depends on nothing, and is small", () => {
  expect(packed.files.toSorted()).toEqual([
    "LICENSE",
    "README.md",
    "dist/create.mjs",
    "dist/starters.json",
    "package.json",
  ]);
  expect(packed.create.manifest).not.toHaveProperty("dependencies");
  expect(packed.create.manifest.version).toBe(packed.perdure.manifest.version);
  expect(packed.size).toBeLessThan(PACKED_MAX);
});

const PROJECT = "--language LANGUAGE --starter greeter";

/** What docs/cli.md says while no registry has the packages. */
test.skipIf(!canInstall || node === undefined)(
  "a project is made of the two tarballs",
  async () => {
    const newcomer = new Newcomer(nodeAlone(node!), from);
    for (const { file } of [packed.perdure, packed.create]) {
      copyFileSync(file, path.join(newcomer.folder, path.basename(file)));
    }
    const [perdure, create] = [packed.perdure, packed.create].map(({ file }) =>
      path.basename(file)
    );
    await newcomer.runs(`npx --yes ./${create} my-app --yes --perdure ./${perdure}`);
    const folder = path.join(newcomer.folder, "my-app");
    expect(await newcomer.runs("npm install && npm test", folder)).toMatch(/pass 2\n/);
  },
  WAY_MS,
);

describe.skipIf(!canInstall)("from an empty home to the first durable result", () => {
  test.skipIf(node === undefined)("with Node alone", async () => {
    const newcomer = new Newcomer(nodeAlone(node!), registry.url);
    await newcomer.runs("npm init --yes");
    await newcomer.runs(`npm install ${packed.perdure.file}`);
    const { flags } = await settings();
    await started(newcomer, `npx perdure serve ${flags}`, { text: "is ready" });
    await children.pop()?.stop("SIGTERM");
    const flagsOfProject = PROJECT.replace("LANGUAGE", "node");
    await newcomer.runs(`npm create --yes perdure my-app -- ${flagsOfProject}`);
    const folder = path.join(newcomer.folder, "my-app");
    await newcomer.runs("npm install", folder);
    expect(await newcomer.runs("npm test", folder)).toMatch(/pass 2\n/);
    const dev = await settings();
    const [port] = await freePorts(1);
    const command = `npx perdure dev handlers.ts --port ${port} -- ${dev.flags}`;
    await started(newcomer, command, { text: "Registered Greeter", folder });
    const call = `npx perdure call Greeter/greet '"Ada"' --ingress ${dev.ingress}`;
    expect(await newcomer.runs(call, folder)).toContain("Hello Ada, it was ");
    console.log(`With Node alone:\n${newcomer.times()}`);
  }, WAY_MS);

  test("with Deno alone", async () => {
    const newcomer = new Newcomer({ deno: denoProgram() }, registry.url);
    const { version } = packed.create.manifest;
    const perdure = `deno run --allow-all --unstable-no-legacy-abort npm:perdure@${version}`;
    const { flags } = await settings();
    await started(newcomer, `${perdure} serve ${flags}`, { text: "is ready" });
    await children.pop()?.stop("SIGTERM");
    const create = `deno run --allow-all npm:create-perdure@${version} my-app`;
    await newcomer.runs(`${create} ${PROJECT.replace("LANGUAGE", "deno")}`);
    const folder = path.join(newcomer.folder, "my-app");
    await newcomer.runs("deno install", folder);
    expect(await newcomer.runs("deno task test", folder)).toMatch(/2 passed/);
    const dev = await settings();
    const [port] = await freePorts(1);
    const command = `deno task perdure dev handlers.ts --port ${port} -- ${dev.flags}`;
    await started(newcomer, command, { text: "Registered Greeter", folder });
    const call = `deno task perdure call Greeter/greet '"Ada"' --ingress ${dev.ingress}`;
    expect(await newcomer.runs(call, folder)).toContain("Hello Ada, it was ");
    console.log(`With Deno alone:\n${newcomer.times()}`);
  }, WAY_MS);
});
