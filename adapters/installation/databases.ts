import { Failure } from "../../src/errors.ts";
import type { Config } from "../../src/config.ts";
import { namedPartitions } from "../../src/placement/settings.ts";
import type { SqlClient } from "../../src/ports.ts";
import {
  ensureLayout,
  ensurePartition,
  type Layout,
  refuseUnfinished,
} from "../../src/storage/schema/layout.ts";
import type { RetryLimits } from "../../src/storage/retry.ts";
import type { QueryAddress } from "../libsql/query/messages.ts";

/** A database that `migrate` has prepared, and how queries reach it. */
export interface Opened {
  readonly client: SqlClient;
  readonly address: QueryAddress;
}

/** Where the database of a partition is that another thread opens. Undefined: it is opened here. */
export type Elsewhere = (partition: number, layout: Layout) => QueryAddress | undefined;

/** Every database of an installation. */
export interface Databases {
  readonly layout: Layout;
  /** The first one also has the rows of the whole installation: its deployments. */
  readonly all: readonly [Opened, ...Opened[]];
  /** Which of them are open here, by their place in `all`. Another thread has the others open. */
  readonly here: readonly number[];
  /** The one a partition is in. */
  of(partition: number): SqlClient;
  close(): Promise<void>;
}

export interface DatabasesOptions {
  /** The layout of new data. */
  readonly wanted: Layout;
  readonly retry: RetryLimits;
  /** Whether the settings have the addresses of the databases. */
  readonly isAddressed: boolean;
  /** Absent: all are opened here. The first one always is. */
  readonly elsewhere?: Elsewhere | undefined;
}

/**
 * Opens the first database, and then as many more as its rows say. `open`: opens the database of a
 * partition, and makes it when it is missing. Rejects as `open` does, and with `Failure` META0011 when
 * a database belongs to another partition; then none of them stays open.
 */
export async function openDatabases(
  open: (partition: number) => Promise<Opened>,
  { wanted, retry, isAddressed, elsewhere }: DatabasesOptions,
): Promise<Databases> {
  const first = await open(0);
  const all: [Opened, ...Opened[]] = [first];
  const here = [0];
  const close = async () => {
    await Promise.all(all.map(({ client }) => client.close()));
  };
  try {
    await refuseUnfinished(first.client, retry);
    const layout = await ensureLayout(first.client, wanted, retry);
    if (isAddressed) checkAddress(layout, wanted);
    if (layout.databases === "each") {
      await ensurePartition(first.client, 0, retry);
      for (let partition = 1; partition < layout.partitions; partition++) {
        const address = elsewhere?.(partition, layout);
        if (address) {
          all.push({ address, client: NOT_HERE });
          continue;
        }
        const next = await open(partition);
        all.push(next);
        here.push(partition);
        await ensurePartition(next.client, partition, retry);
      }
    }
    const of = (partition: number) => (all[partition] ?? first).client;
    return { layout, all, here, of, close };
  } catch (cause) {
    await close();
    throw cause;
  }
}

/** In the place of a database that another thread has open. */
const NOT_HERE: SqlClient = {
  batch: () => Promise.reject(new Error("Another thread has the database")),
  isRefused: () => false,
  close: () => Promise.resolve(),
};

/** The address of servers must fit the layout of the data, because only it tells where they are. */
function checkAddress(layout: Layout, wanted: Layout): void {
  if (layout.partitions === 1 || layout.databases === wanted.databases) return;
  throw new Failure(
    "RT0002",
    layout.databases === "each"
      ? `"storage.database-url" needs "${PARTITION}": each partition has a database of its own`
      : `"storage.database-url" must not hold "${PARTITION}": all partitions share one database`,
  );
}

/** The layout of new data on database servers. `address`: as `storage.database-url` has it. */
export function serverLayout(config: Config, address: string): Layout {
  const databases = address.includes(PARTITION) ? "each" : "one";
  return { partitions: namedPartitions(config), databases };
}

/** Stands for the number of a partition in the address of its database. */
export const PARTITION = "{partition}";
