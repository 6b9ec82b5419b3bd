import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { isSent } from "../container/_dockerfile.ts";
import { mustRun } from "./_tool.ts";
import { Servers } from "./_servers.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const isCloned = existsSync(path.join(ROOT, ".git"));
const { root, at, start } = new Servers();

/** The paths that git does not ignore, of paths from the top of the repository. */
function committed(paths: readonly string[]): string[] {
  // It ends with 1 where it ignores none of them.
  const ignored = execFileSync("git", ["check-ignore", "--no-index", "--stdin"], {
    cwd: ROOT,
    input: paths.join("\n"),
    encoding: "utf8",
  }).split("\n");
  return paths.filter((one) => !ignored.includes(one));
}

test.skipIf(!isCloned)(
  "neither git nor a container's builder takes data folders, copies of them and dumps",
  async () => {
    const settings = { DEFAULT_NUM_PARTITIONS: "2", STORAGE__DATABASES: "each" };
    const live = await start(at("svc-data"), settings);
    await mustRun(["backup", "--base-dir", at("svc-data"), "--to", at("of-monday")]);
    const whileRunning = readdirSync(root, { recursive: true, encoding: "utf8" });
    await live.stop("SIGTERM");
    await mustRun(["export", "--base-dir", at("svc-data"), "--to", at("data.jsonl")]);
    const names = new Set([
      ...whileRunning,
      ...readdirSync(root, { recursive: true, encoding: "utf8" }),
    ]);
    const files = [...names].filter((name) => name.includes("."));
    expect(files).toEqual(expect.arrayContaining([
      "data.jsonl",
      "of-monday/perdure-1.db",
      "svc-data/perdure.db-wal",
      "svc-data/perdure.marks",
    ]));
    expect(committed(files)).toEqual([]);
    const dockerignore = readFileSync(path.join(ROOT, ".dockerignore"), "utf8");
    expect(files.filter((file) => isSent(dockerignore, file))).toEqual([]);
  },
  60_000,
);
