import { stat } from "node:fs/promises";

/** Time between two checks. A missing file is noticed this late at most, plus the time of a check. */
const INTERVAL_MS = 1_000;

/**
 * Checks every second whether files are the same as at the start, and calls `gone` once with the first
 * that is missing or replaced: a removed database would still take commits, and they would be lost at
 * the end of the process. It compares inodes and never opens a file, since closing it would drop
 * SQLite's locks. Files that are missing at the start are not watched. Returns a function that stops it.
 */
export async function watchFiles(
  files: readonly string[],
  gone: (file: string) => void,
): Promise<() => void> {
  const known = new Map<string, string>();
  for (const file of files) {
    const identity = await identityOf(file);
    if (typeof identity === "string") known.set(file, identity);
  }
  let isOver = false;
  let timer: NodeJS.Timeout;
  const check = async () => {
    for (const [file, identity] of known) {
      const now = await identityOf(file);
      if (isOver) return;
      if (now === identity || now === UNKNOWN) continue;
      return gone(file);
    }
    plan();
  };
  const plan = () => {
    timer = setTimeout(check, INTERVAL_MS);
    timer.unref();
  };
  plan();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** For a file system that does not answer: its files count as unchanged. */
const UNKNOWN = Symbol("unknown");

/** The device and inode of a file. Undefined: it is missing. */
async function identityOf(file: string): Promise<string | typeof UNKNOWN | undefined> {
  try {
    const { dev, ino } = await stat(file, { bigint: true });
    return `${dev}/${ino}`;
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : UNKNOWN;
  }
}
