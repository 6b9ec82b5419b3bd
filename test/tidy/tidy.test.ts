import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LONGEST } from "../sequencer.ts";
import { BY_TURNS, leftOut } from "../turns.ts";
import { connectionSnippets } from "./_connection_snippets.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const DENO = join(REPOSITORY, "node_modules", "deno", "bin.cjs");
const LINT_MS = 30_000;

interface Snippet {
  readonly says: string;
  readonly file: string;
  readonly code: string;
  /** The one rule it breaks. Absent: none. */
  readonly breaks?: string;
}

const longFunction = (lines: number) =>
  `export function long(): void {\n${"  work();\n".repeat(lines - 2)}}\n`;

const snippets: readonly Snippet[] = [
  {
    says: "an outer folder imports an inner one",
    file: "src/storage/good.ts",
    code: `import { groupOf } from "../model/rows.ts";\ngroupOf();\n`,
  },
  {
    says: "an inner folder must not import an outer one",
    file: "src/model/bad_outward.ts",
    code: `import { take } from "../partition/mailbox.ts";\ntake();\n`,
    breaks: "inward-imports",
  },
  {
    says: "not even its types",
    file: "src/model/bad_type.ts",
    code: `import type { Take } from "../partition/mailbox.ts";\nexport type T = Take;\n`,
    breaks: "inward-imports",
  },
  {
    says: "folders of one layer must not import each other",
    file: "src/ingress/bad_sideways.ts",
    code: `export { list } from "../admin/services.ts";\n`,
    breaks: "inward-imports",
  },
  {
    says: "a dynamic import is an import",
    file: "src/outbound/bad_dynamic.ts",
    code: `export const load = () => import("../partition/boot.ts");\n`,
    breaks: "inward-imports",
  },
  {
    says: "src must not reach out of src",
    file: "src/bad_adapter.ts",
    code: `import { serve } from "../adapters/node.ts";\nserve();\n`,
    breaks: "inward-imports",
  },
  {
    says: "within storage, an outer folder imports an inner one",
    file: "src/storage/log/good.ts",
    code: `import { fold } from "../fold/fold.ts";\nfold();\n`,
  },
  {
    says: "within storage, an inner folder must not import an outer one",
    file: "src/storage/codec/bad_outward.ts",
    code: `import { recover } from "../log/recover.ts";\nrecover();\n`,
    breaks: "inward-imports",
  },
  {
    says: "within storage, folders of one layer must not import each other",
    file: "src/storage/read/bad_sideways.ts",
    code: `import { fold } from "../fold/fold.ts";\nfold();\n`,
    breaks: "inward-imports",
  },
  {
    says: "an entry imports what it starts",
    file: "adapters/node.ts",
    code: `import { listen } from "./node/listen.ts";\nlisten();\n`,
  },
  {
    says: "among adapters, an inner folder must not import an outer one",
    file: "adapters/platform/bad_outward.ts",
    code: `import { serve } from "../server/serve.ts";\nserve();\n`,
    breaks: "inward-imports",
  },
  {
    says: "among adapters, no folder must import an entry",
    file: "adapters/node/bad_entry.ts",
    code: `import { PartitionObject } from "../workerd.ts";\nnew PartitionObject();\n`,
    breaks: "inward-imports",
  },
  {
    says: "within libsql, a file must not import what answers queries",
    file: "adapters/libsql/file/bad_outward.ts",
    code: `import { QueryPool } from "../query/pool.ts";\nnew QueryPool();\n`,
    breaks: "inward-imports",
  },
  {
    says: "a folder nobody gave a place must be given one",
    file: "src/misc/bad_area.ts",
    code: `import { assert } from "../assert.ts";\nassert();\n`,
    breaks: "inward-imports",
  },
  {
    says: "others may speak the engine's words",
    file: "src/outbound/good_words.ts",
    code: `import { type Event } from "../engine/event.ts";\nexport type T = Event;\n`,
  },
  {
    says: "others must not run the engine",
    file: "src/outbound/bad_words.ts",
    code: `import { step } from "../engine/step.ts";\nstep();\n`,
    breaks: "inward-imports",
  },
  {
    says: "the partition runs the engine",
    file: "src/partition/good_runner.ts",
    code: `import { step } from "../engine/step.ts";\nstep();\n`,
  },
  {
    says: "the engine imports words and assertions only",
    file: "src/engine/bad_import.ts",
    code: `import { header } from "../names.ts";\nheader();\n`,
    breaks: "inward-imports",
  },
  {
    says: "the engine may have members and keys called like the world",
    file: "src/engine/journal/good.ts",
    code: `import { Turn } from "../turn.ts";\n` +
      `export const at = (turn: Turn) => ({ fetch: turn.fetch, max: Math.max(turn.now, 1) });\n`,
  },
  ...[
    ["await", "export const f = (p: never) => { void (() => p); };\nawait f(1 as never);\n"],
    ["async", "export async function f(): never {}\n"],
    ["for_await", "for await (const one of []) one();\n"],
    ["date", "export const now = Date.now();\n"],
    ["new_date", "export const now = new Date(0);\n"],
    ["random", "export const chance = Math.random();\n"],
    ["crypto", "export const id = crypto.randomUUID();\n"],
    ["fetch", "export const f = fetch;\n"],
    ["shorthand", "export const world = { fetch };\n"],
    ["timer", "setTimeout(() => {}, 1);\n"],
    ["console", "console.log(1);\n"],
    ["performance", "export const t = performance.now();\n"],
    ["global", `export const d = globalThis["Date"];\n`],
  ].map(([name, code]) => ({
    says: `the engine knows no ${name}`,
    file: `src/engine/bad_${name}.ts`,
    code: code!,
    breaks: "pure-engine",
  })),
  {
    says: "others may look at the clock",
    file: "src/partition/good_clock.ts",
    code: "export const now = Date.now();\n",
  },
  {
    says: "src must not import a runtime's modules",
    file: "src/storage/bad_node.ts",
    code: `import { readFile } from "node:fs";\nreadFile();\n`,
    breaks: "no-runtime",
  },
  {
    says: "src must not know a runtime's globals",
    file: "src/storage/bad_deno.ts",
    code: "export const pid = Deno.pid;\n",
    breaks: "no-runtime",
  },
  {
    says: "adapters know their runtime",
    file: "adapters/good.ts",
    code: `import { readFile } from "node:fs";\nreadFile(process.pid);\n`,
  },
  {
    says: "a function of 40 lines fits",
    file: "src/storage/good_function.ts",
    code: longFunction(40),
  },
  {
    says: "a function of 41 lines does not",
    file: "src/storage/bad_function.ts",
    code: longFunction(41),
    breaks: "short",
  },
  {
    says: "a group of tests may be longer than a function",
    file: "test/storage/good_group.ts",
    code: `describe("group", () => {\n${"  test();\n".repeat(60)}});\n` +
      `describe.each([1])("group", () => {\n${"  test();\n".repeat(60)}});\n`,
  },
  {
    says: "a test may not",
    file: "test/storage/bad_test.ts",
    code: `test("long", () => {\n${"  work();\n".repeat(60)}});\n`,
    breaks: "short",
  },
  {
    says: "a file of 300 lines fits",
    file: "src/storage/good_file.ts",
    code: "work();\n".repeat(300),
  },
  {
    says: "a file of 301 lines does not",
    file: "src/storage/bad_file.ts",
    code: "work();\n".repeat(301),
    breaks: "short",
  },
  {
    says: "the alias must not be spelled in src, not even in a comment",
    file: "src/ingress/bad_alias.ts",
    code: "/** As Restate does. */\nexport const a = 1;\n",
    breaks: "one-spelling",
  },
  { says: "names spells it", file: "src/names.ts", code: `export const ALIAS = "restate";\n` },
  { says: "wire spells it", file: "src/wire/good.ts", code: `export const a = "restate";\n` },
  { says: "tests spell it", file: "test/wire/good.ts", code: `export const a = "restate";\n` },
  {
    says: "file names are snake_case",
    file: "src/storage/badName.ts",
    code: "export const a = 1;\n",
    breaks: "snake-case",
  },
  {
    says: "shared test code begins with an underscore",
    file: "test/storage/_contract.ts",
    code: "export const a = 1;\n",
  },
  ...connectionSnippets,
];

