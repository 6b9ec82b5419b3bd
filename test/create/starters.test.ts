import { copyFileSync, existsSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LANGUAGES, STARTERS } from "../../adapters/create/languages.ts";
import { denoProgram } from "../support/build.ts";
import { fetched, missing } from "../support/fetched.ts";
import { node24 } from "../support/fetched_node.ts";
import { removeFolders } from "./_built.ts";
import { found, isReachable, Newcomer, nodeAlone, upstream } from "./_newcomer.ts";
import { packBoth } from "./_packed.ts";
import { openRegistry, type Registry } from "./_registry.ts";

const STARTER_MS = 300_000;
/** The packages of every language: 17 s on a machine with much else to do. */
const REMOVAL_MS = 120_000;
const TESTS = "the starters";
const node = await node24(TESTS);
const bun = await fetched({
  ...{ package: "@oven/bun-linux-x64", version: "1.4.5", file: "bin/bun", isProgram: true },
  tests: "the starters on Bun",
});
const from = upstream();
const canInstall = await isReachable(from) || missing(TESTS, `${from} does not answer`) === true;
/** As those of test/sdks, these are run by hand: a virtual environment, and whether to use the others. */
const { PYTHON_VENV, EXAMPLES_GO, EXAMPLES_RUST, EXAMPLES_JAVA } = process.env;
/** Its compiler is many programs, and what it has fetched is in the home of its user. */
const OWN = { PATH: process.env["PATH"] ?? "", HOME: homedir() };

interface Tools {
  /** What a language needs besides a Node. */
  readonly programs: Readonly<Record<string, string>>;
  /** Variables, and more folders with programs. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Undefined: it is not tried on this machine. */
const TOOLS: Readonly<Record<string, Tools | undefined>> = {
  node: { programs: {} },
  deno: { programs: { deno: denoProgram() } },
  bun: bun === undefined ? undefined : { programs: { bun } },
  workers: { programs: {} },
  python: PYTHON_VENV === undefined ? undefined : { programs: {} },
  go: EXAMPLES_GO === undefined ? undefined : { programs: { go: found("go") } },
  rust: EXAMPLES_RUST === undefined ? undefined : { programs: {}, env: OWN },
  java: EXAMPLES_JAVA === undefined ? undefined : { programs: {}, env: OWN },
  kotlin: EXAMPLES_JAVA === undefined ? undefined : { programs: {}, env: OWN },
};
/** What a test of a starter prints when all has passed. */
const PASSED = /(?:^|\n).*\b(?:fail 0|0 failed)\b/;

const packed = packBoth();
let registry: Registry;
beforeAll(async () => {
  registry = await openRegistry([packed.perdure, packed.create], from);
});
afterAll(async () => {
  await registry?.close();
  removeFolders();
}, REMOVAL_MS);

test("every language that is offered is tried here", () => {
  expect(Object.keys(TOOLS)).toEqual(Object.keys(LANGUAGES));
});

describe.each(Object.keys(LANGUAGES))("in %s", (name) => {
  const tools = TOOLS[name];
  const isTried = canInstall && tools !== undefined && (node !== undefined || name === "deno");

  describe.skipIf(!isTried)("the test of a starter passes", () => {
    let newcomer: Newcomer;
    beforeAll(() => {
      const { programs, env } = tools!;
      const all = name === "deno" ? programs : { ...nodeAlone(node!), ...programs };
      newcomer = new Newcomer(all, registry.url, env);
    });

    test.for(Object.keys(STARTERS))("%s", { timeout: STARTER_MS }, async (starter) => {
      const folder = path.join(newcomer.folder, starter);
      const flags = `--language ${name} --starter ${starter}`;
      const { version } = packed.create.manifest;
      const create = name === "deno"
        ? `deno run --allow-all npm:create-perdure@${version} ${starter} ${flags}`
        : `npm create --yes perdure ${starter} -- ${flags}`;
      await newcomer.runs(create);
      await install(newcomer, name, folder);
      expect(await newcomer.runs(LANGUAGES[name]!.test, folder)).toMatch(PASSED);
    });
  });
});

/** Installs once for each language: all its starters have the same packages. */
async function install(newcomer: Newcomer, name: string, folder: string): Promise<void> {
  if (name === "python") symlinkSync(path.resolve(PYTHON_VENV!), path.join(folder, ".venv"));
  if (name === "deno") return void await newcomer.runs("deno install", folder);
  const modules = path.join(newcomer.folder, "node_modules");
  if (!existsSync(modules)) {
    copyFileSync(path.join(folder, "package.json"), path.join(newcomer.folder, "package.json"));
    await newcomer.runs("npm install");
  }
  symlinkSync(modules, path.join(folder, "node_modules"));
  if (["rust", "java", "kotlin"].includes(name)) {
    await newcomer.runs(LANGUAGES[name]!.install.at(-1)!, folder);
  }
}
