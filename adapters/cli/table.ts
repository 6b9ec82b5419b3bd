import type { CommandAbout, FlagAbout } from "./about.ts";

const JSON_FLAG: FlagAbout = { name: "json", doc: "Print JSON, for programs." };
const ADMIN: FlagAbout = {
  name: "admin",
  shown: "<url>",
  doc: "The address for operators. Default: $PERDURE_ADMIN, else http://127.0.0.1:9070.",
};
const INGRESS: FlagAbout = {
  name: "ingress",
  shown: "<url>",
  doc: "The address for callers. Default: $PERDURE_INGRESS, else http://127.0.0.1:8080.",
};
const TOKEN: FlagAbout = {
  name: "token",
  shown: "<token>",
  doc: "The bearer token. Better: $PERDURE_TOKEN, which the list of processes does not show.",
};
const OF_OPERATORS = [ADMIN, TOKEN, JSON_FLAG];
const OF_CALLERS = [INGRESS, TOKEN, JSON_FLAG];

const TARGET = {
  name: "target",
  doc: "Greeter/greet, or with a key in between: Counter/ada/add.",
  isNeeded: true,
};
const INPUT = {
  name: "input",
  doc: "The input as JSON, or - to read it from standard input. Default: none.",
};
const KEY: FlagAbout = {
  name: "idempotency-key",
  shown: "<key>",
  doc: "Requests with the same key are one invocation.",
};

/** What can be done to invocations that are named, besides showing one. */
export const OPERATIONS = ["cancel", "kill", "pause", "resume", "purge", "restart-as-new"] as const;

/** The tools of the server (`src/config/tool_flags.ts`), whose other flags are its settings. */
const toolAbout = (doc: string, flags: readonly FlagAbout[], example: string): CommandAbout => ({
  ...{ doc, arguments: [], flags: [...flags, JSON_FLAG], example, takesSettings: true },
});

const TO_KEY_FILE: FlagAbout = {
  name: "to-key-file",
  shown: "<file>",
  doc: "A file with the key of the copy, or none. Default: the key of the settings.",
};

/** Every command: help, completions and docs/cli.md are made of it. */
export const COMMANDS = {
  serve: {
    doc: "Run the server. So does perdure without a command.",
    arguments: [],
    flags: [],
    example: "serve --base-dir data --log-level debug",
    takesSettings: true,
  },
  dev: {
    doc: "Run the server and an endpoint, register it, and again whenever a source changes.",
    arguments: [{ name: "file", doc: "The file that serves handlers.", isNeeded: true }],
    flags: [
      {
        name: "port",
        shown: "<port>",
        doc: "Where the endpoint listens; it is told as $PORT. Default: 9080.",
      },
      {
        name: "runtime",
        shown: "<node|deno>",
        doc: "What runs the file. Default: what runs perdure.",
      },
      JSON_FLAG,
    ],
    example: "dev services.mjs -- --base-dir data",
  },
  register: {
    doc: "Register an endpoint: its handlers can be called then.",
    arguments: [{ name: "uri", doc: "The address of the endpoint.", isNeeded: true }],
    flags: [
      { name: "force", doc: "Overwrite the deployment with this address." },
      { name: "breaking", doc: "Allow services to change their type." },
      { name: "dry-run", doc: "Discover and check, and store nothing." },
      { name: "http1", doc: "Speak HTTP/1.1, for endpoints that know nothing else." },
      ...OF_OPERATORS,
    ],
    example: "register http://localhost:9080",
  },
  call: {
    doc: "Call a handler, wait for the result and print it.",
    arguments: [TARGET, INPUT],
    flags: [KEY, ...OF_CALLERS],
    example: `call Greeter/greet '"Ada"'`,
  },
  send: {
    doc: "Call a handler, do not wait, and print the id of the invocation.",
    arguments: [TARGET, INPUT],
    flags: [
      { name: "delay", shown: "<duration>", doc: "How long to wait before it starts: 10s, 1h." },
      KEY,
      ...OF_CALLERS,
    ],
    example: `send Greeter/greet '"Ada"' --delay 10s`,
  },
  invocations: {
    doc: "List invocations, show one, or operate on some.",
    arguments: [
      {
        name: "action",
        doc: "What to do. Default: list.",
        values: ["list", "get", ...OPERATIONS],
      },
      { name: "id", doc: "Ids of invocations, for all but list.", isMany: true },
    ],
    flags: [
      { name: "service", shown: "<name>", doc: "List those of this service only." },
      { name: "status", shown: "<status>", doc: "List those with this status only." },
      { name: "limit", shown: "<count>", doc: "How many to list, newest first. Default: 50." },
      ...OF_OPERATORS,
    ],
    example: "invocations list --status backing-off",
  },
  sql: {
    doc: "Ask the server in SQL, and print the rows.",
    arguments: [
      { name: "query", doc: "One statement, or - to read it from standard input.", isNeeded: true },
    ],
    flags: OF_OPERATORS,
    example: `sql "select status, count(*) as n from sys_invocation group by status"`,
  },
  check: {
    doc: "Check a server that runs: both ports, readiness, what is stuck. Fails if one check does.",
    arguments: [],
    flags: [INGRESS, ...OF_OPERATORS],
    example: "check",
  },
  backup: toolAbout(
    "Copy the folder of a server, which may be running, as it is at one moment.",
    [{ name: "to", shown: "<folder>", doc: "A new folder." }, TO_KEY_FILE],
    "backup --to backup-of-today",
  ),
  export: toolAbout(
    "Write the data of a stopped server to a file of JSON lines.",
    [{ name: "to", shown: "<file>", doc: "A new file, or - (default): what prints." }],
    "export --to data.jsonl",
  ),
  import: toolAbout(
    "Read such a file into a new folder, or an empty database on a server.",
    [{ name: "from", shown: "<file>", doc: "The file, or - (default): what comes in." }],
    "import --from data.jsonl --base-dir data-2",
  ),
  reshard: toolAbout(
    "Copy the data of a stopped server, cut into another number of partitions.",
    [
      { name: "to-partitions", shown: "<count>", doc: "Into how many." },
      { name: "to-databases", shown: "<one|each>", doc: "Whether they share a database file." },
      { name: "to", shown: "<folder or URL>", doc: "Where to." },
      TO_KEY_FILE,
    ],
    "reshard --to-partitions 8 --to data-8",
  ),
  verify: toolAbout(
    "Check the folder of a stopped server row by row.",
    [],
    "verify --base-dir backup-of-today",
  ),
  version: {
    doc: "Print the version, and which formats and protocols it knows.",
    arguments: [],
    flags: [JSON_FLAG],
    example: "version --json",
  },
  completions: {
    doc: "Print the completions of a shell, to be sourced.",
    arguments: [
      { name: "shell", doc: "Which one.", isNeeded: true, values: ["bash", "zsh", "fish"] },
    ],
    flags: [],
    example: "completions bash > /etc/bash_completion.d/perdure",
  },
} as const satisfies Readonly<Record<string, CommandAbout>>;

export type CommandName = keyof typeof COMMANDS;

/** Whether a word names a command. */
export function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

/** What is known of a command. */
export function aboutOf(name: CommandName): CommandAbout {
  return COMMANDS[name];
}
