import { Failure } from "../../errors.ts";
import type { Clock, Log } from "../../ports.ts";
import { WatchedFile } from "../../watched_file.ts";
import { BadKey } from "../identity/private_key.ts";

/** Where a secret is. At most one of the two is set. */
export interface SecretSettings {
  /** The secret itself. */
  readonly text: string | undefined;
  /** Path of a file that holds it. */
  readonly file: string | undefined;
  /** Names of the settings, for messages of failures. */
  readonly names: { readonly text: string; readonly file: string };
}

export interface SecretDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Absent where there are no files. Rejects when one cannot be read. */
  readonly readTextFile?: ((path: string) => Promise<string>) | undefined;
}

/** A secret as it is now, while it is open. */
export interface OpenSecret<T> {
  readonly value: T;
  /** Calls back with each later value of the file. */
  watch(changed: (value: T) => void): void;
  close(): void;
}

/**
 * Reads a secret of the settings, and follows its file. Resolves to undefined when neither is set. Rejects
 * with `Failure` RT0002 that names the setting and quotes no secret. `parse` throws `BadKey`.
 */
export async function openSecret<T>(
  { text, file, names }: SecretSettings,
  { parse, ...deps }: SecretDeps & { readonly parse: (text: string) => T | Promise<T> },
): Promise<OpenSecret<T> | undefined> {
  if (text !== undefined && file !== undefined) {
    throw new Failure("RT0002", `Cannot use "${names.text}" and "${names.file}" at once`);
  }
  if (text !== undefined) {
    const value = await named(names.text, async () => await parse(text));
    return { value, watch: () => {}, close: () => {} };
  }
  if (file === undefined) return undefined;
  const { readTextFile } = deps;
  if (!readTextFile) {
    throw new Failure("RT0002", `Cannot use "${names.file}": this platform has no files`);
  }
  const watched = new WatchedFile<T>({
    read: () => readTextFile(file),
    parse,
    complaint: `Cannot read "${names.file}" again; the old one stays in use`,
    reasonOf,
    ...deps,
  });
  const value = await named(names.file, () => watched.open());
  return { value, watch: (changed) => watched.watch(changed), close: () => watched.close() };
}

async function named<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new Failure("RT0002", `Cannot read "${name}": ${reasonOf(cause)}`, { cause });
  }
}

/** The message of a platform about a key could quote it; its message about a file is kept. */
function reasonOf(cause: unknown): string {
  if (cause instanceof BadKey) return cause.message;
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
  const isOfFile = typeof code === "string" && /^E[A-Z]+$/.test(code);
  return isOfFile ? String(message) : "the platform cannot use the key";
}
