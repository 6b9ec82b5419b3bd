import { Failure } from "../errors.ts";
import { PARTITIONS_MAX } from "../model/ring.ts";
import { choice, count, type Kind, text } from "./kinds.ts";

interface ToolFlag {
  readonly kind: Kind<unknown>;
  /** What stands for its value in help. */
  readonly shown: string;
  readonly doc: string;
  readonly isNeeded?: boolean;
}

interface ToolAbout {
  readonly doc: string;
  readonly flags: Readonly<Record<string, ToolFlag>>;
}

/** Of the tools that make a folder from a folder. */
const TO_KEY_FILE: ToolFlag = {
  kind: text("a file, or none"),
  shown: "<file>",
  doc: "A file with the key of the new folder, or none: it is not encrypted. Default: the key of " +
    "the settings (storage.encryption-key).",
};

/** What the program does besides serving: its first argument. All settings are flags here as well. */
export const TOOLS = {
  reshard: {
    doc:
      "Copy the data of a stopped server into a new place, cut into another number of partitions.",
    flags: {
      "to-partitions": {
        kind: count(1, PARTITIONS_MAX),
        shown: "<count>",
        doc: "Into how many.",
        isNeeded: true,
      },
      "to-databases": {
        kind: choice("one", "each"),
        shown: "<one|each>",
        doc: "Whether they share a database file, or each has its own. Default: one.",
      },
      "to": {
        kind: text("a folder, or the address of a libSQL server"),
        shown: "<folder or URL>",
        doc: "Where to: a new folder, or an empty database on a server, whose address holds " +
          "{partition} where each has its own. Default: the folder's name and -new.",
      },
      "to-key-file": TO_KEY_FILE,
    },
  },
  export: {
    doc: "Write the data of a stopped server to a file of JSON lines.",
    flags: {
      to: {
        kind: text("a file"),
        shown: "<file>",
        doc: "A new file, or - (default): what prints.",
      },
    },
  },
  import: {
    doc: "Read such a file into a new folder, or an empty database on a server.",
    flags: {
      from: {
        kind: text("a file"),
        shown: "<file>",
        doc: "The file, or - (default): what comes in.",
      },
    },
  },
  backup: {
    doc: "Copy the folder of a server, which may be running, as it is at one moment.",
    flags: {
      "to": { kind: text("a folder"), shown: "<folder>", doc: "A new folder.", isNeeded: true },
      "to-key-file": TO_KEY_FILE,
    },
  },
  verify: {
    doc: "Check the folder of a stopped server row by row, and print what is missing or damaged.",
    flags: {},
  },
} as const satisfies Readonly<Record<string, ToolAbout>>;

export type ToolName = keyof typeof TOOLS;

/** What a command line asks a tool to do. */
export interface Tool {
  readonly name: ToolName;
  /** By name, without dashes. Checked; a flag that was not given is absent. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The rest of the command line: settings. */
  readonly args: readonly string[];
}

/** Reads a command line that begins with the name of a tool. Undefined: it asks for none. */
export function readTool(args: readonly string[]): Tool | undefined {
  const [name = "", ...others] = args;
  if (!isTool(name)) return undefined;
  const flags: ToolAbout["flags"] = TOOLS[name].flags;
  const values: Record<string, unknown> = {};
  const rest: string[] = [];
  for (let i = 0; i < others.length; i++) {
    const arg = others[i] ?? "";
    const equals = arg.indexOf("=");
    const flag = equals < 0 ? arg : arg.slice(0, equals);
    const about = flag.startsWith("--") ? flags[flag.slice(2)] : undefined;
    if (!about) {
      rest.push(arg);
      continue;
    }
    const given = equals < 0 ? others[++i] : arg.slice(equals + 1);
    values[flag.slice(2)] = valueOf(flag, about, given);
  }
  return { name, values, args: rest };
}

/** Refuses a command line that lacks what the tool needs. Throws `Failure` RT0002. */
export function checkTool({ name, values }: Tool): void {
  for (const [flag, { isNeeded, shown }] of Object.entries<ToolFlag>(TOOLS[name].flags)) {
    if (!isNeeded || values[flag] !== undefined) continue;
    throw new Failure(
      "RT0002",
      `Cannot ${name}: "--${flag} ${shown}" is missing, see "perdure ${name} --help"`,
    );
  }
}

/** What `--help` prints behind the name of a tool, or of all of them. */
export function toolHelp(name: ToolName): string {
  const flags = Object.entries<ToolFlag>(TOOLS[name].flags).map(([flag, { shown, doc }]) =>
    `  --${flag} ${shown}\n      ${doc}`
  );
  return [
    `Usage: perdure ${name} [flags]`,
    "",
    TOOLS[name].doc,
    "",
    ...flags,
    "",
    `Where the data is, say the settings of the server: --base-dir or --storage.database-url, from`,
    `the same sources. "perdure --help" lists them.`,
    "",
  ].join("\n");
}

/** One line for each tool, for the help of the server. */
export function toolsHelp(): string[] {
  return Object.entries<ToolAbout>(TOOLS).map(([name, { doc }]) => `  ${name}\n      ${doc}`);
}

function isTool(name: string): name is ToolName {
  return Object.hasOwn(TOOLS, name);
}

function valueOf(flag: string, { kind, shown }: ToolFlag, given: string | undefined): unknown {
  if (given === undefined || given.startsWith("--")) {
    throw new Failure("RT0002", `Cannot read ${flag}: ${shown} must follow`);
  }
  const value = kind.read(given);
  if (value !== undefined) return value;
  throw new Failure("RT0002", `Cannot read ${flag}: "${given}" is not ${kind.expected}`);
}
