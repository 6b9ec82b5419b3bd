import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, expect, test } from "vitest";
import type { Terminal } from "../../adapters/create/ask.ts";
import { LANGUAGES, STARTERS } from "../../adapters/create/languages.ts";
import { run } from "../../adapters/create/run.ts";
import { built, collectedIn, ownFolder, removeFolders } from "./_built.ts";

const collected = collectedIn(built());
const folder = ownFolder();
afterAll(removeFolders);
let count = 0;
/** A path below the test's folder at which nothing is. */
const fresh = () => path.join(folder, `Project ${count++}`);

interface Ended {
  readonly code: number;
  readonly said: string;
  readonly complained: string;
}

async function create(
  args: readonly string[],
  { terminal, node = "24.0.0" }: { terminal?: Terminal; node?: string | undefined } = {},
): Promise<Ended> {
  let said = "", complained = "";
  const code = await run(args, {
    ...{ collected, terminal, node },
    say: (text) => void (said += text),
    complain: (text) => void (complained += text),
  });
  return { code, said, complained };
}

/** A terminal whose user types one line for each question. When no line is left, the input ends. */
function typing(lines: readonly string[]): { terminal: Terminal; shown: () => string } {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let shown = "", at = 0;
  output.setEncoding("utf8").on("data", (piece: string) => {
    shown += piece;
    // A question is answered when it is asked.
    if (!/\): $/.test(piece)) return;
    const line = lines[at++];
    if (line === undefined) input.end();
    else input.write(`${line}\n`);
  });
  return { terminal: { input, output }, shown: () => shown };
}

const read = (at: string, file: string) => readFileSync(path.join(at, file), "utf8");
const manifest = (at: string) => JSON.parse(read(at, "package.json"));

test("every language has every starter, in files that say how they are served", async () => {
  for (const [language, { command, sources }] of Object.entries(LANGUAGES)) {
    for (const starter of Object.keys(STARTERS)) {
      const at = fresh();
      const args = [at, "--language", language, "--starter", starter];
      expect(await create(args)).toMatchObject({ code: 0, complained: "" });
      expect(readdirSync(at)).toEqual(expect.arrayContaining(["README.md", "handlers.test.mjs"]));
      expect(read(at, "server.mjs")).toContain(`=> [${command}];`);
      expect(read(at, "server.mjs")).toContain(`IS_HTTP1 = ${sources === "fetch"}`);
      expect(read(at, "README.md")).not.toMatch(/<!--|\]\(/);
      expect(read(at, "README.md")).toContain(LANGUAGES[language]!.title);
      for (const name of readdirSync(at)) {
        expect(statSync(path.join(at, name)).size).toBeGreaterThan(0);
      }
    }
  }
});

test("the sources of a starter are those of its example", async () => {
  const at = fresh();
  await create([at, "--language", "node", "--starter", "device"]);
  const example = path.resolve(import.meta.dirname, "../../docs/examples/device");
  expect(read(at, "handlers.ts")).toBe(read(example, "handlers.ts"));
});

