import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import process from "node:process";

/**
 * The umask of a process that keeps data. Every file and folder it makes is private to its user from
 * the start: databases with their logs, copies, dumps, and the scratch space of queries.
 */
const PRIVATE_UMASK = 0o077;

/** Rights of the group and of all others. */
const OTHERS = 0o077;
/** The right to open the files of a folder. */
const SEARCH = 0o011;

/** Makes every file and folder of this process private. Threads and child processes inherit it. */
export function makePrivate(): void {
  process.umask(PRIVATE_UMASK);
}

/**
 * The names of the files in a data folder that other users can read or change. Their rights are left
 * as they are, since an operator may have set them on purpose. Empty: there are no such files.
 */
export async function exposedFiles(folder: string): Promise<string[]> {
  if (process.platform === "win32") return [];
  if (((await stat(folder)).mode & SEARCH) === 0) return [];
  const names = await readdir(folder);
  const modes = await Promise.all(
    names.map((name) => stat(path.join(folder, name)).then(({ mode }) => mode, () => 0)),
  );
  return names.filter((_, i) => ((modes[i] ?? 0) & OTHERS) !== 0);
}
