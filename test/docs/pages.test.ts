import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, describe, test } from "vitest";
import { type Step, stepsOf } from "./_page.ts";
import { absentTool, doAt, textOf } from "./_run.ts";
import { sqldProgram } from "../support/sqld.ts";
import { type Published, publishedFor } from "./_programs.ts";
import { openStage, type Stage } from "./_stage.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const FOLDER = path.join(ROOT, "docs");
const PAGE_MS = 240_000;

/** What people read: the front page and the pages of `docs/`. */
const pages = [
  "README.md",
  ...(existsSync(FOLDER) ? readdirSync(FOLDER) : [])
    .filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`).sort(),
];
const skipped: string[] = [];
let commands = 0;

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});
afterAll(() => {
  const list = skipped.map((one) => `\n  ${one}`).join("");
  console.info(`${commands} blocks of commands were run, ${skipped.length} were not:${list}`);
});

describe("the commands of a page do what it says", () => {
  test.for(pages)("%s", { timeout: PAGE_MS }, async (page, { skip }) => {
    const steps = stepsOf(readFileSync(path.join(ROOT, page), "utf8"));
    if (steps.some(({ kind }) => kind === "sqld")) skip(!await sqldProgram(), "no libSQL server");
    const absent = absentTool(steps);
    skip(absent !== undefined, `this machine has no ${absent}`);
    const published = await publishedFor(steps.map(textOf).join("\n"));
    for (const [at, step] of steps.entries()) {
      const lacking = [...published].find(([words, file]) => !file && textOf(step).includes(words));
      // What comes later on the page may use it, too.
      if (lacking) {
        return void skipped.push(
          ...steps.slice(at).map(({ line }) => `${page}:${line}: no ${lacking[0]}`),
        );
      }
      await run(page, step, published);
    }
  });
});

async function run(page: string, step: Step, published: Published): Promise<void> {
  if (step.kind === "skip") return void skipped.push(`${page}:${step.line}: ${step.reason}`);
  stage ??= await openStage({ published });
  await doAt(stage, step, page);
  if (step.kind === "shell") commands++;
}
