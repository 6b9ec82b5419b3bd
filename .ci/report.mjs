// Reads what a run of all tests reported, and the run of the files that were tried once more.
//
//   node .ci/report.mjs failed FOLDER     the files with a failure of the first run, a line each
//   node .ci/report.mjs summary FOLDER    what was skipped, tried twice or failed; then the counts
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

const [, , verb, folder] = process.argv;

/** The files of a report, by name. Empty if nothing could be built. */
function filesOf(report) {
  const file = path.join(folder, report);
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  return new Map(text === "" ? [] : JSON.parse(text).testResults.map((one) => [one.name, one]));
}

const relative = (name) => path.relative(process.cwd(), name);
const isFailed = ({ status }) => status === "failed";
/** A file that cannot be loaded, or fails before its first test, has no tests that failed. */
const failuresOf = (file) => {
  const tests = file.assertionResults.filter(isFailed);
  const named = tests.map(({ fullName, failureMessages: [message = ""] }) =>
    `${fullName}: ${message.split("\n")[0]}`
  );
  return isFailed(file) && tests.length === 0
    ? [`outside its tests: ${(file.message ?? "").split("\n")[0]}`]
    : named;
};

const first = filesOf("first.json");
if (verb === "failed") {
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
