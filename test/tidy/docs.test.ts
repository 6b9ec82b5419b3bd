import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { describeCommands } from "../../adapters/cli/describe.ts";
import { describeConfig, options } from "../../src/config.ts";
import { describeSupport } from "../conformance/_table.ts";
import { describeDecisions } from "./_decisions_table.ts";
import { describeErrors } from "./_errors_table.ts";
import { describeMetrics } from "./_metrics_table.ts";
import { describeTables, misdescribed } from "./_sql_tables.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const TOP_LEVEL = [
  ".ci",
  ".devcontainer",
  ".github",
  ".dockerignore",
  ".editorconfig",
  ".gitignore",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "LICENSE",
  "README.md",
  "SECURITY.md",
  "adapters",
  "deno.json",
  "docs",
  "package-lock.json",
  "package.json",
  "src",
  "test",
  "tsconfig.json",
  "wrangler.toml",
];
/** The front page: what and why, how to run it, five minutes, and where to go on. */
const FRONT_LINES_MAX = 130;
/** A screen, for the README of a folder. */
const README_LINES_MAX = 60;
const DECISION_LINES_MAX = 45;
/** The status line of a decision, which does not count as a line of it. */
const STATUS = /^\*\*Status\.\*\* ([\s\S]+?)\n\n/m;
const STATES =
  /^(Accepted\.|Accepted, not built\.|(Accepted, s|S)uperseded (in part )?by \[\d{3}\])/;
/** Not a page to be read from top to bottom, but what a program writes. */
const WRITTEN = ["test/faults/faults.md"];

const DECISIONS = "docs/decisions";

/** Where the reference server is named and explained. */
const EXPLAINED = "docs/support.md";
/** Pages for which the README of their folder links there. */
const FOLDER_EXPLAINS = /^docs\/(decisions|spec)\/(?!README)/;

const at = (...parts: string[]) => join(REPOSITORY, ...parts);
const read = (file: string) => readFileSync(at(file), "utf8");

/** Names that `.gitignore` leaves out of a checkout: what is built, installed or made by running. */
const ignored = read(".gitignore").split("\n").filter((line) => line !== "");

function isIgnored(name: string): boolean {
  return name === ".git" ||
    ignored.some((line) =>
      line.startsWith("*") ? name.endsWith(line.slice(1)) : name === line.replace("/", "")
    );
}

/** Files of the repository, found without git, so that a copy of it can be tested too. */
function filesOf(folder: string): string[] {
  return readdirSync(at(folder), { withFileTypes: true }).filter(({ name }) => !isIgnored(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesOf(path) : [path];
    });
}

const files = filesOf("");
const documents = files.filter((file) => file.endsWith(".md"));
const decisions = readdirSync(at(DECISIONS)).filter((name) => name !== "README.md").sort();

/** The generated text between two markers of a document. With UPDATE_DOCS set, `now` goes there. */
function generated(file: string, name: string, now: string): string {
  const pattern = new RegExp(
    `(<!-- ${name}: begin[^\\n]*-->\\n<!-- deno-fmt-ignore-start -->\\n)([\\s\\S]*?)` +
      `(<!-- deno-fmt-ignore-end -->\\n<!-- ${name}: end -->)`,
  );
  const text = read(file);
  expect(text).toMatch(pattern);
  if (process.env["UPDATE_DOCS"]) {
    writeFileSync(at(file), text.replace(pattern, (_, a, _b, c) => `${a}\n${now}\n\n${c}`));
  }
  return pattern.exec(read(file))![2]!.trim();
}

describe("generated parts of docs", () => {
  test("the table of settings is that of config.ts", () => {
    expect(generated("docs/settings.md", "config", describeConfig())).toBe(describeConfig());
  });

  test("the commands are those of the table in adapters/cli", () => {
    expect(generated("docs/cli.md", "commands", describeCommands())).toBe(describeCommands());
  });

  test("the table of error codes is that of error_codes.ts", () => {
    expect(generated("docs/errors.md", "errors", describeErrors())).toBe(describeErrors());
  });

  test("the table of metrics is that of the page of metrics", () => {
    expect(generated("docs/metrics.md", "metrics", describeMetrics())).toBe(describeMetrics());
  });

  test("the support table is that of the results of test/conformance", () => {
    expect(generated("docs/support.md", "support", describeSupport())).toBe(describeSupport());
  });

  test("the tables of SQL are those of src/introspection, and every column is described", () => {
    expect(misdescribed()).toEqual([]);
    expect(generated("docs/sql.md", "tables", describeTables())).toBe(describeTables());
  });

  test("the index of decisions has their titles and states", () => {
    const index = describeDecisions(decisions.map((name) => [name, read(join(DECISIONS, name))]));
    expect(generated("docs/decisions/README.md", "decisions", index)).toBe(index);
  });
});

