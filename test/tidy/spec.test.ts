import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const SPEC = "docs/spec";
/** A rule, as comments and documents name it. */
const CITATION = /docs\/spec\/([\w-]+\.md)(?:#([\w-]+))?/g;
/** How a page of the decisions or a README names it. */
const LINK = /\.\.\/spec\/([\w-]+\.md)#([\w-]+)/g;
const SIGN = "\u00a7";

const read = (file: string) => readFileSync(join(REPOSITORY, file), "utf8");

function filesBelow(folder: string): string[] {
  return readdirSync(join(REPOSITORY, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

const sources = ["src", "adapters", "test"].flatMap(filesBelow)
  .filter((file) => /\.(ts|mjs|js|md|proto)$/.test(file));
const texts = new Map(sources.map((file) => [file, read(file)]));

const pages = readdirSync(join(REPOSITORY, SPEC)).filter((name) => name !== "README.md");
const sections = pages.flatMap((page) =>
  [...read(`${SPEC}/${page}`).matchAll(/^## (.+)$/gm)].map(([, title]) =>
    `${page}#${anchor(title!)}`
  )
);

function anchor(title: string): string {
  return title.toLowerCase().replaceAll(/[^\w\- ]/g, "").replaceAll(" ", "-");
}

/** What a text cites: `page.md#section`, or `page.md`. */
function citedIn(text: string): string[] {
  return [...text.matchAll(CITATION), ...text.matchAll(LINK)]
    .map(([, page, section]) => section === undefined ? page! : `${page}#${section}`);
}

describe("the rules that the code cites", () => {
  test("exist: every citation names a page, and a section of it", () => {
    const dead = [...texts].flatMap(([file, text]) =>
      citedIn(text)
        .filter((one) => !sections.includes(one) && !existsSync(join(REPOSITORY, SPEC, one)))
        .map((one) => `${file}: ${one}`)
    );
    expect(dead).toEqual([]);
  });

  test("are cited by paths, never by numbers of sections", () => {
    const numbered = [...texts].filter(([, text]) => text.includes(SIGN)).map(([file]) => file);
    expect(numbered).toEqual([]);
  });

  test("are all needed: every section is cited by code or tests", () => {
    const cited = new Set([...texts.values()].flatMap(citedIn));
    expect(sections.filter((one) => !cited.has(one))).toEqual([]);
  });
});
