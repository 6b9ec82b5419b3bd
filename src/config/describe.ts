import { ALIAS, envNames, OWN } from "../names.ts";
import { ACCEPT_LOSS, COMMANDS, CONFIG_FILE, flagOf } from "./flags.ts";
import type { Option, Options } from "./option.ts";
import { toolsHelp } from "./tool_flags.ts";
import { hasUrlCredentials } from "./url_credentials.ts";

const SECRET = "(hidden)";

/** All options as a Markdown table: what docs/settings.md shows. */
export function describe(options: Options): string {
  const rows = Object.entries(options).map(([path, option]) =>
    `| \`${path}\` | ${code(fallbackOf(option))} | ${cell(option.kind.expected)} | ${option.doc} |`
  );
  return ["| Key | Default | Takes | What it does |", "| --- | --- | --- | --- |", ...rows]
    .join("\n");
}

function code(text: string): string {
  return text === "" ? NONE : `\`${text}\``;
}

const NONE = "none";

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

function fallbackOf({ kind, fallback }: Option): string {
  return kind.print(fallback);
}

/** What `--help` prints. */
export function help(options: Options): string {
  const commands = Object.entries(COMMANDS).map(([long, { short, doc }]) =>
    entry(short === undefined ? long : `${short}, ${long}`, doc)
  );
  const file = entry(
    `${CONFIG_FILE.short}, ${CONFIG_FILE.long} <path>`,
    `Read settings from this file. Environment: ${envNames(CONFIG_FILE.env)[0]}.`,
  );
  const loss = entry(ACCEPT_LOSS.flag, ACCEPT_LOSS.doc);
  return [
    "Usage: perdure [flags]",
    "       perdure <command> [flags]",
    "",
    "Without a command it serves. The commands, each of which has a --help of its own:",
    "",
    ...toolsHelp(),
    "",
    "Later sources win: defaults, config file, environment, flags. The environment spells a path",
    `"a.b-c" as "${OWN.toUpperCase()}_A__B_C"; a config file as key "b-c" in section "[a]".`,
    `What begins with "${OWN.toUpperCase()}_" may begin with "${ALIAS.toUpperCase()}_" instead.`,
    "",
    file,
    loss,
    ...commands,
    ...settingsHelp(options),
    "",
  ].join("\n");
}

/** The part of `--help` about settings: an entry for each. */
export function settingsHelp(options: Options): readonly string[] {
  return Object.entries(options).map(([path, option]) =>
    entry(
      option.isFlag ? `${flagOf(path)} <value>` : `${path} (not a flag)`,
      `${option.doc} Default: ${fallbackOf(option) || NONE}.`,
      `Environment: ${environmentOf(path, option).join(", ")}.`,
    )
  );
}

/** The names in our own spelling, and those of others. */
function environmentOf(path: string, { env }: Option): string[] {
  const [own = "", alias] = envNames(path);
  return [own, ...env.filter((name) => name !== own && name !== alias)];
}

function entry(name: string, ...lines: readonly string[]): string {
  return [`  ${name}`, ...lines.map((line) => `      ${line.replaceAll("`", "")}`)].join("\n");
}

/** A config file that says what these values say; secrets and URLs with credentials are comments. */
export function dump(options: Options, config: Readonly<Record<string, unknown>>): string {
  const lines: string[] = [];
  let section = "";
  for (const [path, option] of bySection(options)) {
    const at = path.lastIndexOf(".");
    if (path.slice(0, Math.max(0, at)) !== section) {
      section = path.slice(0, at);
      lines.push("", `[${section}]`);
    }
    const key = path.slice(at + 1);
    const line = `${key} = ${spelled(option, config[path])}`;
    const isSecret = option.secret || hasUrlCredentials(line);
    lines.push(isSecret ? `# ${key} = ${SECRET}` : line);
  }
  return `${lines.join("\n")}\n`;
}

/** In a file, keys without a section must stand before the first section. */
function bySection(options: Options): [string, Option][] {
  const sectionOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf(".")));
  const sections = [...new Set(["", ...Object.keys(options).map(sectionOf)])];
  return sections.flatMap((section) =>
    Object.entries(options).filter(([path]) => sectionOf(path) === section)
  );
}

function spelled({ kind }: Option, value: unknown): string {
  const isPlain = typeof value === "boolean" || Array.isArray(value) || Number.isFinite(value);
  const printed = kind.print(value);
  // A duration or a size is a number to us and a text to people: what has a unit gets quotes.
  return isPlain && /^([\d.]+|true|false|\[.*\])$/.test(printed)
    ? printed
    : JSON.stringify(printed);
}
