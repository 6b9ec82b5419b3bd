import { createHash } from "node:crypto";
import { createReadStream, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { isMain, report } from "./packages.mjs";

/**
 * Writes `SHA256SUMS` for the files of a folder, as `sha256sum --check` reads it:
 * `node checksums.mjs FOLDER`; with `--check` it compares, where there is no such program.
 */
export const SUMS = "SHA256SUMS";

async function sumOf(file) {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(file)) hash.update(piece);
  return hash.digest("hex");
}

const namesIn = (folder) =>
  readdirSync(folder, { withFileTypes: true })
    .filter((one) => one.isFile() && one.name !== SUMS)
    .map(({ name }) => name)
    .sort();

/** Writes the sums of all files in a folder, by name. Throws when there is none. */
export async function writeSums(folder) {
  const names = namesIn(folder);
  if (names.length === 0) throw new Error(`There is nothing in "${folder}"`);
  const lines = [];
  for (const name of names) lines.push(`${await sumOf(path.join(folder, name))}  ${name}\n`);
  writeFileSync(path.join(folder, SUMS), lines.join(""));
}

/** What differs from the sums of a folder: files that are changed, missing or not in the list. */
export async function differences(folder) {
  const lines = readFileSync(path.join(folder, SUMS), "utf8").trimEnd().split("\n");
  // A sum in hexadecimal digits, two blanks, a name.
  const known = new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
  const names = namesIn(folder);
  const missing = [...known.keys()].filter((name) => !names.includes(name));
  const found = missing.map((name) => `${name} is missing`);
  for (const name of names) {
    const sum = known.get(name);
    if (sum === undefined) found.push(`${name} is not in ${SUMS}`);
    else if (await sumOf(path.join(folder, name)) !== sum) found.push(`${name} is changed`);
  }
  return found;
}

if (isMain(import.meta)) {
  const [folder = ".", flag] = process.argv.slice(2);
  if (flag === "--check") report(await differences(folder));
  else await writeSums(folder);
}