interface Report {
  readonly diagnostics: readonly { readonly filename: string; readonly code: string }[];
  readonly errors: readonly unknown[];
}

/** Lints a folder with the house plugin alone. */
function lint(folder: string): Promise<Report> {
  const args = [DENO, "lint", "--json", "--config", join(folder, "deno.json"), folder];
  return new Promise((resolve, reject) =>
    execFile(process.execPath, args, { cwd: folder, timeout: LINT_MS }, (_, stdout, stderr) => {
      try {
        resolve(JSON.parse(stdout));
      } catch (cause) {
        reject(new Error(`deno lint answered: ${stderr}`, { cause }));
      }
    })
  );
}

async function writeTree(folder: string): Promise<void> {
  const plugin = join(REPOSITORY, "test", "tidy", "tidy.lint.ts");
  const config = { lint: { rules: { tags: [] }, plugins: [plugin] }, lock: false };
  await writeFile(join(folder, "deno.json"), JSON.stringify(config));
  for (const { file, code } of snippets) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), code);
  }
}

describe("house rules", () => {
  const broken = new Map<string, string[]>();
  let folder = "";

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "tidy-")));
    await writeTree(folder);
    const { diagnostics, errors } = await lint(folder);
    expect(errors).toEqual([]);
    for (const { filename, code } of diagnostics) {
      const file = relative(folder, fileURLToPath(filename));
      broken.set(file, [...broken.get(file) ?? [], code]);
    }
  }, LINT_MS);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each(snippets)("$says ($file)", ({ file, breaks }) => {
    const rules = [...new Set(broken.get(file))];
    expect(rules).toEqual(breaks === undefined ? [] : [`tidy/${breaks}`]);
  });
});

test("the test files that begin first, or run by turns, exist", () => {
  expect([...LONGEST, ...BY_TURNS].filter((file) => !existsSync(join(REPOSITORY, "test", file))))
    .toEqual([]);
});

test("each file that runs by turns runs in one of six parts, and in a run of all", () => {
  const parts = [..."012345"].map((part) => leftOut({ LONG_PARTS: "6", LONG_PART: part }));
  for (const file of BY_TURNS) {
    expect(parts.filter((left) => left.includes(`test/${file}`)).length, file).toBe(5);
  }
  expect(leftOut({})).toEqual([]);
});
