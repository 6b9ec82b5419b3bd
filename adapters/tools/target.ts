import type { Config } from "../../src/config.ts";
import { Failure } from "../../src/errors.ts";
import type { SqlClient } from "../../src/ports.ts";
import type { Layout } from "../../src/storage/schema/layout.ts";
import type { Installation } from "../../src/storage/move/installation.ts";
import { begin, finish, layOut } from "../../src/storage/move/new_installation.ts";
import { RowWriter } from "../../src/storage/move/write_rows.ts";
import type { RetryLimits } from "../../src/storage/retry.ts";
import { openNewFolder } from "../installation/folder.ts";
import { PARTITION } from "../installation/databases.ts";
import type { FolderKey } from "../libsql/file/folder_key.ts";
import { openLibsql, openLock } from "../libsql/file/open.ts";
import { openRemote } from "../libsql/remote/open.ts";
import { remoteAddress } from "../libsql/remote/address.ts";
import { clock } from "../platform/clock.ts";
import { VERSION } from "../platform/version.ts";
import type { ToolContext } from "./context.ts";

/** The largest row that a database server keeps. */
const SERVER_ROW_BYTES_MAX = 5_000_000;

/** A new folder or database, which servers refuse before it is finished. */
export interface Target {
  /** Its folder or address, for messages. Without secrets. */
  readonly place: string;
  /**
   * Makes its databases. `epoch`: higher than all epochs of the source. Rejects with `Failure` META0011
   * when one of them is not empty.
   */
  begin(
    epoch: number,
  ): Promise<{ readonly installation: Installation; readonly writer: RowWriter }>;
  /** Its rows are complete and checked: servers may use it. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

export interface TargetOptions {
  /** A folder, or the address of a server. */
  readonly to: string;
  readonly layout: Layout;
  readonly config: Config;
  readonly context: ToolContext;
  /** The key of a new folder. Undefined: it is not encrypted. A server has none. */
  readonly key: FolderKey | undefined;
}

/** Opens a new folder or server, for this process alone. Rejects with `Failure` when it is not empty. */
export async function openTarget(options: TargetOptions): Promise<Target> {
  return isAddress(options.to) ? openServer(options) : await openFolder(options);
}

export function isAddress(to: string): boolean {
  return /^(libsql|https?):\/\//i.test(to);
}

/** How many databases a layout has. */
function databasesOf({ partitions, databases }: Layout): number {
  return databases === "each" ? partitions : 1;
}

async function openFolder({ to, layout, key }: TargetOptions): Promise<Target> {
  const { fingerprint, databaseKey } = key ?? {};
  const folder = await openNewFolder(to, { madeBy: VERSION, openLock, fingerprint });
  const made = new Made(layout, {
    open: (partition) => openLibsql({ url: folder.partitionUrl(partition), databaseKey }),
    rowBytesMax: Infinity,
    retry: { retryMs: 0 },
  });
  return {
    place: to,
    begin: (epoch) => made.begin(epoch),
    finish: async () => {
      await made.finish();
      // Closed first, because a closed database is one file.
      await made.close();
      await folder.finish(databasesOf(layout));
    },
    close: async () => {
      await made.close();
      await folder.close();
    },
  };
}

function openServer({ to, layout, config, context: { post } }: TargetOptions): Target {
  if (layout.partitions > 1 && to.includes(PARTITION) !== (layout.databases === "each")) {
    const why = layout.databases === "each" ? "needs" : "must not hold";
    throw new Failure("RT0002", `The address ${why} "${PARTITION}" where databases are for each`);
  }
  const token = config["storage.auth-token"];
  const timeoutMs = config["storage.request-timeout"];
  const made = new Made(layout, {
    open: async (partition) => {
      const address = remoteAddress(to.replaceAll(PARTITION, String(partition)), token);
      return await openRemote({ ...address, timeoutMs, ...(post && { post }) });
    },
    rowBytesMax: SERVER_ROW_BYTES_MAX,
    retry: { clock, retryMs: config["storage.retry-timeout"] },
  });
  return {
    place: remoteAddress(to.replaceAll(PARTITION, "0"), token).url,
    begin: (epoch) => made.begin(epoch),
    finish: () => made.finish(),
    close: () => made.close(),
  };
}

interface MadeOptions {
  readonly open: (partition: number) => Promise<SqlClient>;
  readonly rowBytesMax: number;
  readonly retry: RetryLimits;
}

/** Databases that are being made. */
class Made {
  readonly #layout: Layout;
  readonly #options: MadeOptions;
  readonly #clients: SqlClient[] = [];

  constructor(layout: Layout, options: MadeOptions) {
    this.#layout = layout;
    this.#options = options;
  }

  async begin(epoch: number) {
    const { open, rowBytesMax } = this.#options;
    for (let number = 0; number < databasesOf(this.#layout); number++) {
      const client = await open(number);
      this.#clients.push(client);
      await begin(client);
    }
    const installation = this.#installation();
    await layOut(installation, this.#layout.databases, epoch);
    return { installation, writer: new RowWriter(installation, rowBytesMax) };
  }

  async finish(): Promise<void> {
    await finish(this.#installation());
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.splice(0).map((client) => client.close()));
  }

  #installation(): Installation {
    const [first, ...others] = this.#clients;
    if (!first) throw new Failure("META0011", "Nothing was begun");
    const { partitions } = this.#layout;
    const clients = [first, ...others];
    const of = (partition: number) => clients[partition] ?? first;
    return { partitions, clients, of, retry: this.#options.retry };
  }
}
