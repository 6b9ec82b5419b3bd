import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { endTree, treeEnd } from "../../adapters/platform/process_tree.ts";
import { removeLeftover } from "../../adapters/platform/remove_leftover.ts";
import { shellCommand, shellFile } from "../../adapters/platform/shell.ts";
import { until } from "../support/child.ts";

const ADAPTERS = path.resolve(import.meta.dirname, "../../adapters");

test("a line is read by the shell of the system", () => {
  const { file, args } = shellCommand("printf '%s' a | tr a b", "linux");
  expect(execFileSync(file, args, { encoding: "utf8" })).toBe("b");
  expect(shellCommand(`type "C:\\a b\\token"`, "win32")).toEqual({
    file: "cmd.exe",
    args: ["/d", "/s", "/c", `"type "C:\\a b\\token""`],
    windowsVerbatimArguments: true,
  });
  expect([shellFile("darwin"), shellFile("win32")]).toEqual(["/bin/sh", "cmd.exe"]);
});

test.skipIf(process.platform === "win32")(
  "a process is ended with what it has started, by a group or by a program",
  async () => {
    expect(treeEnd(7, "darwin")).toEqual({ kind: "signal", pid: -7 });
    const args = ["/pid", "7", "/t", "/f"];
    expect(treeEnd(7, "win32")).toEqual({ kind: "command", file: "taskkill", args });
    const script = "sleep 1000 & echo $!; wait";
    const parent = spawn("/bin/sh", ["-c", script], {
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [line] = await once(createInterface(parent.stdout), "line") as [string];
    const isAlive = () => isRunning(Number(line));
    expect(isAlive()).toBe(true);
    const gone = once(parent, "exit");
    endTree(parent.pid!, "SIGKILL");
    await gone;
    await until("its child to end", () => !isAlive(), 5_000);
    // It has ended: that is no error.
    endTree(parent.pid!, "SIGTERM");
  },
);

/** Whether a process runs. On Linux one that nobody has asked after counts as ended, too. */
function isRunning(pid: number): boolean {
  try {
    if (process.platform !== "linux") return process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

test("what is still open is left where the system cannot remove it, and only there", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "leftover-"));
  writeFileSync(path.join(folder, "a.db"), "");
  removeLeftover(folder);
  expect(existsSync(folder)).toBe(false);
  removeLeftover(folder);
  const failing = (code: string) => () => {
    throw Object.assign(new Error(code), { code });
  };
  for (const code of ["EBUSY", "EPERM"]) {
    removeLeftover(folder, { platform: "win32", remove: failing(code) });
    const elsewhere = { platform: "linux", remove: failing(code) };
    expect(() => removeLeftover(folder, elsewhere)).toThrow(code);
  }
  expect(() => removeLeftover(folder, { platform: "win32", remove: failing("EIO") })).toThrow(
    "EIO",
  );
  rmSync(folder, { recursive: true, force: true });
});

/** What one system has, and where it is dealt with. */
const PARTICULAR: readonly { readonly what: RegExp; readonly files: readonly string[] }[] = [
  { what: /"\/bin\//, files: ["platform/shell.ts"] },
  { what: /process\.kill\(-?\w+\.?\w*,/, files: ["platform/process_tree.ts"] },
  {
    what: /"\/proc\/|`\/proc\//,
    files: [
      "installation/marks.ts",
      "libsql/query/process.ts",
      "platform/descriptors.ts",
      "platform/vitals.ts",
    ],
  },
  { what: /["'`]\/(tmp|dev|var|etc)\b/, files: [] },
  { what: /new URL\([^)]*import\.meta\.url\)\.pathname/, files: [] },
  { what: /addSignalListener\("SIG(TERM|HUP|USR\d)"/, files: ["dev.ts"] },
  { what: /\b(chmod|symlink|link|mkfifo|getuid|setuid)(Sync)?\(/, files: [] },
  { what: /spawn\w*\(\s*"(npm|npx|deno|tsc)"/, files: [] },
];

test("what one system alone has is named in one place each", () => {
  const sources = readdirSync(ADAPTERS, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.split(path.sep).join("/"));
  for (const { what, files } of PARTICULAR) {
    const found = sources.filter((file) => {
      return what.test(readFileSync(path.join(ADAPTERS, file), "utf8"));
    });
    expect({ what: String(what), found: found.sort() }).toEqual({
      what: String(what),
      found: files,
    });
  }
  expect(sources.length).toBeGreaterThan(100);
});
