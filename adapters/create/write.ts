import { lstat, mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { CommandFailure } from "../cli/failure.ts";
import type { Files } from "./project.ts";

/** What may be in a folder that a project is written to. */
const HARMLESS = [".git"];
const SHOWN_MAX = 3;

/** Throws `CommandFailure` unless the folder is empty or is not there. */
export async function checkEmpty(folder: string): Promise<void> {
  const about = await lstat(folder).catch((cause) => {
    if (cause.code === "ENOENT") return undefined;
    throw failed(folder, cause);
  });
  if (about === undefined) return;
  // A link to a folder is followed; a file is none.
  const names = await readdir(folder).catch((cause) => {
    throw failed(folder, cause);
  });
  const others = names.filter((name) => !HARMLESS.includes(name)).toSorted();
  if (others.length === 0) return;
  const shown = others.slice(0, SHOWN_MAX).join(", ") + (others.length > SHOWN_MAX ? ", …" : "");
  throw new CommandFailure(
    "failed",
    `Cannot write to "${folder}": it is not empty (${shown}). Name another folder`,
  );
}

/** Writes all files. A file that is there is not overwritten: rejects with `CommandFailure`. */
export async function writeProject(folder: string, files: Files): Promise<void> {
  await checkEmpty(folder);
  try {
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(folder, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, text, { flag: "wx" });
    }
  } catch (cause) {
    throw failed(folder, cause as NodeJS.ErrnoException);
  }
}

function failed(folder: string, cause: NodeJS.ErrnoException): CommandFailure {
  return new CommandFailure("failed", `Cannot write to "${folder}": ${cause.message}`, { cause });
}
