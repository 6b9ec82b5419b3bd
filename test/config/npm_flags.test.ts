import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { warningsOf } from "../../src/config.ts";

const folder = mkdtempSync(path.join(tmpdir(), "npm-flags-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The environment and the arguments that `npm start` hands to the script of a package. */
function started(name: string, flags: readonly string[]) {
  const script = `require("fs").writeFileSync("seen", JSON.stringify([process.env, process.argv]))`;
  writeFileSync(path.join(folder, "seen.cjs"), script);
  const manifest = { name, version: "1.0.0", scripts: { start: "node seen.cjs" } };
  writeFileSync(path.join(folder, "package.json"), JSON.stringify(manifest));
  const command = ["start", "--no-update-notifier", ...flags];
  execFileSync("npm", command, { cwd: folder, stdio: "ignore", timeout: 60_000 });
  const [env, [, , ...args]] = JSON.parse(readFileSync(path.join(folder, "seen"), "utf8"));
  return { env, args };
}

test("a flag that npm took for itself is warned about, with how to give it", () => {
  const { env, args } = started("perdure", ["--log-level=debug", "--accept-loss", "--strict"]);
  expect(args).toEqual([]);
  expect(warningsOf(env)).toEqual(
    ["accept-loss", "strict", "log-level"].map((flag) =>
      `npm took '--${flag}' for itself, so give it behind '--': npm start -- --${flag}`
    ),
  );
});

test("flags behind -- arrive, and those of another package's start are not ours", () => {
  const { env, args } = started("perdure", ["--", "--log-level=debug"]);
  expect(args).toEqual(["--log-level=debug"]);
  expect(warningsOf(env)).toEqual([]);
  expect(warningsOf(started("other", ["--strict", "--log-level=debug"]).env)).toEqual([]);
});
