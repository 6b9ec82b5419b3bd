import process from "node:process";

/** A command line for the shell of the system, as `spawn` and `execFile` take it. */
export interface ShellCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** On Windows: whether words reach the program as they are, without quotes that Node would add. */
  readonly windowsVerbatimArguments: boolean;
}

/** The program that reads command lines here. Deno needs its permission to run it. */
export function shellFile(platform: string = process.platform): string {
  return platform === "win32" ? "cmd.exe" : "/bin/sh";
}

/** Has the shell of the system run a line: `sh` reads POSIX, `cmd` reads what its prompt does. */
export function shellCommand(line: string, platform: string = process.platform): ShellCommand {
  const file = shellFile(platform);
  if (platform !== "win32") return { file, args: ["-c", line], windowsVerbatimArguments: false };
  // `/s` takes off the outer quotes and nothing else; `/d` runs no command of the registry before.
  return { file, args: ["/d", "/s", "/c", `"${line}"`], windowsVerbatimArguments: true };
}
