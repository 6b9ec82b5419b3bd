import { readdir, readFile } from "node:fs/promises";
import { beforeAll, expect, test } from "vitest";
import { DIFFERENCES } from "./_differences.ts";

// `DIFFERENCES` names checks by number alone, so a number that two checks bear would skip both.

/** The number at the beginning of the name of a check, as the sources have it. */
const NUMBER = /(?:^\s*|\()["'`](\d+(?:\.\d+)?[a-z]?) \S/gm;

interface Found {
  readonly file: string;
  readonly number: string;
}

let checks: readonly Found[] = [];

beforeAll(async () => {
  checks = (await Promise.all(
    (await readdir(import.meta.dirname)).filter((file) => file.endsWith(".test.ts")).map(
      async (file) =>
        [...(await readFile(`${import.meta.dirname}/${file}`, "utf8")).matchAll(NUMBER)]
          .map(([, number = ""]) => ({ file, number })),
    ),
  )).flat();
});

const filesOf = (number: string, of = checks) =>
  of.filter((one) => one.number === number).map(({ file }) => file);

test("a check over the real SDK has a number that no other one has", () => {
  const ofSdk = checks.filter(({ file }) => !file.startsWith("scripted_"));
  expect(ofSdk.length).toBeGreaterThan(100);
  expect(ofSdk.filter(({ number }) => filesOf(number, ofSdk).length > 1)).toEqual([]);
});

test("a number of flow control is of the SDK or of scripts, and there of one check", () => {
  const FIRST = 92;
  const own = checks.filter(({ number }) => parseFloat(number) >= FIRST);
  expect(own.length).toBeGreaterThan(40);
  expect(own.filter(({ number }) => filesOf(number).length > 1)).toEqual([]);
});

test("a difference is of exactly one check", () => {
  for (const number of Object.keys(DIFFERENCES)) expect(filesOf(number), number).toHaveLength(1);
});
