import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { nodeEntry } from "../support/build.ts";
import { filledFolder, newRoot } from "./_tool.ts";

const ROWS = 25_000;
const SCRIPT = "/usr/bin/script";
/** Only a line about what is done says in which time. */
const IS_UNDER_WAY = /^(?!.* in \d).* rows\/s/;
const root = newRoot();
const at = (name: string) => path.join(root, name);

beforeAll(() => filledFolder(at("data"), ROWS), 60_000);

/** Runs a tool in pipes. */
function run(args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [nodeEntry(), ...args], {
    encoding: "utf8",
    maxBuffer: 256 * 1024 ** 2,
  });
  expect(status, stderr).toBe(0);
  const lines = stderr.trim().split("\n");
  // On a slow machine a part may be told of before it is done.
  return { stdout, lines: lines.filter((line) => !IS_UNDER_WAY.test(line)) };
}

/** What a part says when it is done, with about so many bytes. */
const done = (part: string, size: string) =>
  expect.stringMatching(
    new RegExp(`${part}: 25,000 rows, ${size} MiB in [\\dms ]+, [\\d,]+ rows/s$`),
  );

describe("in pipes, every part leaves a plain line on standard error", () => {
  test("export, whose output stays a dump, and import of it", () => {
    const { stdout, lines } = run(["export", "--base-dir", at("data")]);
    expect(lines).toEqual([
      done("export: Exporting", "19\\.\\d"),
      expect.stringMatching(/^export: Exported to the output, in clear text: /),
    ]);
    const dump = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    expect(dump).toHaveLength(ROWS + 2);
    run(["export", "--base-dir", at("data"), "--to", at("dump.jsonl")]);
    expect(readFileSync(at("dump.jsonl"), "utf8").length).toBe(stdout.length);
    const imported = run(["import", "--from", at("dump.jsonl"), "--base-dir", at("imported")]);
    expect(imported.stdout).toBe("");
    expect(imported.lines).toEqual([
      done("import: Importing", "2\\d\\.\\d"),
      done("import: Checking", "19\\.\\d"),
      expect.stringMatching(/^import: Imported and checked 25000 rows in 1 partitions, in /),
    ]);
  }, 60_000);

  test("reshard", () => {
    const args = ["--base-dir", at("data"), "--to", at("wider"), "--to-partitions", "2"];
    const { stdout, lines } = run(["reshard", ...args]);
    expect(stdout).toBe("");
    expect(lines).toEqual([
      done("reshard: Copying", "19\\.\\d"),
      done("reshard: Checking", "19\\.\\d"),
      expect.stringMatching(/^reshard: Copied and checked 25000 rows/),
    ]);
  }, 60_000);

  test("backup, which copies a large table in pieces, and verify of the copy", () => {
    const { stdout, lines } = run(["backup", "--base-dir", at("data"), "--to", at("copy")]);
    expect(stdout).toBe("");
    const [first, ...rest] = lines;
    // The tables of the server itself have rows, too.
    expect(first).toMatch(/^backup: Copying: 25,0\d\d rows, [23]\d\.\d MiB in [\dms ]+, /);
    expect(rest).toEqual([`backup: Copied the database to ${at("copy")}`]);
    const verified = run(["verify", "--base-dir", at("copy")]);
    expect(verified.stdout).toBe("");
    expect(verified.lines).toEqual([
      expect.stringMatching(/^verify: Nothing is missing or damaged: 25000 rows were checked/),
    ]);
  }, 60_000);
});

test.skipIf(process.platform !== "linux" || !existsSync(SCRIPT))(
  "on a terminal, one line is written again and then erased",
  () => {
    const words = [process.execPath, nodeEntry(), "verify", "--base-dir", at("data")];
    const command = words.map((word) => `'${word}'`).join(" ");
    const { stdout } = spawnSync(SCRIPT, ["-qec", command, "/dev/null"], { encoding: "utf8" });
    const [last = "", ...earlier] = stdout.split("\r\x1b[2K").reverse();
    expect(earlier.reverse().slice(1)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^verify: Checking perdure\.db, /)]),
    );
    expect(last).toMatch(/^verify: Nothing is missing or damaged: 25000 rows were checked/);
  },
  60_000,
);
