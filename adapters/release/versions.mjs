import { readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { headingsOf } from "./notes.mjs";
import { isMain, readManifest, report, ROOT } from "./packages.mjs";

/**
 * Compares all that says a version: `node versions.mjs [TAG]`. With a tag, such as `v1.2.3`, what is
 * released has a date. Prints what disagrees and ends with 1.
 */
const SEMANTIC = /^\d+\.\d+\.\d+(-[0-9a-z.]+)?$/;

/** What the repository says. */
export function readVersions(tag) {
  const text = (name) => readFileSync(path.join(ROOT, name), "utf8");
  const lock = JSON.parse(text("package-lock.json"));
  return {
    tag,
    manifest: readManifest().version,
    lock: [lock.version, lock.packages[""].version],
    program: /VERSION = "(.+)"/.exec(text("adapters/platform/version.ts"))?.[1],
    // It needs none. If it has one, it is the same.
    deno: JSON.parse(text("deno.json")).version,
    changelog: text("CHANGELOG.md"),
  };
}

/** What disagrees with the manifest, a sentence each. */
export function disagreements({ tag, manifest, lock, program, deno, changelog }) {
  const [newest] = headingsOf(changelog);
  const said = [
    ["package-lock.json", lock[0]],
    ["the root of package-lock.json", lock[1]],
    ["adapters/platform/version.ts", program],
    ["CHANGELOG.md", newest?.version],
    ...(deno === undefined ? [] : [["deno.json", deno]]),
    ...(tag === undefined ? [] : [["the tag", tag.replace(/^v/, "")]]),
  ];
  const others = said.filter(([, version]) => version !== manifest)
    .map(([where, version]) => `${where} says ${version}, package.json says ${manifest}`);
  if (!SEMANTIC.test(manifest)) others.push(`${manifest} is no semantic version`);
  if (tag !== undefined && !tag.startsWith("v")) others.push(`The tag ${tag} has no "v"`);
  if (tag !== undefined && newest?.date === undefined) {
    others.push(`CHANGELOG.md has no date beside ${newest?.version}`);
  }
  return others;
}

if (isMain(import.meta)) report(disagreements(readVersions(process.argv[2])));
