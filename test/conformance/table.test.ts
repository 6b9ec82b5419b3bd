import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { COLUMNS } from "./_columns.ts";
import { GROUPS } from "./_groups.ts";
import { readOutcomes, resultsFile } from "./_table.ts";

const names = GROUPS.flatMap(({ promises }) => Object.keys(promises));

test("a promise has a name of its own", () => {
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test("a gap names promises that exist, each once in a column", () => {
  for (const { title, gaps } of COLUMNS) {
    const lacking = gaps.flatMap(({ promises }) => promises);
    expect(lacking.filter((name) => !names.includes(name)), title).toEqual([]);
    expect(new Set(lacking).size, title).toBe(lacking.length);
  }
});

test("every column has results, of every promise, and nothing else has any", () => {
  const keys = COLUMNS.map(({ key }) => key);
  const files = readdirSync(path.dirname(resultsFile("")));
  expect(files.toSorted()).toEqual(keys.map((key) => `${key}.json`).toSorted());
  for (const key of keys) {
    const known = Object.values(readOutcomes(key)).flatMap(Object.keys);
    expect(known.toSorted(), key).toEqual(names.toSorted());
  }
});

test("every column has a test file that runs it", () => {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".test.ts"));
  const run = files.flatMap((name) => {
    const text = readFileSync(path.join(import.meta.dirname, name), "utf8");
    return /^await conformance\("([^"]+)"\);$/m.exec(text)?.[1] ?? [];
  });
  expect(run.toSorted()).toEqual(COLUMNS.map(({ key }) => key).toSorted());
});
