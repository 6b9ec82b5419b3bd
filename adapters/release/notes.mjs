import { readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { isMain, ROOT } from "./packages.mjs";

/** Prints the notes of a version, out of CHANGELOG.md: `node notes.mjs VERSION`, with or without its "v". */
const HEADING = /^## (\S+)(?: \((\d{4}-\d{2}-\d{2})?.*\))?$/;

/** The versions of a changelog, newest first. `date`: undefined while it is not released. */
export function headingsOf(changelog) {
  return changelog.split("\n").flatMap((text, line) => {
    const [, version, date] = HEADING.exec(text) ?? [];
    return version === undefined ? [] : [{ version, date, line }];
  });
}

/**
 * What a changelog says of a version, without its heading. `repository`: an address, where links to files
 * lead; they are relative in the changelog. Throws when there is nothing.
 */
export function notesOf(changelog, version, repository) {
  const headings = headingsOf(changelog);
  const at = headings.findIndex((one) => one.version === version);
  const [begin, end] = [headings[at]?.line, headings[at + 1]?.line];
  const lines = at < 0 ? [] : changelog.split("\n").slice(begin + 1, end);
  const text = lines.join("\n").trim();
  if (text === "") throw new Error(`CHANGELOG.md says nothing of ${version}`);
  if (repository === undefined) return `${text}\n`;
  const target = `${repository}/blob/v${version}/`;
  return `${text.replaceAll(/\]\((?!\w+:|#)/g, `](${target}`)}\n`;
}

if (isMain(import.meta)) {
  const version = (process.argv[2] ?? "").replace(/^v/, "");
  const changelog = readFileSync(path.join(ROOT, "CHANGELOG.md"), "utf8");
  try {
    process.stdout.write(notesOf(changelog, version, process.env.PACKAGE_REPOSITORY || undefined));
  } catch (cause) {
    process.stderr.write(`${cause.message}\n`);
    process.exitCode = 1;
  }
}
