import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { TOOLS } from "../../src/config/tool_flags.ts";
import { aboutOf, type CommandName, COMMANDS } from "../../adapters/cli/table.ts";
import { helpOf } from "../../adapters/cli/program.ts";
import { perdure } from "./_cli.ts";

const folder = mkdtempSync(path.join(tmpdir(), "cli-"));
const names = Object.keys(COMMANDS) as CommandName[];
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the help of each command is the golden text, and has an example", async () => {
  const { code, out } = await perdure(["--help"]);
  const helps = names.map((name) => `$ perdure ${name} --help\n${helpOf(name)}`);
  expect(code).toBe(0);
  await expect([`$ perdure --help\n${out}`, ...helps].join("\n"))
    .toMatchFileSnapshot("golden/help.txt");
  for (const name of names) expect(helpOf(name)).toContain(`perdure ${aboutOf(name).example}`);
});

test.each(["call", "backup"] as const)("%s --help is that help", async (name) => {
  expect(await perdure([name, "--help"])).toEqual({ code: 0, out: helpOf(name), said: "" });
  expect((await perdure(["help", name])).out).toBe(helpOf(name));
});

test("the flags of the tools are those that the tools read", () => {
  for (const [name, { flags }] of Object.entries(TOOLS)) {
    const shown = aboutOf(name as CommandName).flags.map((one) => one.name);
    expect(shown).toEqual([...Object.keys(flags), "json"]);
  }
});

test.each([
  [["fly"], "unknown command 'fly'"],
  [["call"], "missing required argument 'target'"],
  [["call", "Greeter/greet", "--forse"], "unknown option '--forse'"],
  [["call", "Greeter"], `"Greeter" is not a service, an optional key and a handler`],
  [["call", "Greeter/greet", "Ada"], "it is not JSON"],
  [["register", "nowhere"], "it is not an address"],
  [["invocations", "fold"], "Allowed choices are list, get, cancel"],
  [["invocations", "kill", "x' or 1"], "is not an id"],
  [["invocations", "--limit", "0"], "is not a number from 1"],
  [["sql", "select 1", "--admin", "ftp://me:secret@x"], "is not http:// or https://"],
  [["check", "--token", "käse"], "characters that are not visible ASCII"],
  [["dev", "missing.mjs"], "there is no such file"],
  [["check", "--", "x"], `only "dev" takes "--"`],
  [["backup"], `"--to <folder>" is missing`],
  [["verify", "--bass-dir", "x"], "--bass-dir"],
  [["export", "--json"], "is missing"],
])("%j is wrong usage", async (args, message) => {
  const { code, out, said } = await perdure(args);
  expect(said).toContain(message);
  expect(said).not.toMatch(/secret|käse| {4}at /);
  expect(out).toBe("");
  expect(code).toBe(2);
});

test("where no server answers, the exit code is 3 and the message says what to do", async () => {
  const env = { PERDURE_ADMIN: "http://me:secret@127.0.0.1:1", PERDURE_TOKEN: "hidden" };
  const plain = await perdure(["check"], { env });
  expect(plain).toMatchObject({ code: 3, out: "" });
  expect(plain.said).toContain(`Cannot reach a server at http://127.0.0.1:1: ECONNREFUSED`);
  expect(plain.said).toContain("perdure serve");
  expect(plain.said).not.toMatch(/secret|hidden/);
  const { said } = await perdure(["sql", "select 1", "--json"], { env });
  expect(JSON.parse(said).error.message).toContain("Cannot reach");
});

test("version says what it knows, for people and for programs", async () => {
  expect((await perdure(["version"])).out).toMatch(/^perdure \d+\.\d+\.\d+ on node /);
  expect(JSON.parse((await perdure(["version", "--json"])).out)).toMatchObject({
    service_protocol: { min: 5, max: 7 },
    data_format: expect.any(Number),
  });
});

const hasShell = (shell: string) => {
  try {
    execFileSync(shell, ["-c", "exit 0"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

test.each(["bash", "zsh", "fish"])("completions of %s parse there", async (shell) => {
  const { out, code } = await perdure(["completions", shell]);
  expect(code).toBe(0);
  for (const name of names) expect(out).toContain(name);
  if (!hasShell(shell)) return console.warn(`the check by ${shell} is skipped: it is not here`);
  const file = path.join(folder, shell);
  writeFileSync(file, out);
  execFileSync(shell, ["-n", file], { stdio: "pipe" });
});

test.runIf(hasShell("bash"))("bash completes commands, flags and values", async () => {
  const { out } = await perdure(["completions", "bash"]);
  const complete = (...words: string[]) => {
    const script = `${out}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _perdure; ` +
      `echo "\${COMPREPLY[@]}"`;
    return execFileSync("bash", ["-c", script, "bash", ...words], { encoding: "utf8" }).trim();
  };
  expect(complete("perdure", "inv")).toBe("invocations");
  expect(complete("perdure", "call", "--id")).toBe("--idempotency-key");
  expect(complete("perdure", "invocations", "can")).toBe("cancel");
});

test.runIf(hasShell("zsh"))("zsh completes commands, flags and values", async () => {
  const { out } = await perdure(["completions", "zsh"]);
  // Its line editor needs a terminal: what would be offered is printed instead.
  const offered = 'compadd() { shift; print -r -- "$@" }; _files() {}; ' +
    '_describe() { print -r -- "${(@P)2%%:*}" }';
  const complete = (...words: string[]) => {
    const script = `${offered}; words=("$@"); CURRENT=$#; set --\n${out}`;
    return execFileSync("zsh", ["-f", "-c", script, "zsh", ...words], { encoding: "utf8" })
      .trim().split(" ");
  };
  expect(complete("perdure", "inv").toSorted()).toEqual(names.toSorted());
  expect(complete("perdure", "call", "--id")).toContain("--idempotency-key");
  expect(complete("perdure", "invocations", "can")).toContain("cancel");
});

test.runIf(hasShell("fish"))("fish completes commands, flags and values", async () => {
  const { out } = await perdure(["completions", "fish"]);
  const complete = (line: string) => {
    const script = `${out}\ncomplete --do-complete '${line}'`;
    const lines = execFileSync("fish", ["--no-config", "-c", script], { encoding: "utf8" });
    return lines.trim().split("\n").map((offer) => offer.split("\t")[0]);
  };
  expect(complete("perdure inv")).toEqual(["invocations"]);
  expect(complete("perdure call --id")).toEqual(["--idempotency-key"]);
  expect(complete("perdure invocations can")).toContain("cancel");
});