test("for the Fetch API the same handlers are exported", async () => {
  const at = fresh();
  await create([at, "--language", "workers", "--starter", "order-saga"]);
  const source = read(at, "handlers.ts");
  expect(source).toContain(`from "@restatedev/restate-sdk/fetch"`);
  const exported =
    "export default { fetch: createEndpointHandler({ services: [orders, stock] }) };";
  expect(source).toContain(exported);
  expect(source).not.toMatch(/\bserve\(/);
  expect(read(at, "wrangler.toml")).toContain(
    `name = "${path.basename(at).toLowerCase().replace(" ", "-")}"`,
  );
});

test("defaults are taken with --yes, and flags win", async () => {
  const at = fresh();
  const { code, said } = await create(["--yes", at, "--starter=agent"]);
  expect([code, said]).toEqual([0, expect.stringContaining("agent, TypeScript on Node")]);
  expect(manifest(at).name).toMatch(/^project-\d+$/);
});

test("a version or a tarball is installed as perdure", async () => {
  const [one, other, third] = [fresh(), fresh(), fresh()];
  await create([one, "--yes"]);
  expect(manifest(one).devDependencies.perdure).toBe(collected.versions.perdure);
  await create([other, "--yes", "--perdure", "9.9.9"]);
  expect(manifest(other).devDependencies.perdure).toBe("9.9.9");
  await create([third, "--yes", "--perdure", "dist/p.tgz"]);
  expect(manifest(third).devDependencies.perdure).toBe(`file:${path.resolve("dist/p.tgz")}`);
  const deno = await create([fresh(), "--yes", "--language", "deno", "--perdure", "dist/p.tgz"]);
  expect([deno.code, deno.complained]).toEqual([2, expect.stringContaining("no tarballs")]);
});

test("an older Node is warned of", async () => {
  const { code, complained } = await create([fresh(), "--yes"], { node: "20.19.0" });
  expect([code, complained]).toEqual([0, expect.stringContaining("needs 22.18 or later")]);
  expect((await create([fresh(), "--yes"], { node: "22.18.0" })).complained).toBe("");
  expect((await create([fresh(), "--yes", "--language", "deno"], { node: "20.19.0" })).complained)
    .toBe("");
});

test("help has every flag, an example and the exit codes", async () => {
  const { code, said } = await create(["--help", "--yes"]);
  expect(code).toBe(0);
  await expect(said).toMatchFileSnapshot("golden/help.txt");
});

test.each([
  [["--langage", "go"], `there is no flag "--langage", did you mean "--language"`],
  [["--language", "pyton"], `There is no language "pyton", did you mean "python"`],
  [["--language", "cobol"], "There are node, deno, bun, workers"],
  [["--language", "kotlib"], `There is no language "kotlib", did you mean "kotlin"`],
  [["--starter", "devise"], `There is no starter "devise", did you mean "device"`],
  [["--starter"], "--starter has no value"],
  [["--yes=no"], "--yes takes no value"],
  [["one", "two"], "it names two folders, one, two"],
  [[], "Give a folder, --language, --starter, or --yes"],
  [["--language", "go"], "Give a folder, --starter, or --yes"],
])("%j is a wrong command line, and says what is right", async (args, why) => {
  const { code, said, complained } = await create(args);
  expect([code, said]).toEqual([2, ""]);
  expect(complained).toContain(why);
  expect(complained).toContain(`see "npm create perdure -- --help"`);
});

test("a folder that is not empty is left as it is", async () => {
  const at = fresh();
  mkdirSync(at);
  for (const name of ["a", "b", "c", "README.md"]) writeFileSync(path.join(at, name), "mine");
  const { code, complained } = await create([at, "--yes"]);
  expect([code, complained]).toEqual([
    1,
    expect.stringContaining("not empty (README.md, a, b, …)"),
  ]);
  expect(readdirSync(at)).toEqual(["README.md", "a", "b", "c"]);
  expect(read(at, "README.md")).toBe("mine");
});

test("what is no folder is left as it is, and so is a link that leads nowhere", async () => {
  const [file, link] = [fresh(), fresh()];
  writeFileSync(file, "mine");
  symlinkSync("nowhere", link);
  for (const at of [file, link]) {
    const { code, complained } = await create([at, "--yes"]);
    expect([code, complained]).toEqual([1, expect.stringContaining(`Cannot write to "${at}"`)]);
  }
  expect(readFileSync(file, "utf8")).toBe("mine");
});

test("an empty folder is taken, and one with a repository in it", async () => {
  const at = fresh();
  mkdirSync(path.join(at, ".git"), { recursive: true });
  expect(await create([at, "--yes"])).toMatchObject({ code: 0 });
});

test("what is not given is asked for, by number or name, until there is an answer", async () => {
  const at = fresh();
  const { terminal, shown } = typing([at, "99", "Deno", "agnt", ""]);
  expect(await create([], { terminal })).toMatchObject({ code: 0, complained: "" });
  expect(readdirSync(at)).toContain("deno.json");
  expect(read(at, "README.md")).toMatch(/^# Greeter/);
  expect(shown()).toContain(
    `There is no "99": say a number up to ${Object.keys(LANGUAGES).length}`,
  );
  expect(shown()).toContain(`There is no "agnt": say "agent"`);
});

test("only what is missing is asked for", async () => {
  const at = fresh();
  const { terminal, shown } = typing(["2"]);
  expect(await create([at, "--language", "go"], { terminal })).toMatchObject({ code: 0 });
  expect(shown()).not.toMatch(/Folder|Language/);
  expect(read(at, "README.md")).toMatch(/^# Order saga/);
});

test("questions that are left write nothing", async () => {
  const at = fresh();
  const { terminal } = typing([at, "1"]);
  const { code, complained } = await create([], { terminal });
  expect([code, complained]).toEqual([1, expect.stringContaining("Nothing was written")]);
  expect(() => readdirSync(at)).toThrow("ENOENT");
});
