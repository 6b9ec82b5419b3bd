import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { exposedFiles } from "../../adapters/installation/privacy.ts";
import { denoCommand, nodeEntry } from "../support/build.ts";
import { Child, until } from "../support/child.ts";

type Command = readonly [string, ...string[]];

let root: string;
const children: Child[] = [];
beforeEach(() => void (root = mkdtempSync(path.join(tmpdir(), "privacy-"))));
afterEach(async () => {
  for (const child of children.splice(0)) await child.stop();
  rmSync(root, { recursive: true, force: true });
});

const at = (...names: string[]) => path.join(root, ...names);
const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);
const modesIn = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, modeOf(path.join(folder, name))]));

const commands: Readonly<Record<string, () => Command>> = {
  node: () => [process.execPath, nodeEntry()],
  deno: denoCommand,
};

describe.each(Object.entries(commands))("on %s", (_, command) => {
  /** A server on a folder, once it serves. */
  async function serve(folder: string): Promise<Child> {
    const child = new Child(command(), {
      SVC_BASE_DIR: folder,
      SVC_INGRESS__BIND_PORT: "0",
      SVC_ADMIN__BIND_PORT: "0",
    });
    children.push(child);
    await until(
      "the server to be ready",
      () => Promise.resolve(/is ready/.test(child.output())),
      20_000,
    );
    return child;
  }

  async function tool(...args: string[]): Promise<void> {
    const [file, ...others] = command();
    const child = new Child([file, ...others, ...args], {});
    expect([await child.ended(), child.output()]).toEqual([0, expect.anything()]);
  }

  test("only its own user can read what a server keeps, copies and exports", async () => {
    const child = await serve(at("data"));
    const files = modesIn(at("data"));
    expect(Object.keys(files)).toEqual(
      expect.arrayContaining(["perdure.db", "perdure.db-wal", "perdure.json", "perdure.lock"]),
    );
    expect([modeOf(at("data")), ...new Set(Object.values(files))]).toEqual(["700", "600"]);
    expect(child.output()).not.toContain("Other users");
    await tool("backup", "--base-dir", at("data"), "--to", at("copy"));
    expect([modeOf(at("copy")), ...new Set(Object.values(modesIn(at("copy"))))])
      .toEqual(["700", "600"]);
    await child.stop();
    await tool("export", "--base-dir", at("data"), "--to", at("dump.jsonl"));
    expect(modeOf(at("dump.jsonl"))).toBe("600");
  }, 60_000);

  test("says which files others can reach, and leaves their rights as they are", async () => {
    await (await serve(at("data"))).stop();
    chmodSync(at("data"), 0o755);
    chmodSync(at("data", "perdure.db"), 0o644);
    const child = await serve(at("data"));
    expect(child.output()).toMatch(/Other users of this machine can reach the data.*perdure\.db/s);
    expect([modeOf(at("data")), modeOf(at("data", "perdure.db"))]).toEqual(["755", "644"]);
  }, 60_000);
});

test("files in a folder that only its user can enter are not exposed", async () => {
  mkdirSync(at("data", "below"), { recursive: true, mode: 0o755 });
  chmodSync(at("data"), 0o755);
  expect(await exposedFiles(at("data"))).toEqual(["below"]);
  chmodSync(at("data"), 0o700);
  expect(await exposedFiles(at("data"))).toEqual([]);
});
