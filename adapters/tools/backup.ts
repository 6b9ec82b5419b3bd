import Database from "libsql";
import { open } from "node:fs/promises";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Config } from "../../src/config.ts";
import { Failure } from "../../src/errors.ts";
import { databaseInfoOf, logEndOf, partitionsIn } from "../../src/storage/examine.ts";
import { inspectDataFolder, type NewFolder, openNewFolder } from "../installation/folder.ts";
import { folderKey, keyOfCopy } from "../installation/folder_key.ts";
import { MarkFile } from "../installation/marks.ts";
import { type FolderKey, keyOption } from "../libsql/file/folder_key.ts";
import { openLock } from "../libsql/file/open.ts";
import { openReadOnly } from "../libsql/file/read_only.ts";
import { removeLeftover } from "../platform/remove_leftover.ts";
import { VERSION } from "../platform/version.ts";
import { copyLive } from "./live_copy.ts";
import type { ToolContext } from "./context.ts";

export interface BackupValues {
  readonly to: string;
  readonly "to-key-file"?: string;
}

/**
 * Copies a snapshot of a server's folder into a new folder. The server may be running: its lock is not
 * taken. Rejects with `Failure`; servers then refuse the incomplete copy.
 */
export async function backup(
  { to, "to-key-file": keyFile }: BackupValues,
  config: Config,
  context: ToolContext,
): Promise<void> {
  if (config["storage.database-url"] !== "") {
    const why = `"storage.database-url" is set, and a database server makes backups of its own`;
    throw new Failure("RT0002", `Cannot back up: ${why}; "export" works with any`);
  }
  const [key, keyTo] = [await folderKey(config), await keyOfCopy(keyFile, config)];
  const { partitionUrl } = await inspectDataFolder(config["base-dir"], key);
  const fileOf = (partition: number) => fileURLToPath(partitionUrl(partition));
  const count = countFiles(fileOf(0), key);
  const about = { madeBy: VERSION, openLock, fingerprint: keyTo?.fingerprint };
  const folder = await openNewFolder(to, about);
  try {
    const files = Array.from({ length: count }, (_, partition) => ({
      from: fileOf(partition),
      to: fileURLToPath(folder.partitionUrl(partition)),
      keyFrom: key?.databaseKey,
      keyTo: keyTo?.databaseKey,
    }));
    const missing = files.find(({ from }) => !existsSync(from));
    if (missing) throw Failure.plain(404, `Cannot back up: "${missing.from}" is missing`);
    await copyLive(files, context.display);
    for (const { to } of files) await force(to);
    await writeMarks(folder, count, { ...context, key: keyTo });
    await folder.finish(count);
    context.display.say(`Copied ${count === 1 ? "the database" : `${count} databases`} to ${to}`);
  } finally {
    await folder.close();
  }
}

/** Writes the high-water marks of the copies, so that a file that is lost later is noticed. */
async function writeMarks(
  folder: NewFolder,
  count: number,
  { log, key }: Pick<ToolContext, "log"> & { readonly key: FolderKey | undefined },
): Promise<void> {
  const marks = new MarkFile(folder.marksFile, { synchronous: "FULL", isFresh: true, log });
  for (let number = 0; number < count; number++) {
    const url = folder.partitionUrl(number);
    const client = openReadOnly(url, key?.databaseKey);
    const about = await databaseInfoOf(client);
    for (const partition of partitionsIn(about, number)) {
      const { epoch, place } = await logEndOf(client, partition);
      marks.committed({ partition, epoch }, place);
    }
    if (number === 0) marks.deployed(about.deployments);
    await client.close();
    // A closed connection stays open until it is collected, and leaves an empty `-wal` file behind.
    for (const end of ["-wal", "-shm"]) removeLeftover(`${fileURLToPath(url)}${end}`);
  }
  marks.close();
}

/** The number of database files, which the first one records and which never changes. */
function countFiles(first: string, key: FolderKey | undefined): number {
  if (!existsSync(first)) throw Failure.plain(404, `Cannot back up: "${first}" is missing`);
  const database = new Database(first, keyOption(key?.databaseKey));
  try {
    const rows = database.prepare("select name, value from meta").all([]) as {
      readonly name: string;
      readonly value: string;
    }[];
    const meta = new Map(rows.map(({ name, value }) => [name, value]));
    return meta.get("databases") === "each" ? Number(meta.get("partitions")) : 1;
  } finally {
    database.close();
  }
}

async function force(file: string): Promise<void> {
  const handle = await open(file, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
