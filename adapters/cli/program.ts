import { Argument, Command, Option } from "commander";
import type { ArgumentAbout, CommandAbout, Given } from "./about.ts";
import { EXIT_CODES } from "./failure.ts";
import { aboutOf, type CommandName, COMMANDS } from "./table.ts";

/** Columns of help, on every terminal and in every file. */
const WIDTH = 100;

type Parsed = (name: CommandName, given: Omit<Given, "rest">) => void;

/**
 * The parser of command lines. `parsed` is told of the command that one asks for. It throws
 * `CommanderError`: with exit code 0 when help was printed, else with what is wrong.
 */
export function programOf(parsed: Parsed): Command {
  const program = configured(new Command("perdure"))
    .description("A durable-execution server, and what to do with one.")
    .helpOption("-h, --help", "Print this.")
    .helpCommand("help [command]", "Print the help of a command.")
    .addHelpText("after", afterHelp);
  for (const name of Object.keys(COMMANDS) as CommandName[]) {
    program.addCommand(commandOf(name, parsed));
  }
  return program;
}

/** The text of `perdure <command> --help`. */
export function helpOf(name: CommandName): string {
  let text = "";
  const command = commandOf(name, () => {});
  command.configureOutput({ writeOut: (piece) => void (text += piece) });
  command.parent = configured(new Command("perdure"));
  command.outputHelp();
  return text;
}

function commandOf(name: CommandName, parsed: Parsed): Command {
  const about = aboutOf(name);
  const command = configured(new Command(name)).description(about.doc)
    .helpOption("-h, --help", "Print this.");
  for (const one of about.arguments) command.addArgument(argumentOf(one));
  for (const { name, shown, doc } of about.flags) {
    command.addOption(new Option(`--${name}${shown === undefined ? "" : ` ${shown}`}`, doc));
  }
  if (about.takesSettings) command.usage("[flags] [settings]");
  command.addHelpText("after", `\n${exampleOf(about)}\n`);
  return command.action((...all: unknown[]) => {
    // Positions, then the flags, then the command itself.
    const given = all.slice(0, -2).flat().filter((one) => one !== undefined) as string[];
    const flags = command.opts<Given["flags"]>();
    parsed(name, { arguments: given, flags: byName(about, flags) });
  });
}

function argumentOf({ name, doc, isNeeded, isMany, values }: ArgumentAbout): Argument {
  const word = isMany ? `${name}...` : name;
  const argument = new Argument(isNeeded ? `<${word}>` : `[${word}]`, doc);
  return values === undefined ? argument : argument.choices([...values]);
}

/** commander names `--dry-run` `dryRun`. */
function byName(about: CommandAbout, flags: Given["flags"]): Given["flags"] {
  const camel = (name: string) =>
    name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(about.flags.map(({ name }) => [name, flags[camel(name)]]));
}

/** Failures are thrown, and printed by `run.ts`, as all others are. */
function configured(command: Command): Command {
  return command.exitOverride().allowExcessArguments(false)
    .configureOutput({
      writeErr: () => {},
      getOutHelpWidth: () => WIDTH,
      getErrHelpWidth: () => WIDTH,
    })
    .configureHelp({ helpWidth: WIDTH });
}

function exampleOf({ example, takesSettings }: CommandAbout): string {
  const settings = 'Other flags are settings of the server: "perdure serve --help" lists them.\n\n';
  return `${takesSettings ? settings : ""}Example:\n  perdure ${example}`;
}

function afterHelp(): string {
  const codes = Object.values(EXIT_CODES).map(([code, doc]) => `  ${code}  ${doc}`);
  return `\n${
    ["Exit codes (serve has those of the server: docs/operate.md):", ...codes].join("\n")
  }\n\nExample:\n  perdure dev services.mjs\n`;
}
