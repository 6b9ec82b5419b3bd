import { parseArgs } from "node:util";
import { didYouMean } from "../../src/nearest.ts";
import { CommandFailure, EXIT_CODES } from "../cli/failure.ts";
import { LANGUAGES, STARTERS } from "./languages.ts";

/** What a command line says. What is absent is asked for, or has a default with `isYes`. */
export interface Wanted {
  readonly folder: string | undefined;
  readonly language: string | undefined;
  readonly starter: string | undefined;
  /** What is installed as `perdure`: a version, or the path of a tarball. */
  readonly perdure: string | undefined;
  readonly isYes: boolean;
  readonly isHelp: boolean;
}

const OPTIONS = {
  language: { type: "string" },
  starter: { type: "string" },
  perdure: { type: "string" },
  yes: { type: "boolean", short: "y" },
  help: { type: "boolean", short: "h" },
} as const;
type Name = keyof typeof OPTIONS;

/** Reads the words behind the command. Throws `CommandFailure` where one is unknown. */
export function readArguments(args: readonly string[]): Wanted {
  const { positionals, tokens } = parseArgs({
    ...{ args: [...args], options: OPTIONS, strict: false, allowPositionals: true, tokens: true },
  });
  const given: Partial<Record<Name, string>> = {};
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    given[nameOf(token.name, token.rawName)] = valueOf(token.name as Name, token.value);
  }
  if (positionals.length > 1) {
    throw usage(`Cannot read the command line: it names two folders, ${list(positionals)}`);
  }
  if (given.language !== undefined) check("language", given.language, LANGUAGES);
  if (given.starter !== undefined) check("starter", given.starter, STARTERS);
  return {
    folder: positionals[0],
    language: given.language,
    starter: given.starter,
    perdure: given.perdure,
    isYes: given.yes !== undefined,
    isHelp: given.help !== undefined,
  };
}

function nameOf(name: string, raw: string): Name {
  if (Object.hasOwn(OPTIONS, name)) return name as Name;
  const known = Object.keys(OPTIONS).map((one) => `--${one}`);
  throw usage(`Cannot read the command line: there is no flag "${raw}"${didYouMean(raw, known)}`);
}

function valueOf(name: Name, value: string | undefined): string {
  const isText = OPTIONS[name].type === "string";
  if (isText && (value ?? "") === "") {
    throw usage(`Cannot read the command line: --${name} has no value`);
  }
  if (!isText && value !== undefined) {
    throw usage(`Cannot read the command line: --${name} takes no value`);
  }
  return value ?? "";
}

/** Throws `CommandFailure` with what was probably meant, unless `known` has the name. */
export function check(kind: string, typed: string, known: Readonly<Record<string, unknown>>): void {
  if (Object.hasOwn(known, typed)) return;
  const names = Object.keys(known);
  const meant = didYouMean(typed, names);
  throw usage(
    `There is no ${kind} "${typed}"${meant === "" ? `. There are ${list(names)}` : meant}`,
  );
}

/** A command line that cannot be carried out. */
export function usage(message: string): CommandFailure {
  return new CommandFailure("usage", `${message}, see "npm create perdure -- --help"`);
}

function list(words: readonly string[]): string {
  return words.join(", ");
}

/** The text of `--help`. */
export function help(): string {
  const column = (names: Readonly<Record<string, string>>) =>
    Object.entries(names).map(([name, doc]) => `    ${name.padEnd(12)}${doc}`);
  const titles = Object.entries(LANGUAGES)
    .map(([id, { title, needs }]) => [id, `${title} (needs ${needs})`] as const);
  const codes = {
    [EXIT_CODES.done[0]]: "Done.",
    [EXIT_CODES.failed[0]]: "It could not write, or the questions were left.",
    [EXIT_CODES.usage[0]]: EXIT_CODES.usage[1],
  };
  return [
    "Usage: npm create perdure [folder] -- [flags]",
    "",
    "Writes a project with durable handlers and a test of them. It asks for what is not given,",
    "and overwrites nothing.",
    "",
    "  --language <name>   The language of the handlers. Default: node.",
    ...column(Object.fromEntries(titles)),
    "  --starter <name>    What to begin with. Default: greeter.",
    ...column(STARTERS),
    "  --perdure <what>    The perdure to install: a version, or the path of a tarball.",
    "  -y, --yes           Ask nothing, and take the defaults.",
    "  -h, --help          Print this.",
    "",
    "Exit codes:",
    ...Object.entries(codes).map(([code, doc]) => `  ${code}  ${doc}`),
    "",
    "Example:",
    "  npm create perdure my-app -- --language node --starter greeter",
    "",
  ].join("\n");
}
