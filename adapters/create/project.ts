import { type Language, type Sources, STARTERS } from "./languages.ts";
import { pageOf } from "./page.ts";

/** What `build.mjs` has collected. Files are by their path in a project. */
export interface Collected {
  /** The versions that starters are tried with. */
  readonly versions: Readonly<Record<"perdure" | "sdk" | "wrangler", string>>;
  readonly requirements: string;
  readonly wrangler: string;
  /** What starts a server for the tests of every starter. */
  readonly server: string;
  readonly starters: Readonly<Record<string, Starter>>;
}

export interface Starter {
  readonly page: string;
  readonly test: string;
  readonly sources: Readonly<Record<Sources, Files>>;
}

export type Files = Readonly<Record<string, string>>;

export interface Choice {
  readonly name: string;
  readonly languageName: string;
  readonly language: Language;
  readonly starter: string;
  /** What is installed as `perdure`, as a dependency in a manifest says it. */
  readonly perdure: string;
}

const SDK = "@restatedev/restate-sdk";
const TEST = "handlers.test.mjs";
const IGNORED = ["node_modules", "svc-data", ".wrangler", ".venv", "__pycache__", "target"]
  .map((folder) => `${folder}/\n`).join("");
/** How a program of Deno starts perdure. */
const ON_DENO = "deno run --allow-all --unstable-no-legacy-abort";

/** All files of a project. Throws `RangeError` for a starter that the language lacks. */
export function projectOf(choice: Choice, collected: Collected): Files {
  const { language, starter: name } = choice;
  const starter = collected.starters[name];
  const sources = starter?.sources[language.sources];
  if (starter === undefined || sources === undefined || STARTERS[name] === undefined) {
    throw new RangeError(`Cannot write "${name}" in ${language.title}: there is none`);
  }
  return {
    ...sources,
    [TEST]: starter.test,
    "server.mjs": serverOf(language, collected.server),
    "README.md": pageOf(starter.page, language, choice.languageName),
    ".gitignore": IGNORED,
    ...(choice.languageName === "deno" ? denoFiles : npmFiles)(choice, collected),
    ...(language.sources === "python" && { "requirements.txt": collected.requirements }),
    ...(choice.languageName === "workers" && {
      "wrangler.toml": collected.wrangler.replace("NAME", choice.name),
    }),
  };
}

/** The file says how Node serves handlers: two lines are those of the language. */
function serverOf({ command, isHttp1 }: Language, text: string): string {
  const parameter = command.includes("port") ? "(port)" : "()";
  return replaced(
    replaced(text, `() => [process.execPath, "handlers.ts"]`, `${parameter} => [${command}]`),
    "IS_HTTP1 = false",
    `IS_HTTP1 = ${isHttp1}`,
  );
}

/** Throws `RangeError` where the text does not have `from`, whatever it is replaced with. */
export function replaced(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new RangeError(`Cannot write the project: no "${from}"`);
  return text.replaceAll(from, () => to);
}

function npmFiles(choice: Choice, { versions }: Collected): Files {
  const { language, languageName, perdure } = choice;
  const isScript = language.sources === "typescript" || language.sources === "fetch";
  return json("package.json", {
    name: choice.name,
    private: true,
    type: "module",
    engines: { node: ">=22.18" },
    scripts: {
      ...(language.serve === undefined && { dev: "perdure dev handlers.ts" }),
      test: `node --test ${TEST}`,
    },
    ...(isScript && { dependencies: { [SDK]: versions.sdk } }),
    devDependencies: {
      perdure,
      ...(languageName === "workers" && { wrangler: versions.wrangler }),
    },
  });
}

function denoFiles({ perdure }: Choice, { versions }: Collected): Files {
  const program = `npm:perdure@${perdure}`;
  return json("deno.json", {
    nodeModulesDir: "auto",
    imports: { [SDK]: `npm:${SDK}@${versions.sdk}`, perdure: program },
    tasks: {
      dev: `${ON_DENO} ${program} dev handlers.ts`,
      perdure: `${ON_DENO} ${program}`,
      test: `deno test --allow-all ${TEST}`,
    },
  });
}

function json(file: string, value: unknown): Files {
  return { [file]: `${JSON.stringify(value, null, 2)}\n` };
}
