import type { Config } from "../../src/config.ts";
import type { SqlClient, Store } from "../../src/ports.ts";
import { ManyStores } from "../../src/storage/many_stores.ts";
import { ensurePartition } from "../../src/storage/schema/layout.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { databaseFiles, fileOpener, openMarks, watchDataFiles } from "./files.ts";
import { placesIn } from "./folder.ts";
import { folderKey } from "./folder_key.ts";
import { folderStoreOptions, type StorageOptions } from "./storage.ts";

/** The partitions of one thread: their store, which folds all commits at `flushAll`. */
export interface ThreadStorage {
  readonly store: Store & { flushAll(): Promise<void> };
  close(): Promise<void>;
}

/**
 * Opens the databases of some partitions of the data folder of the settings, which another thread of this
 * process has locked and checked. Rejects as `openStorage` does.
 */
export async function openThreadStorage(
  config: Config,
  partitions: readonly number[],
  options: Pick<StorageOptions, "log" | "acceptLoss" | "onGone">,
): Promise<ThreadStorage> {
  const folder = placesIn(config["base-dir"]);
  const open = fileOpener(folder, config, await folderKey(config));
  const marks = openMarks(folder, config, { isFresh: false, log: options.log });
  const storeOptions = folderStoreOptions(config, marks, options);
  const stores = new Map<number, SqlStore>();
  const clients: SqlClient[] = [];
  for (const partition of partitions) {
    const { client } = await open(partition);
    clients.push(client);
    await ensurePartition(client, partition, { retryMs: 0 });
    stores.set(partition, new SqlStore(client, storeOptions));
  }
  const stopWatching = await watchDataFiles(databaseFiles(folder, partitions), options.onGone);
  const store = new ManyStores(stores);
  const close = async () => {
    stopWatching();
    await store.close();
    await Promise.all(clients.map((client) => client.close()));
    marks.close();
  };
  return { store, close };
}
