import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { denoCommand, nodeEntry } from "../support/build.ts";
import { Child, until } from "../support/child.ts";

type Command = readonly [string, ...string[]];

let folder: string;
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), "process-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const settings = () => ({
  SVC_BASE_DIR: path.join(folder, "data"),
  SVC_INGRESS__BIND_PORT: "0",
  SVC_ADMIN__BIND_PORT: "0",
});

async function run(command: Command, env: NodeJS.ProcessEnv = {}) {
  const child = new Child(command, { ...settings(), ...env });
  return { end: await child.ended(), output: child.output() };
}

const commands: Readonly<Record<string, () => Command>> = {
  node: () => [process.execPath, nodeEntry()],
  deno: denoCommand,
};

describe.each(Object.entries(commands))("the process on %s", (_, command) => {
  test("prints its help, its version and its settings, and starts nothing", async () => {
    const [file, ...args] = command();
    const help = await run([file, ...args, "--help"]);
    expect([help.end, help.output]).toEqual([0, expect.stringContaining("--ingress.bind-port")]);
    const version = await run([file, ...args, "-V"]);
    expect(version).toEqual({ end: 0, output: expect.stringMatching(/^perdure \d+\.\d+\.\d+\n$/) });
    const dump = await run([file, ...args, "--dump-config", "--ingress.bind-port=81"]);
    expect([dump.end, dump.output]).toEqual([0, expect.stringContaining("bind-port = 81")]);
  }, 30_000);

  test("reads a config file, and says which one it cannot read", async () => {
    const file = path.join(folder, "config.toml");
    writeFileSync(file, `log-level = "loud"\n`);
    const bad = await run(command(), { SVC_CONFIG: file });
    expect([bad.end, bad.output]).toEqual([1, expect.stringMatching(/^\[RT0002\] .*log-level/)]);
    const missing = await run(command(), { SVC_CONFIG: path.join(folder, "none.toml") });
    expect(missing.output).toMatch(/^\[RT0002\] .*none\.toml/);
    expect(missing.output).toContain("Name a file that exists");
    expect(missing.output).not.toContain("named key");
  }, 30_000);

  test("says what to do about an address that this machine does not have", async () => {
    const { end, output } = await run(command(), { SVC_INGRESS__BIND_ADDRESS: "203.0.113.1" });
    expect(end).toBe(1);
    expect(output).toMatch(
      /\[RT0004\] .*no such address \("ingress\.bind-address"\)\. Choose an address/,
    );
    expect(output).not.toContain("Stop");
  }, 30_000);

  test.each([
    ["was thrown", `throw new Error("a bug")`],
    ["was rejected", `Promise.reject(new Error("a bug"))`],
  ])("ends with 70 and a word about it when a bug %s", async (_, code) => {
    // Within the repository: packages are found from where the entry lies.
    const file = path.join(path.dirname(nodeEntry()), "bug.mjs");
    const [program, ...args] = command();
    const entry = JSON.stringify(args.pop());
    const bug = `process.on("SIGUSR2", () => setTimeout(() => { ${code}; }));`;
    writeFileSync(file, `import process from "node:process"; ${bug} await import(${entry});`);
    const child = new Child([program, ...args, file], settings());
    await until("it to be ready", () => child.output().includes("is ready"));
    child.signal("SIGUSR2");
    const end = await child.ended(), output = child.output();
    expect(end, output).toBe(70);
    const record = JSON.parse(output.split("\n").find((line) => line.startsWith("{")) ?? "{}");
    expect(record).toMatchObject({ level: "error", cause: expect.stringContaining("a bug") });
  }, 30_000);

  test("does not mind when nobody reads what it prints any more", async () => {
    const [file, ...args] = command();
    const child = spawn(file, args, { env: { ...process.env, ...settings() } });
    let output = "";
    child.stdout.on("data", (chunk) => output += chunk);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    try {
      await until("it to be ready", () => output.includes("ready"));
      child.stdout.destroy();
      child.stderr.destroy();
      child.kill("SIGTERM");
      expect(await ended).toBe(0);
    } finally {
      child.kill("SIGKILL");
    }
  }, 30_000);

  test("makes its data folder and notes who made it", async () => {
    const child = new Child(command(), settings());
    await until("it to be ready", () => child.output().includes("ready"));
    expect(await child.stop("SIGTERM")).toBe(0);
    const text = readFileSync(path.join(folder, "data", "perdure.json"), "utf8");
    expect(JSON.parse(text)).toMatchObject({ format: 1 });
  }, 30_000);
});
