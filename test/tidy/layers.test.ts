import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { LAYERS, placeIn } from "./layers.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));

/** Whether there is code in a folder, at any depth. */
function hasCode(folder: string): boolean {
  return readdirSync(folder, { recursive: true }).some((name) => /\.tsx?$/.test(String(name)));
}

/** What lies in a folder and can be imported, as the list of layers names it. */
function importable(folder: string): Set<string> {
  const entries = readdirSync(join(REPOSITORY, folder), { withFileTypes: true })
    .filter((entry) =>
      entry.isDirectory() ? hasCode(join(REPOSITORY, folder, entry.name)) : /\.ts$/.test(entry.name)
    );
  return new Set(entries.map(({ name }) => placeIn(folder, `${folder}/${name}`)!));
}

/** The list in a README: names with a space between, and what they are behind two. */
function listed(readme: string): string[][] {
  const [, list] = /imports point up this list[\s\S]*?```\n([\s\S]*?)```/i.exec(readme) ?? [];
  return list?.trimEnd().split("\n").map((line) => line.split(/ {2,}/)[0]!.split(" ")) ?? [];
}

describe.each(Object.entries(LAYERS))("the layers of %s", (folder, layers) => {
  test("are all that is in it, once", () => {
    const named = layers.flat();
    expect(named.toSorted()).toEqual([...importable(folder)].toSorted());
  });

  test("are those of its README", () => {
    const readme = readFileSync(join(REPOSITORY, folder, "README.md"), "utf8");
    expect(listed(readme)).toEqual(layers);
  });

  test("that are folders have a README", () => {
    const folders = layers.flat().map((name) => join(REPOSITORY, folder, name)).filter(existsSync)
      .filter((path) => !path.endsWith(".ts"));
    expect(folders.filter((path) => !existsSync(join(path, "README.md")))).toEqual([]);
  });
});
