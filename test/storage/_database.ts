import type { Lease, SqlClient, Store } from "../../src/ports.ts";
import { SqlStore, type SqlStoreOptions } from "../../src/storage/sql_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import type { Database } from "./_contract.ts";

/** Folds whenever it can, in the smallest bits: so that everything meets everything. */
export const TINY = {
  foldRowsMax: 3,
  sliceRowsMax: 2,
  rowBytesMax: 64,
  pieceBytes: 100,
  refBytesMin: 4,
  valueBytesMin: 6,
} as const;

/** An empty database in memory. `wrap`: what stands between the store and the database. */
export async function memoryDatabase(
  options: SqlStoreOptions = {},
  wrap: (client: SqlClient) => SqlClient = (client) => client,
): Promise<Database> {
  const client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  return sqlDatabase(client, options, wrap);
}

export function sqlDatabase(
  client: SqlClient,
  options: SqlStoreOptions,
  wrap: (client: SqlClient) => SqlClient = (client) => client,
): Database {
  return {
    open: (other) => Promise.resolve(new SqlStore(wrap(client), other ?? options)),
    flush: (store: Store, lease: Lease) =>
      store instanceof SqlStore ? store.flush(lease) : Promise.resolve(),
    close: () => client.close(),
  };
}
