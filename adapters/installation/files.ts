import { fileURLToPath } from "node:url";
import type { Config } from "../../src/config.ts";
import { Failure } from "../../src/errors.ts";
import type { Log } from "../../src/ports.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { refuseLoss } from "./check.ts";
import { type DataFolder, openDataFolder } from "./folder.ts";
import { MarkFile, readMarks } from "./marks.ts";
import { exposedFiles } from "./privacy.ts";
import { watchFiles } from "./watch.ts";
import { type Databases, openDatabases, type Opened } from "./databases.ts";
import { DATABASE_DESCRIPTORS, requireDescriptors } from "../platform/descriptors.ts";
import type { FolderKey } from "../libsql/file/folder_key.ts";
import { openLibsql, openLock } from "../libsql/file/open.ts";
import { inlineCommits } from "../libsql/file/inline_commits.ts";
import { inFile } from "../libsql/file/read_only.ts";
import { VERSION } from "../platform/version.ts";

export interface DataFilesOptions {
  readonly log: Log;
  /** Whether to start without data that is missing or damaged. */
  readonly acceptLoss: boolean;
  /** Called once with RT0029 when a file is removed or replaced while it is open. */
  readonly onGone: (failure: Failure) => void;
  /** The key of the databases. Undefined: they are not encrypted. */
  readonly key: FolderKey | undefined;
}

/** The databases of a data folder, which is locked until they are closed. */
export interface DataFiles extends Databases {
  readonly marks: MarkFile;
}

/**
 * Opens the data folder of the settings: locks it, compares it with its high-water marks, opens its
 * databases and watches their files. Rejects with `Failure`: RT0027 and RT0028 when data is
 * missing or damaged, others as `openDataFolder` and `openDatabases` do. Then nothing stays open.
 */
export async function openDataFiles(
  config: Config,
  options: DataFilesOptions,
): Promise<DataFiles> {
  const { fingerprint } = options.key ?? {};
  const about = { madeBy: VERSION, openLock, fingerprint };
  const folder = await openDataFolder(config["base-dir"], about);
  try {
    await refuseLoss(folder, options);
    return await openChecked(folder, config, options);
  } catch (cause) {
    await folder.close();
    throw cause;
  }
}

async function openChecked(
  folder: DataFolder,
  config: Config,
  { log, acceptLoss, onGone, key }: DataFilesOptions,
): Promise<DataFiles> {
  await warnOfExposed(config["base-dir"], log);
  const synchronous = config["storage.synchronous"] === "full" ? "FULL" : "NORMAL";
  const open = async (partition: number): Promise<Opened> => {
    requireDescriptors(DATABASE_DESCRIPTORS, `open the database of partition ${partition}`);
    const { databaseKey } = key ?? {};
    const options = { url: folder.partitionUrl(partition), synchronous, databaseKey } as const;
    return await inFile(fileURLToPath(options.url), async () => {
      const client = inlineCommits(await openLibsql(options), options);
      await migrate(client);
      return { client, address: { kind: "file", url: options.url, databaseKey } };
    });
  };
  const databases = await openDatabases(open, {
    wanted: wantedOf(folder, config),
    retry: { retryMs: 0 },
    isAddressed: false,
  });
  await folder.recordDatabases(databases.all.length);
  const isFresh = acceptLoss || readMarks(folder.marksFile)?.isBinding === false;
  const marks = new MarkFile(folder.marksFile, { synchronous, isFresh, log });
  const stopWatching = await watchFiles(filesOf(folder, databases.all.length), (file) => {
    onGone(new Failure("RT0029", `"${file}" is gone, or another file has its name`));
  });
  const close = async () => {
    stopWatching();
    await databases.close();
    marks.close();
    await folder.close();
  };
  return { ...databases, marks, close };
}

/** The layout of new data. Where the first of several databases is lost, it follows from the others. */
function wantedOf({ databases = 1 }: DataFolder, config: Config) {
  if (databases > 1) return { partitions: databases, databases: "each" } as const;
  return {
    partitions: config["default-num-partitions"],
    databases: config["storage.databases"],
  };
}

/** The files that a running server must not lose. SQLite keeps the last two open with the first. */
function filesOf(folder: DataFolder, databases: number): string[] {
  const files = [folder.lockFile];
  for (let partition = 0; partition < databases; partition++) {
    const file = fileURLToPath(folder.partitionUrl(partition));
    files.push(file, `${file}-wal`, `${file}-shm`);
  }
  return files;
}

/** Warns of files that other users can read, as in folders of earlier versions. */
async function warnOfExposed(folder: string, log: Log): Promise<void> {
  const files = await exposedFiles(folder);
  if (files.length === 0) return;
  log("warn", "Other users of this machine can reach the data: run chmod 700 on its folder", {
    folder,
    files,
  });
}
