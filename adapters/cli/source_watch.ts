import { existsSync, type FSWatcher, readdirSync, watch } from "node:fs";
import path from "node:path";

/** An editor that saves writes, renames and removes; one start is enough for all of it. */
const QUIET_MS = 100;
/** Folders that are watched at most: each takes a handle of the system. */
const FOLDERS_MAX = 1_000;
const SOURCE = /\.([mc]?[jt]s|[jt]sx|json)$/;

/**
 * Watches the sources in a folder and the folders below it, except packages, names that begin with a dot,
 * and `without`. `changed` is called once it has been quiet for a while, with the name of one of them.
 * (Not the recursive watch of the system: on Linux it also watches every folder of every package.)
 */
export function watchSources(
  folder: string,
  without: string,
  changed: (name: string) => void,
): { close(): void } {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  const heard = (at: string, name: string) => {
    const file = path.join(at, name);
    if (isWatched(file, without)) add(file);
    if (!SOURCE.test(name) || name.startsWith(".")) return;
    clearTimeout(timer);
    timer = setTimeout(() => changed(path.relative(folder, file)), QUIET_MS);
  };
  const add = (at: string) => {
    if (watchers.has(at) || watchers.size >= FOLDERS_MAX) return;
    let names;
    try {
      names = readdirSync(at, { withFileTypes: true });
      const watcher = watch(at, (_, name) => name && heard(at, String(name)));
      // A folder that is deleted is not watched any more.
      watchers.set(at, watcher.on("error", () => watchers.delete(at)));
    } catch {
      // It is a file, or is gone already.
      return;
    }
    for (const entry of names) {
      const inner = path.join(at, entry.name);
      if (entry.isDirectory() && isWatched(inner, without)) add(inner);
    }
  };
  add(folder);
  return {
    close() {
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}

function isWatched(folder: string, without: string): boolean {
  const name = path.basename(folder);
  if (name === "node_modules" || name.startsWith(".") || SOURCE.test(name)) return false;
  return path.resolve(folder) !== path.resolve(without) && existsSync(folder);
}
