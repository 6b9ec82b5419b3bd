// Puts each fault into a copy of the tree, one at a time, and tells which test notices it.
//   node test/faults/run.mjs [WORD]      all faults, or those whose file or description has the word
//   node test/faults/run.mjs --missed    those that nothing has noticed yet
//   node test/faults/run.mjs --table     only writes the table anew
// What it finds goes to caught.json and README.md beside it. Never changes the tree itself.
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { keyOf, table } from "./table.mjs";
import { faults } from "./faults.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");
const COPIED = ["src", "adapters", "test", "package.json", "deno.json", "wrangler.toml"];
const CAUGHT = path.join(import.meta.dirname, "caught.json");
const TABLE = path.join(import.meta.dirname, "faults.md");
/** A fault that makes a test hang is caught by it, too. */
const TEST_MS = 10_000;
const FILE_MS = 60_000;

function copyTree() {
  const folder = mkdtempSync(path.join(tmpdir(), "perdure-faults-"));
  for (const name of COPIED) {
    cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  }
  symlinkSync(path.join(ROOT, "node_modules"), path.join(folder, "node_modules"));
  return folder;
}

/** The first test of a file that fails, or undefined. */
function failureIn(folder, file) {
  const report = path.join(folder, "report.json");
  if (!existsSync(path.join(folder, file))) throw new Error(`There is no ${file}`);
  rmSync(report, { force: true });
  const args = ["vitest", "run", file, "--bail=1", "--reporter=json", `--outputFile=${report}`];
  const limits = [`--testTimeout=${TEST_MS}`, `--hookTimeout=${TEST_MS}`];
  const { status } = spawnSync("npx", [...args, ...limits], {
    cwd: folder,
    stdio: "ignore",
    timeout: FILE_MS,
    killSignal: "SIGKILL",
  });
  if (status === 0) return undefined;
  try {
    const { testResults } = JSON.parse(readFileSync(report, "utf8"));
    const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
    return tests.find((one) => one.status === "failed")?.fullName ?? "does not load";
  } catch {
    return "does not end";
  }
}

/** Who notices this fault: a test file and the name of its test. */
function caughtBy(folder, { file, find, replace, tests }) {
  const target = path.join(folder, file);
  const source = readFileSync(target, "utf8");
  if (source.split(find).length !== 2) throw new Error(`${file} must hold "${find}" once`);
  writeFileSync(target, source.replace(find, () => replace));
  try {
    for (const test of tests) {
      const name = failureIn(folder, test);
      if (name !== undefined) return { test, name };
    }
    return null;
  } finally {
    writeFileSync(target, source);
  }
}

function tryAll(chosen) {
  const folder = copyTree();
  try {
    execFileSync("npm", ["run", "--silent", "build"], { cwd: folder });
    for (const fault of chosen) {
      if (fault.equivalent) continue;
      const found = caughtBy(folder, fault);
      console.log(`${keyOf(fault)}\n  ${found ? `${found.test}: ${found.name}` : "NOT CAUGHT"}`);
      // Another run, of other faults, may have written meanwhile.
      writeCaught({ ...readCaught(), [keyOf(fault)]: found });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const [wanted = ""] = process.argv.slice(2);
const readCaught = () => JSON.parse(readFileSync(CAUGHT, "utf8"));
const writeCaught = (caught) => writeFileSync(CAUGHT, `${JSON.stringify(caught, undefined, 2)}\n`);
const chosen = faults.filter((fault) => {
  if (wanted === "--table") return false;
  return wanted === "--missed" ? !readCaught()[keyOf(fault)] : keyOf(fault).includes(wanted);
});
if (chosen.length > 0) tryAll(chosen);
// In the order of the faults, and without those that are no more.
const caught = readCaught();
const kept = Object.fromEntries(
  faults.map(keyOf).flatMap((key) => key in caught ? [[key, caught[key]]] : []),
);
writeCaught(kept);
writeFileSync(TABLE, table(faults, kept));
const missed = chosen.filter((fault) => !fault.equivalent && !caught[keyOf(fault)]);
console.log(`${chosen.length} faults, ${missed.length} not caught`);
process.exitCode = missed.length === 0 ? 0 : 1;
