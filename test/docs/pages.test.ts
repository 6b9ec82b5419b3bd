import { existsSync, readdirSync, readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import path from "node:path";
import { afterAll, afterEach, describe, test } from "vitest";
import { type Step, stepsOf } from "./_page.ts";
import { sqldProgram } from "../support/sqld.ts";
import { type Published, publishedFor } from "./_programs.ts";
import { openStage, type Stage } from "./_stage.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const FOLDER = path.join(ROOT, "docs");
const PAGE_MS = 240_000;
/** Programs that pages use and small machines lack: there, a page that uses one is skipped. */
const TOOLS = ["curl", "jq", "lsof"];

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
    const text = steps.map(textOf).join("\n");
    const absent = TOOLS.find((tool) => RegExp(`\\b${tool}\\b`).test(text) && !isThere(tool));
    skip(absent !== undefined, `this machine has no ${absent}`);
    const published = await publishedFor(text);
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

function isThere(tool: string): boolean {
  try {
    return execFileSync("sh", ["-c", `command -v ${tool}`], { stdio: "pipe" }).length > 0;
  } catch {
    return false;
  }
}

function textOf(step: Step): string {
  return "text" in step ? step.text : "";
}

async function run(page: string, step: Step, published: Published): Promise<void> {
  const place = `${page}:${step.line}`;
  if (step.kind === "skip") return void skipped.push(`${place}: ${step.reason}`);
  stage ??= await openStage(published);
  try {
    await stage.do(step);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${place}: ${reason}\nIn the background:\n${stage.logs()}`, { cause });
  }
  if (step.kind === "shell") commands++;
}
