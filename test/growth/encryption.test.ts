import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { call, register, value } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import type { RuntimeName, Server } from "../support/server.ts";
import { filesWith } from "../conformance/_clear_text.ts";
import { mustRun, runTool } from "./_tool.ts";
import { Servers } from "./_servers.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const OLD = "o1d-".repeat(10), NEW = "n3w-".repeat(10);
const MARK = "Zz9mArKeDsTaTeZzZ";

const { at, start } = new Servers();
let endpoint: Endpoint;
beforeAll(async () => {
  endpoint = await startEndpoint("h2");
  writeFileSync(at("old.key"), OLD);
  writeFileSync(at("new.key"), `${NEW}\n`);
});
afterAll(() => endpoint.close());

const withKey = (key: string) => ({ STORAGE__ENCRYPTION_KEY: key });
const env = (key: string) => ({ SVC_STORAGE__ENCRYPTION_KEY: key });
const isReadable = (folder: string) => filesWith(MARK, { folders: [folder], pids: [] }).length > 0;

const add = (server: Server) =>
  call(server, "Counter/k/add", 1, { headers: { "idempotency-key": "once" } });

/** A folder of a server that has stopped, with marked state. */
async function filled(folder: string, settings: Record<string, string> = {}): Promise<void> {
  const server = await start(folder, settings);
  await register(server, endpoint);
  await value(server, "Counter/k/append", MARK);
  expect((await add(server)).body).toBe(1);
  await server.stop("SIGTERM");
}

/** A server goes on with what is in the folder. */
async function expectServed(folder: string, settings: Record<string, string>): Promise<void> {
  const server = await start(folder, settings);
  expect((await add(server)).body).toBe(1);
  expect(await value(server, "Counter/k/words")).toEqual([MARK]);
  await server.stop("SIGTERM");
}

describe("a key is refused", () => {
  const refusedWith = async (args: readonly string[], env = {}) => {
    const { end, output } = await runTool(args, { env });
    expect(end).toBe(1);
    expect(output).not.toContain(OLD);
    return output;
  };

  test("for a database server, which encrypts its own files", async () => {
    const url = "http://127.0.0.1:9";
    for (const args of [["export"], ["import", "--from", at("old.key")], []]) {
      expect(await refusedWith([...args, "--storage.database-url", url], env(OLD))).toContain(
        `[RT0002] Cannot use "storage.encryption-key": "storage.database-url" is set, and a database`,
      );
    }
    const to = ["--to-partitions", "2", "--to", url, "--to-key-file", at("old.key")];
    expect(await refusedWith(["reshard", ...to])).toContain("[RT0002] Cannot use --to-key-file");
  });

  test("that is no key, or cannot be read", async () => {
    writeFileSync(at("short.key"), "x".repeat(31));
    const verify = ["verify", "--base-dir", at("nothing"), "--storage.encryption-key-file"];
    expect(await refusedWith([...verify, at("short.key")])).toContain(
      "is not a key of 32 to 256 visible ASCII characters",
    );
    expect(await refusedWith([...verify, at("missing.key")])).toContain("ENOENT");
    expect(await refusedWith([...verify, at("old.key")], env(NEW))).toContain("at once");
    expect(existsSync(at("nothing"))).toBe(false);
  });

  test("that is not the one of the folder, also by a backup, which then makes nothing", async () => {
    await filled(at("kept"), withKey(OLD));
    const backup = ["backup", "--base-dir", at("kept"), "--to", at("refused")];
    expect(await refusedWith(backup)).toContain("it is encrypted, and no key is set");
    expect(await refusedWith(backup, env(NEW))).toContain("it is encrypted with another key");
    expect(existsSync(at("refused"))).toBe(false);
    expect(await refusedWith(["--base-dir", at("kept"), "--accept-loss"])).toContain("[RT0036]");
    await expectServed(at("kept"), withKey(OLD));
  });

  test("that is not the one of a file, whatever the folder says", async () => {
    await filled(at("mixed"), withKey(OLD));
    await filled(at("foreign"), withKey(NEW));
    const filter = (file: string) => path.basename(file) !== "perdure.json";
    cpSync(at("foreign"), at("mixed"), { recursive: true, filter });
    const output = await refusedWith(["verify", "--base-dir", at("mixed")], env(OLD));
    expect(output).toContain("file is not a database, or it has another key");
  });
});

test("a dump is in clear, and is imported with the key of the settings", async () => {
  await filled(at("dumped"), withKey(OLD));
  await mustRun(["export", "--base-dir", at("dumped"), "--to", at("dump.jsonl")], {
    env: env(OLD),
  });
  const state = Buffer.from(JSON.stringify([MARK])).toString("base64url");
  expect(readFileSync(at("dump.jsonl"), "utf8")).toContain(state);
  const into = ["--from", at("dump.jsonl"), "--base-dir", at("imported")];
  await mustRun(["import", ...into], { env: env(NEW) });
  expect(isReadable(at("imported"))).toBe(false);
  await expectServed(at("imported"), withKey(NEW));
});

test("a reshard keeps the key, or takes another", async () => {
  await filled(at("divided"), withKey(OLD));
  const reshard = ["reshard", "--to-partitions", "2", "--to-databases", "each"];
  const from = ["--base-dir", at("divided")];
  await mustRun([...reshard, ...from, "--to", at("same")], { env: env(OLD) });
  const other = ["--to", at("other"), "--to-key-file", at("new.key")];
  await mustRun([...reshard, ...from, ...other], { env: env(OLD) });
  for (const [name, key] of [["same", OLD], ["other", NEW]] as const) {
    expect(isReadable(at(name))).toBe(false);
    await mustRun(["verify", "--base-dir", at(name)], { env: env(key) });
    await expectServed(at(name), withKey(key));
  }
});

describe.each<RuntimeName>(["node", "deno"])("the tools on %s", (runtime) => {
  test("encrypt a folder, change its key, and decrypt it, by a copy", async () => {
    const [clear, old, changed, again] = ["clear", "old", "changed", "again"]
      .map((name) => at(`${runtime}-${name}`)) as [string, string, string, string];
    await filled(clear, { DEFAULT_NUM_PARTITIONS: "2", STORAGE__DATABASES: "each" });
    expect(isReadable(clear)).toBe(true);

    const copy = (from: string, to: string, keyFile: string) => [
      ...["backup", "--base-dir", from, "--to", to, "--to-key-file", keyFile],
    ];
    await mustRun(copy(clear, old, at("old.key")), { runtime });
    expect(isReadable(old)).toBe(false);
    await mustRun(["verify", "--base-dir", old], { runtime, env: env(OLD) });

    await mustRun(
      [...copy(old, changed, at("new.key")), "--storage.encryption-key-file", at("old.key")],
      { runtime },
    );
    expect(isReadable(changed)).toBe(false);
    await expectServed(changed, withKey(NEW));
    const { output } = await runTool(["verify", "--base-dir", changed], { runtime, env: env(OLD) });
    expect(output).toContain("[RT0036] Cannot use");

    await mustRun(copy(changed, again, "none"), { runtime, env: env(NEW) });
    expect(isReadable(again)).toBe(true);
    await expectServed(again, {});
  });
});
