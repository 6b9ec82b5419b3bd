import { rmSync } from "node:fs";
import process from "node:process";

const IN_USE: ReadonlySet<string> = new Set(["EBUSY", "EPERM", "EACCES", "ENOTEMPTY"]);

/**
 * Removes a file or folder that nothing needs any more; one that is missing is no error. A database stays
 * open until its connection is collected, and Windows removes nothing that is open: there it is left.
 * Throws what the file system throws elsewhere.
 */
export function removeLeftover(
  name: string,
  { platform = process.platform, remove = rmSync }: {
    readonly platform?: string;
    readonly remove?: typeof rmSync;
  } = {},
): void {
  try {
    remove(name, { recursive: true, force: true });
  } catch (cause) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    if (platform !== "win32" || !IN_USE.has(code)) throw cause;
  }
}
