import path from "node:path";
import { CommandFailure, EXIT_CODES } from "../cli/failure.ts";
import { help, readArguments, usage, type Wanted } from "./arguments.ts";
import { Questions, type Terminal } from "./ask.ts";
import { type Language, LANGUAGES, STARTERS } from "./languages.ts";
import { type Collected, projectOf } from "./project.ts";
import { checkEmpty, writeProject } from "./write.ts";

/** What the tool has of its process. */
export interface Surroundings {
  readonly collected: Collected;
  /** Undefined: nobody can be asked. */
  readonly terminal: Terminal | undefined;
  /** The version of the Node that runs it; undefined: it is no Node. */
  readonly node: string | undefined;
  readonly say: (text: string) => void;
  readonly complain: (text: string) => void;
}

interface Chosen {
  readonly folder: string;
  readonly language: string;
  readonly starter: string;
}

const USUAL: Chosen = { folder: "my-app", language: "node", starter: "greeter" };
/** The first Node that runs TypeScript. */
const TYPES = [22, 18];

/** Does what a command line says. Resolves with the exit code. */
export async function run(args: readonly string[], around: Surroundings): Promise<number> {
  try {
    const wanted = readArguments(args);
    if (wanted.isHelp) around.say(help());
    else await create(wanted, around);
    return EXIT_CODES.done[0];
  } catch (cause) {
    if (!(cause instanceof CommandFailure)) throw cause;
    around.complain(`error: ${cause.message}\n`);
    return EXIT_CODES[cause.exit][0];
  }
}

async function create(wanted: Wanted, around: Surroundings): Promise<void> {
  if (wanted.folder !== undefined) await checkEmpty(wanted.folder);
  const { folder, language: languageName, starter } = await choose(wanted, around);
  const language = LANGUAGES[languageName]!;
  const perdure = perdureOf(wanted, languageName, around.collected);
  const choice = { name: nameOf(folder), languageName, language, starter, perdure };
  const files = projectOf(choice, around.collected);
  await writeProject(folder, files);
  around.say(report(folder, language, { files: Object.keys(files).length, starter }));
  const warning = languageName === "deno" ? undefined : warningOf(around.node);
  if (warning !== undefined) around.complain(warning);
}

/** Asks for what is not given. Throws `CommandFailure` where nobody can be asked. */
async function choose(wanted: Wanted, { terminal }: Surroundings): Promise<Chosen> {
  const missing = (["folder", "language", "starter"] as const)
    .filter((name) => wanted[name] === undefined);
  if (wanted.isYes || missing.length === 0) {
    const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
    return { ...USUAL, ...Object.fromEntries(given) };
  }
  if (terminal === undefined) {
    const flags = missing.map((name) => name === "folder" ? "a folder" : `--${name}`).join(", ");
    throw usage(`Cannot ask: the input is no terminal. Give ${flags}, or --yes for the defaults`);
  }
  const questions = new Questions(terminal);
  const titles = Object.entries(LANGUAGES).map(([name, { title }]) => [name, title]);
  try {
    const folder = wanted.folder ?? await questions.text("Folder", USUAL.folder);
    await checkEmpty(folder);
    return {
      folder,
      language: wanted.language ??
        await questions.choice("Language", Object.fromEntries(titles)),
      starter: wanted.starter ?? await questions.choice("Starter", STARTERS),
    };
  } finally {
    questions.close();
  }
}

/** A path is said from anywhere; Deno knows no tarballs. */
function perdureOf({ perdure }: Wanted, language: string, { versions }: Collected): string {
  if (perdure === undefined || !/[/\\]|\.tgz$/.test(perdure)) return perdure ?? versions.perdure;
  if (language === "deno") {
    throw usage(`Cannot use "${perdure}": Deno installs packages of registries, and no tarballs`);
  }
  return `file:${path.resolve(perdure)}`;
}

/** A name that npm takes. */
function nameOf(folder: string): string {
  const name = path.basename(path.resolve(folder)).toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-").replaceAll(/^-+|-+$/g, "").slice(0, 63);
  // A package of that name would depend on itself.
  return name === "" || name === "perdure" || name === "wrangler" ? USUAL.folder : name;
}

function report(
  folder: string,
  language: Language,
  { files, starter }: { readonly files: number; readonly starter: string },
): string {
  const start = language.serve === undefined ? [`${toolOf(language)} dev`] : [];
  const lines = [`cd ${folder}`, ...language.install, language.test, ...start];
  return `Wrote ${files} files to ${folder}: ${starter}, ${language.title}.\n` +
    `It needs ${language.needs}. Next:\n\n${lines.map((line) => `  ${line}\n`).join("")}\n` +
    "README.md says what to call.\n";
}

function toolOf({ test }: Language): string {
  return test.startsWith("deno") ? "deno task" : "npm run";
}

function warningOf(node: string | undefined): string | undefined {
  if (node === undefined) return undefined;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const [first = 0, second = 0] = TYPES;
  if (major > first || major === first && minor >= second) return undefined;
  return `warning: This is Node ${node}, and the project needs ${TYPES.join(".")} or later\n`;
}
