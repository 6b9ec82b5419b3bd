/** What help, completions and docs/cli.md say of a word of the command line. */
export interface ArgumentAbout {
  readonly name: string;
  readonly doc: string;
  readonly isNeeded?: boolean;
  readonly isMany?: boolean;
  /** The values that are allowed. Absent: any. */
  readonly values?: readonly string[];
}

export interface FlagAbout {
  /** Without dashes. */
  readonly name: string;
  /** What stands for its value in help. Absent: it takes none. */
  readonly shown?: string;
  readonly doc: string;
}

export interface CommandAbout {
  readonly doc: string;
  readonly arguments: readonly ArgumentAbout[];
  readonly flags: readonly FlagAbout[];
  /** A command line that works, behind `perdure`. */
  readonly example: string;
  /** Whether its other flags are all settings of the server, which it reads itself. */
  readonly takesSettings?: boolean;
}

/** What a command line gives a command. */
export interface Given {
  readonly arguments: readonly string[];
  /** By name, without dashes. A flag that was not given is absent; one without a value is `true`. */
  readonly flags: Readonly<Record<string, string | true | undefined>>;
  /** What stands behind `--`. */
  readonly rest: readonly string[];
}

/** The text of a flag that takes a value. Undefined: it was not given. */
export function textOf({ flags }: Given, name: string): string | undefined {
  const value = flags[name];
  return value === true ? undefined : value;
}
