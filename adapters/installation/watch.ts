import { stat } from "node:fs/promises";

/** How long a file may be gone before it is noticed, at most, beside the time the looks take. */
const INTERVAL_MS = 1_000;

/**
 * Looks every second whether files are still those they were at the first look, and calls `gone` once
 * with the first that is missing or another one: a database that was removed goes on to take commits
 * that nobody will ever see. By name only, since closing a database file that somebody else opened
 * would drop SQLite's locks. Files that are missing at the first look are not watched.
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
  const look = async () => {
    for (const [file, identity] of known) {
      const now = await identityOf(file);
      if (isOver) return;
      if (now === identity || now === UNKNOWN) continue;
      return gone(file);
    }
    plan();
  };
  const plan = () => {
    timer = setTimeout(look, INTERVAL_MS);
    timer.unref();
  };
  plan();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** A file system that does not answer says nothing about its files. */
const UNKNOWN = Symbol("unknown");

/** Which file a name stands for. Undefined: none. */
async function identityOf(file: string): Promise<string | typeof UNKNOWN | undefined> {
  try {
    const { dev, ino } = await stat(file, { bigint: true });
    return `${dev}/${ino}`;
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : UNKNOWN;
  }
}