describe("the index of docs", () => {
  test("lists every page and every folder once", () => {
    const listed = [...read("docs/README.md").matchAll(/^- \[.+?\]\(([^)]+)\): .+/gm)]
      .map(([, link]) => link!);
    const there = readdirSync(at("docs"), { withFileTypes: true })
      .map((entry) => entry.isDirectory() ? `${entry.name}/README.md` : entry.name)
      .filter((name) => name !== "README.md");
    expect(listed.toSorted()).toEqual(there.toSorted());
  });
});

describe("what the front page says", () => {
  test(`it has at most ${FRONT_LINES_MAX} lines`, () => {
    expect(read("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(FRONT_LINES_MAX);
  });

  test("its tree names what exists, and every folder of src", () => {
    const tree = /## The tree\n+```\n([\s\S]*?)```/.exec(read("README.md"))![1]!;
    const named: string[] = [];
    let parent = "";
    for (const [, indent, name] of tree.matchAll(/^( *)([\w./]+)/gm)) {
      if (indent === "") parent = name!;
      named.push(indent === "" ? name! : join(parent, name!));
    }
    expect(named.filter((name) => !existsSync(at(name)))).toEqual([]);
    const folders = readdirSync(at("src"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory()).map(({ name }) => `src/${name}/`);
    expect(folders.filter((name) => !named.includes(name))).toEqual([]);
  });
});

describe("documents", () => {
  test.each(documents)("commands of %s are scripts and tasks that exist", (file) => {
    const text = read(file);
    const named = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name!);
    const { scripts } = JSON.parse(read("package.json"));
    const { tasks } = JSON.parse(read("deno.json"));
    expect(named(/npm run (\w+)/g).filter((name) => !(name in scripts))).toEqual([]);
    expect(named(/deno task (\w+)/g).filter((name) => !(name in tasks))).toEqual([]);
  });

  test("name the reference server once, and link to that elsewhere", () => {
    expect(documents.filter((file) => read(file).includes("restate-server"))).toEqual([EXPLAINED]);
    const link = `${basename(EXPLAINED)}#the-reference-server`;
    const loose = documents.filter((file) => file !== EXPLAINED && !FOLDER_EXPLAINS.test(file))
      .filter((file) => /\bthe reference( server)?\b(?! of)/.test(read(file).replaceAll("\n", " ")))
      .filter((file) => !read(file).includes(link));
    expect(loose, `must link to ${EXPLAINED}#the-reference-server`).toEqual([]);
  });

  test.each(documents)("links of %s lead somewhere", (file) => {
    const text = read(file).replaceAll(/```[\s\S]*?```/g, "");
    const dead = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!)
      .filter((link) => !/^[a-z]+:/.test(link)).filter((link) => !leads(file, link));
    expect(dead).toEqual([]);
  });

  test.each(documents)("paths in %s exist", (file) => {
    const named = [...read(file).matchAll(/`((?:src|adapters|test|docs)\/[\w/.-]+)`/g)];
    const dead = named.map(([, path]) => path!)
      .filter((path) => !existsSync(at(path)) && !existsSync(at(dirname(file), path)));
    expect(dead).toEqual([]);
  });

  test("every folder of src has a README of at most a screen, and so have adapters and test", () => {
    const folders = readdirSync(at("src"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory()).map(({ name }) => `src/${name}`);
    const missing = [...folders, "src", "adapters", "test"]
      .filter((folder) => !existsSync(at(folder, "README.md")));
    expect(missing).toEqual([]);
    const long = documents.filter((file) => file.includes("/") && !file.startsWith("src/README"))
      .filter((file) => !file.startsWith("docs/") && !WRITTEN.includes(file))
      .filter((file) => read(file).split("\n").length > README_LINES_MAX);
    expect(long).toEqual([]);
  });

  test("nobody's own paths stand in them", () => {
    expect(documents.filter((file) => /\/(home|root|work|Users)\//.test(read(file)))).toEqual([]);
  });
});

describe("decisions", () => {
  test("are numbered without a gap, and their titles say their number", () => {
    const numbers = decisions.map((name) => Number(name.slice(0, 3)));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    for (const name of decisions) {
      expect(name).toMatch(/^\d{3}(-[a-z0-9]+)+\.md$/);
      expect(read(`docs/decisions/${name}`)).toMatch(new RegExp(`^# ${name.slice(0, 3)} .+\n`));
    }
  });

  test("say below the title whether they hold, and what takes their place", () => {
    for (const name of decisions) {
      const status = STATUS.exec(read(join(DECISIONS, name)))?.[1];
      expect(status, name).toMatch(STATES);
    }
  });

  test("are there when a source or a document cites them by number", () => {
    const dead = files.filter((file) => /\.(ts|mjs|md)$/.test(file)).flatMap((file) =>
      [...read(file).matchAll(/\bdecisions? (\d{3})\b/g)].map(([, number]) => number!)
        .filter((number) => !decisions.some((name) => name.startsWith(number)))
        .map((number) => `${file}: ${number}`)
    );
    expect(dead).toEqual([]);
  });

  test("say what came up, what was chosen, what it costs and when to revisit, on one screen", () => {
    const parts = ["What came up", "What we chose", "What we weighed", "What it costs"];
    for (const name of decisions) {
      const text = read(`docs/decisions/${name}`);
      for (const part of [...parts, "When to revisit"]) expect(text).toContain(`**${part}.**`);
      expect(text.replace(STATUS, "").split("\n").length).toBeLessThanOrEqual(DECISION_LINES_MAX);
    }
  });
});

describe("the repository", () => {
  test("has a changelog that begins with the version of package.json", () => {
    const { version } = JSON.parse(read("package.json"));
    expect(/^## (\S+)/m.exec(read("CHANGELOG.md"))?.[1]).toBe(version);
  });

  test("holds at its top what belongs there and nothing else", () => {
    const names = new Set(files.map((file) => file.split("/")[0]!));
    expect([...names].filter((name) => !TOP_LEVEL.includes(name))).toEqual([]);
  });

  test("starts Node with the same options by npm, in the image and on the page of commands", () => {
    const [, flags] = /^node (.+) dist/.exec(JSON.parse(read("package.json")).scripts.start)!;
    const inImage = flags!.split(" ").map((flag) => `"${flag}"`).join(", ");
    expect(read("adapters/container/Dockerfile")).toContain(
      `["node", ${inImage}, "dist/node.mjs"]`,
    );
    expect(read("docs/cli.md")).toContain(`node ${flags} node_modules/perdure/dist/node.mjs`);
  });

  test("every setting is used by the wiring, by an area or by an adapter", () => {
    const users = files.filter((file) =>
      /^src\/(app|\w+\/settings|config\/schema_defaults)\.ts$/.test(file) ||
      /^adapters\/.+\.ts$/.test(file)
    );
    const text = users.map(read).join("\n");
    // `config[`${what}.bind-port`]`: ingress and admin are listened for by the same lines.
    const isUsed = (path: string) =>
      text.includes(`"${path}"`) || text.includes(`}${path.slice(path.indexOf("."))}\``);
    expect(Object.keys(options).filter((path) => !isUsed(path))).toEqual([]);
  });
});

/** Whether a relative link of a document, with its heading if it names one, exists. */
function leads(from: string, link: string): boolean {
  const [path, heading] = link.split("#");
  const target = path === "" ? from : relative(REPOSITORY, at(dirname(from), path!));
  if (target.startsWith("..") || !existsSync(at(target))) return false;
  if (heading === undefined || statSync(at(target)).isDirectory()) return true;
  const headings = [...read(target).matchAll(/^#+ (.+)$/gm)].map(([, title]) => anchor(title!));
  return headings.includes(heading);
}

function anchor(title: string): string {
  return title.toLowerCase().replaceAll(/[^\w\- ]/g, "").replaceAll(" ", "-");
}
