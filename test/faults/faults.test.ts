import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../..");
const FOLDER = import.meta.dirname;
const read = (...names: string[]) => readFileSync(path.join(...names), "utf8");

interface Fault {
  readonly file: string;
  readonly what: string;
  readonly find: string;
  readonly replace: string;
  readonly tests: readonly string[];
  readonly equivalent?: string;
}

type Caught = Readonly<Record<string, { readonly test: string; readonly name: string } | null>>;

interface Table {
  keyOf(fault: Fault): string;
  table(faults: readonly Fault[], caught: Caught): string;
}

const load = async (name: string) => await import(path.join(FOLDER, name));
const { faults }: { readonly faults: readonly Fault[] } = await load("faults.mjs");
const { keyOf, table }: Table = await load("table.mjs");
const caught: Caught = JSON.parse(read(FOLDER, "caught.json"));

/** Of those that are not equivalent. */
const NOTICED_MIN = 0.95;

test("every fault can still be put in: its place occurs once", () => {
  const wrong = faults.filter(({ file, find, replace }) =>
    find === replace || read(ROOT, file).split(find).length !== 2
  );
  expect(wrong.map(keyOf), "change what they look for, then run test/faults/run.mjs").toEqual([]);
  expect(new Set(faults.map(keyOf)).size).toBe(faults.length);
});

test("every fault names tests that there are", () => {
  const named = new Set(faults.flatMap(({ tests }) => tests));
  expect([...named].filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
  expect(faults.filter(({ tests }) => tests.length === 0).map(keyOf)).toEqual([]);
});

test("every fault was tried, and tests notice almost all of them", () => {
  const real = faults.filter(({ equivalent }) => equivalent === undefined);
  expect(real.map(keyOf).filter((key) => !(key in caught))).toEqual([]);
  const noticed = real.filter((fault) => caught[keyOf(fault)]);
  expect(noticed.length / real.length).toBeGreaterThanOrEqual(NOTICED_MIN);
});

test("the table says what was found", () => {
  expect(read(FOLDER, "faults.md")).toBe(table(faults, caught));
});
