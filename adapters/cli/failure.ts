/** What the process ends with. Scripts may rely on it; docs/cli.md has the same table. */
export const EXIT_CODES = {
  done: [0, "Done."],
  failed: [1, "It failed, or a check did; the reason is on standard error."],
  usage: [2, "The command line is wrong. Nothing was done."],
  unreachable: [3, "No server answers at the address."],
  refused: [4, "The server wants a token, or another one."],
} as const satisfies Readonly<Record<string, readonly [number, string]>>;

export type Exit = Exclude<keyof typeof EXIT_CODES, "done">;

/** Why a command failed, in a sentence that says what to do. */
export class CommandFailure extends Error {
  override name = "CommandFailure";
  readonly exit: Exit;
  /** The code of the server (docs/errors.md), where it gave one. */
  readonly code: string | undefined;

  constructor(
    exit: Exit,
    message: string,
    options: ErrorOptions & { readonly code?: string } = {},
  ) {
    super(message, options);
    this.exit = exit;
    this.code = options.code;
  }
}

/** A command line that cannot be read. `command`: whose help says how it is meant. */
export function usageFailure(message: string, command?: string): CommandFailure {
  const help = command === undefined ? "perdure --help" : `perdure ${command} --help`;
  return new CommandFailure("usage", `${message}, see "${help}"`);
}
