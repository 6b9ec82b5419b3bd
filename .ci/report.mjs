// Reads what a run of all tests reported, and the run of the files that were tried once more.
//
//   node .ci/report.mjs failed FOLDER     the files with a failure of the first run, a line each
//   node .ci/report.mjs summary FOLDER    what was skipped, tried twice or failed; then the counts
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

const [, , verb, folder] = process.argv;
const NO_FILE = "no file of tests";

function read(name, missing) {
  const file = path.join(folder, name);
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  return text === "" ? missing : JSON.parse(text);
}

/** The files of a report, by name, with what no test caught. Empty if nothing could be built. */
function filesOf(report) {
  const files = new Map(
    read(report, { testResults: [] }).testResults.map((one) => [one.name, one]),
  );
  for (const { file = NO_FILE, message } of read(`stray_${report}`, [])) {
    const { assertionResults } = files.get(file) ?? { assertionResults: [] };
    files.set(file, { name: file, status: "failed", message, assertionResults, isStray: true });
  }
  return files;
}

const relative = (name) => path.relative(process.cwd(), name);
const isFailed = ({ status }) => status === "failed";
/** A file that cannot be loaded, or fails before its first test, has no tests that failed. */
const failuresOf = (file) => {
  const tests = file.assertionResults.filter(isFailed);
  const named = tests.map(({ fullName, failureMessages: [message = ""] }) =>
    `${fullName}: ${message.split("\n")[0]}`
  );
  const isOutside = isFailed(file) && (file.isStray || tests.length === 0);
  return isOutside
    ? [...named, `outside its tests: ${(file.message ?? "").split("\n")[0]}`]
    : named;
};

const first = filesOf("first.json");
if (verb === "failed") {
  // What came during no file cannot be tried again.
  if (first.has(NO_FILE)) process.exit();
  for (const [name, file] of first) if (isFailed(file)) console.log(relative(name));
} else {
  const second = filesOf("second.json");
  const all = new Map([...first, ...second]);
  const tests = [...all.values()].flatMap((file) =>
    file.assertionResults.map((one) => ({ ...one, file: relative(file.name) }))
  );
  // Promises that a runtime does not keep, and tools that npm cannot fetch.
  const skipped = tests.filter(({ status }) => status === "pending" || status === "skipped");
  for (const { file, fullName } of skipped) console.log(`skipped: ${file}: ${fullName}`);
  // What tells most comes last: of a long output often only the end is kept.
  for (const name of second.keys()) {
    for (const failure of failuresOf(first.get(name))) {
      console.log(`failed the first time: ${relative(name)}: ${failure}`);
    }
  }
  const failures = [...all].flatMap(([name, file]) =>
    failuresOf(file).map((failure) => `${relative(name)}: ${failure}`)
  );
  for (const failure of failures) console.log(`failed: ${failure}`);
  const passed = tests.filter(({ status }) => status === "passed").length;
  // Without a report nothing was tried, which must not look like a success.
  console.log(`${passed} passed, ${first.size === 0 ? 1 : failures.length} failed`);
}
