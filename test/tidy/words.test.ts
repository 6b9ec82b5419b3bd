import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { finderOf, ORDINARY, wordsReplaced } from "./_words.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const GLOSSARY = "docs/glossary.md";
const FOLDERS = ["src", "adapters", "test", "docs"];
const PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];
/** Decisions are records and keep the words of their time; the others name the words themselves. */
const EXEMPT = ["docs/decisions/", GLOSSARY, "test/tidy/_words.ts", "test/tidy/words.test.ts"];
/** Words that are still to be replaced, by folder. It only ever shrinks. */
const LEFT: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(join(import.meta.dirname, "words_left.json"), "utf8"),
);

const read = (file: string) => readFileSync(join(REPOSITORY, file), "utf8");

function filesBelow(folder: string): string[] {
  return readdirSync(join(REPOSITORY, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = `${folder}/${entry.name}`;
    if (!entry.isDirectory()) return [file];
    return entry.name === "node_modules" || entry.name === "target" ? [] : filesBelow(file);
  });
}

const files = [...FOLDERS.flatMap(filesBelow), ...PAGES]
  .filter((file) => /\.(?:tsx?|css|html|mjs|js|md|py|java|kt|rs)$/.test(file))
  .filter((file) => !EXEMPT.some((start) => file.startsWith(start)));
const words = wordsReplaced(read(GLOSSARY));
const find = finderOf(words);

describe("words that the glossary replaces", () => {
  test("are in no source, test or document", () => {
    const found = files.flatMap((file) =>
      find(file, read(file))
        .filter((word) => !LEFT[file.split("/").slice(0, 2).join("/")]?.includes(word))
        .map((word) => `${file}: ${word}`)
    );
    expect(found, `${GLOSSARY} has the terms that replace them`).toEqual([]);
  });

  test("are read from its tables", () => {
    expect(words).toEqual(expect.arrayContaining(["door", "parcel", "churn map", "near", "far"]));
    expect(Object.keys(ORDINARY).filter((word) => !words.includes(word))).toEqual([]);
  });

  test.each([
    ["const parcelMax = 1;", "parcel"],
    ["const PARCEL_MAX = 1;", "parcel"],
    ["/** Couriers carry it. */", "courier"],
    ["/**\n * A churn\n * map.\n */", "churn map"],
    ["// A churn map", "churn map"],
    ["const near = 1;", "near"],
    ["// As near as it gets.", undefined],
    ["this.#look();", "look"],
    ["// A look at the clock.", undefined],
    ["// A lot of rows.", undefined],
    ["// The lots of a turn.", "lot"],
    ["// The second try.", "try"],
    ["try { work(); } finally { end(); }", undefined],
  ])("%s", (text, word) => {
    expect(find("src/planted.ts", text)).toEqual(word ? [word] : []);
  });
});
