import { Failure } from "../errors.ts";
import { envNames } from "../names.ts";
import { noSuch } from "../nearest.ts";
import type { Given, Options, Source } from "./option.ts";

/** What a command line asks for besides settings (docs/spec/runtimes.md#flags). */
export const COMMANDS = {
  "--help": { short: "-h", action: "help", doc: "Print this and exit." },
  "--version": { short: "-V", action: "version", doc: "Print the version and exit." },
  "--dump-config": {
    short: undefined,
    action: "dumpConfig",
    doc: "Print the configuration as a config file, secrets left out, and exit.",
  },
} as const;

/**
 * Starts in spite of data that is missing or cannot be read. No setting, since it is meant for one
 * start: in a file it would hide the next damage.
 */
export const ACCEPT_LOSS = {
  flag: "--accept-loss",
  doc: "Start without data that is missing or damaged (RT0027, RT0028), and log what is given up.",
} as const;

export const CONFIG_FILE = { long: "--config-file", short: "-c", env: "config" } as const;

export interface Flags {
  readonly action: "serve" | typeof COMMANDS[keyof typeof COMMANDS]["action"];
  readonly acceptLoss: boolean;
  readonly configFile?: string;
  readonly settings: Source;
}

/**
 * Reads a command line: `--path value` or `--path=value` for every option, and the commands. The
 * last of several equal flags wins. Throws `Failure` RT0002.
 */
export function readFlags(options: Options, args: readonly string[]): Flags {
  const settings = new Map<string, Given>();
  let action: Flags["action"] = "serve";
  let configFile: string | undefined;
  let acceptLoss = false;
  for (let i = 0; i < args.length; i++) {
    const { name, value: joined } = split(args[i]!);
    const command = commandOf(name);
    if (command || name === ACCEPT_LOSS.flag) {
      if (joined !== undefined) throw refused(name, "it takes no value");
      if (command) action = command;
      else acceptLoss = true;
      continue;
    }
    const path = name.slice(2);
    const isFile = name === CONFIG_FILE.long || name === CONFIG_FILE.short;
    if (!isFile && !isSetting(options, name)) throw unknownFlag(options, name);
    if (options[path]?.isFlag === false) throw exposed(path);
    const value = joined ?? args[++i];
    if (value === undefined || joined === undefined && value.startsWith("--")) {
      throw refused(name, "a value must follow");
    }
    if (isFile) configFile = value;
    else settings.set(path, { value, place: () => name });
  }
  return { action, acceptLoss, settings, ...(configFile === undefined ? {} : { configFile }) };
}

/** The value is not repeated: it is a secret. */
function exposed(path: string): Failure {
  const [variable] = envNames(path);
  return refused(
    flagOf(path),
    `other users can read a command line; set ${variable}, or name a file with ${
      flagOf(path)
    }-file`,
  );
}

function split(arg: string): { name: string; value?: string } {
  const at = arg.startsWith("--") ? arg.indexOf("=") : -1;
  return at < 0 ? { name: arg } : { name: arg.slice(0, at), value: arg.slice(at + 1) };
}

function commandOf(name: string): Flags["action"] | undefined {
  return Object.entries(COMMANDS)
    .find(([long, { short }]) => name === long || name === short)?.[1].action;
}

function isSetting(options: Options, name: string): boolean {
  return name.startsWith("--") && Object.hasOwn(options, name.slice(2));
}

function unknownFlag(options: Options, name: string): Failure {
  if (!name.startsWith("-")) {
    // npm takes the name of a flag for itself and hands only its value on.
    const why =
      `expected a flag, see "--help"; with npm, flags follow "--": npm start -- --flag value`;
    return refused(`argument "${name}"`, why);
  }
  const others = [CONFIG_FILE.long, ACCEPT_LOSS.flag];
  const known = [...Object.keys(COMMANDS), ...others, ...Object.keys(options).map(flagOf)];
  return refused(name, noSuch(name, known));
}

/** The flag of an option: its path behind two dashes. */
export function flagOf(path: string): string {
  return `--${path}`;
}

function refused(what: string, why: string): Failure {
  return new Failure("RT0002", `Cannot read ${what}: ${why}`);
}
