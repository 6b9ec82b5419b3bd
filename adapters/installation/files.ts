import { fileURLToPath } from "node:url";
import type { Config } from "../../src/config.ts";
import { Failure } from "../../src/errors.ts";
import type { Log } from "../../src/ports.ts";
import type { Layout } from "../../src/storage/schema/layout.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { refuseLoss } from "./check.ts";
import { type DataFolder, openDataFolder } from "./folder.ts";
import { MarkFile, type MarkOptions, readMarks } from "./marks.ts";
import { exposedFiles } from "./privacy.ts";
import { watchFiles } from "./watch.ts";
import { type Databases, type Elsewhere, openDatabases, type Opened } from "./databases.ts";
import { layoutOf } from "./threads.ts";
import { thisMachine } from "../platform/machine.ts";
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
  /** Absent: all databases are opened here. */
  readonly threads?: FolderThreads | undefined;
}

/** How databases are opened by other threads. */
export interface FolderThreads {
  /** Which thread opens the database of a partition. 0: this one. */
  readonly threadOf: (partition: number, layout: Layout) => number;
  /** Has the others open theirs. Resolves when these are prepared and durable. */
  readonly open: (layout: Layout) => Promise<void>;
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
  options: DataFilesOptions,
): Promise<DataFiles> {
  const { log, key, threads } = options;
  await warnOfExposed(config["base-dir"], log);
  const elsewhere: Elsewhere = (partition, layout) =>
    threads?.threadOf(partition, layout) ? addressOf(folder, partition, key) : undefined;
  const databases = await openDatabases(fileOpener(folder, config, key), {
    wanted: wantedOf(folder, config),
    retry: { retryMs: 0 },
    isAddressed: false,
    elsewhere,
  });
  try {
    return await markAndWatch(folder, databases, { ...options, config });
  } catch (cause) {
    await databases.close();
    throw cause;
  }
}

/** Has other threads open their databases, and opens the marks of all once these are durable. */
async function markAndWatch(
  folder: DataFolder,
  databases: Databases,
  { config, log, acceptLoss, onGone, threads }: DataFilesOptions & { readonly config: Config },
): Promise<DataFiles> {
  // Read first: a thread that opens the marks notes that they are of this start of the machine.
  const isFresh = acceptLoss || readMarks(folder.marksFile)?.isBinding === false;
  await threads?.open(databases.layout);
  await folder.recordDatabases(databases.all.length);
  const marks = openMarks(folder, config, { isFresh, log });
  const files = [folder.lockFile, ...databaseFiles(folder, databases.here)];
  const stopWatching = await watchDataFiles(files, onGone);
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
  return layoutOf(config, thisMachine());
}

/** The files of databases that a running server must not lose. SQLite keeps the last two open with the first. */
export function databaseFiles(
  { partitionUrl }: Pick<DataFolder, "partitionUrl">,
  partitions: readonly number[],
): string[] {
  return partitions.flatMap((partition) => {
    const file = fileURLToPath(partitionUrl(partition));
    return [file, `${file}-wal`, `${file}-shm`];
  });
}

/** Watches files of the data. `onGone`: as `DataFilesOptions` has it. Resolves with what ends it. */
export function watchDataFiles(
  files: readonly string[],
  onGone: DataFilesOptions["onGone"],
): Promise<() => void> {
  return watchFiles(files, (file) => {
    onGone(new Failure("RT0029", `"${file}" is gone, or another file has its name`));
  });
}

/** Opens the marks of a folder. Throws what the file system throws. */
export function openMarks(
  { marksFile }: Pick<DataFolder, "marksFile">,
  config: Config,
  options: Pick<MarkOptions, "isFresh" | "log">,
): MarkFile {
  return new MarkFile(marksFile, { synchronous: synchronousOf(config), ...options });
}

/** Opens and prepares the database of a partition in a data folder, which is locked. */
export function fileOpener(
  folder: Pick<DataFolder, "partitionUrl">,
  config: Config,
  key: FolderKey | undefined,
): (partition: number) => Promise<Opened> {
  const synchronous = synchronousOf(config);
  return async (partition) => {
    requireDescriptors(DATABASE_DESCRIPTORS, `open the database of partition ${partition}`);
    const address = addressOf(folder, partition, key);
    const { url, databaseKey } = address;
    const options = { url, databaseKey, synchronous };
    return await inFile(fileURLToPath(url), async () => {
      const client = inlineCommits(await openLibsql(options), options);
      await migrate(client);
      return { client, address };
    });
  };
}

function addressOf(
  { partitionUrl }: Pick<DataFolder, "partitionUrl">,
  partition: number,
  key: FolderKey | undefined,
) {
  return { kind: "file", url: partitionUrl(partition), databaseKey: key?.databaseKey } as const;
}

function synchronousOf(config: Config): MarkOptions["synchronous"] {
  return config["storage.synchronous"] === "full" ? "FULL" : "NORMAL";
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
