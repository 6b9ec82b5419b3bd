import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { afterEach, beforeEach, expect, test } from "vitest";

const [GOOD, BAD] = ["test/a.test.ts", "test/b.test.ts"];
const PASSED = { fullName: "adds", status: "passed" };
const FAILED = { fullName: "divides", status: "failed", failureMessages: ["no\nat line 1"] };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "ci-report-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function file(name: string, ...assertionResults: readonly { readonly status: string }[]): unknown {
  const status = assertionResults.some((one) => one.status === "failed") ? "failed" : "passed";
  return { name: path.resolve(name), status, assertionResults };
}

function write(name: string, value: unknown): void {
  writeFileSync(path.join(folder, name), JSON.stringify(value));
}

function report(verb: "failed" | "summary"): string[] {
  const args = [".ci/report.mjs", verb, folder];
  const text = execFileSync(process.execPath, args, { encoding: "utf8", timeout: 20_000 });
  return text.split("\n").slice(0, -1);
}

test("a file with a failure is tried once more, and the second time counts", () => {
  write("first.json", { testResults: [file(GOOD, PASSED), file(BAD, PASSED, FAILED)] });
  expect(report("failed")).toEqual([BAD]);
  expect(report("summary")).toEqual([`failed: ${BAD}: divides: no`, "2 passed, 1 failed"]);
  write("second.json", { testResults: [file(BAD, PASSED, PASSED)] });
  expect(report("summary")).toEqual([
    `failed the first time: ${BAD}: divides: no`,
    "3 passed, 0 failed",
  ]);
});

test("a file during which an error came that no test caught is tried once more as well", () => {
  write("first.json", { testResults: [file(GOOD, PASSED), file(BAD, PASSED)] });
  write("stray_first.json", [{ file: path.resolve(BAD), message: "the end\nof it" }]);
  expect(report("failed")).toEqual([BAD]);
  const failure = `${BAD}: outside its tests: the end`;
  expect(report("summary")).toEqual([`failed: ${failure}`, "2 passed, 1 failed"]);
  write("second.json", { testResults: [file(BAD, PASSED)] });
  write("stray_second.json", []);
  expect(report("summary")).toEqual([`failed the first time: ${failure}`, "2 passed, 0 failed"]);
});

test("an error during no file fails, and nothing is tried again", () => {
  write("first.json", { testResults: [file(GOOD, PASSED), file(BAD, FAILED)] });
  write("stray_first.json", [{ message: "the end" }]);
  expect(report("failed")).toEqual([]);
  expect(report("summary").at(-1)).toBe("1 passed, 2 failed");
});

test("without a report nothing was tried, which is a failure", () => {
  expect(report("failed")).toEqual([]);
  expect(report("summary")).toEqual(["0 passed, 1 failed"]);
});
