import type { Config } from "../../src/config.ts";
import { Failure } from "../../src/errors.ts";
import type { Layout } from "../../src/storage/schema/layout.ts";
import { countRows } from "../../src/storage/move/count_rows.ts";
import { checkRows, moveRows } from "../../src/storage/move/move_rows.ts";
import type { TableSum } from "../../src/storage/move/row_digest.ts";
import { PARTITION } from "../installation/databases.ts";
import { keyOfCopy } from "../installation/folder_key.ts";
import type { FolderKey } from "../libsql/file/folder_key.ts";
import { openSource } from "./source.ts";
import { isAddress, openTarget } from "./target.ts";
import type { ToolContext } from "./context.ts";

export interface ReshardValues {
  readonly "to-partitions": number;
  readonly "to-databases"?: Layout["databases"];
  readonly "to"?: string;
  readonly "to-key-file"?: string;
}

/**
 * Copies data into a new folder or server with another number of partitions or databases, and checks
 * it row by row. The old data is left as its next start would leave it. Rejects with `Failure`;
 * servers then refuse the incomplete copy.
 */
export async function reshard(
  values: ReshardValues,
  config: Config,
  context: ToolContext,
): Promise<void> {
  const { display } = context;
  const to = targetOf(values, config);
  const partitions = values["to-partitions"];
  const databases = values["to-databases"] ?? (to.includes(PARTITION) ? "each" : "one");
  const key = await keyOf(values, to, config);
  const source = await openSource(config, context);
  try {
    const layout = { partitions, databases };
    const target = await openTarget({ to, layout, config, context, key });
    try {
      const { installation, writer } = await target.begin(source.epoch + 1);
      const copying = display.begin("Copying", { rows: await countRows(source) });
      const sums = await moveRows(source, writer, copying.progress);
      copying.end();
      const checking = display.begin("Checking", { rows: rowsOf(sums) });
      await checkRows(installation, sums, checking.progress);
      checking.end();
      await source.assertUnclaimed();
      await target.finish();
      display.say(
        `Copied and checked ${rowsOf(sums)} rows: ${source.partitions} partitions became ` +
          `${partitions}, in ${target.place}. The old data is where it was: start only one of them`,
      );
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function targetOf({ to }: ReshardValues, config: Config): string {
  if (to !== undefined) return to;
  if (config["storage.database-url"] === "") return `${config["base-dir"].replace(/\/+$/, "")}-new`;
  throw new Failure("RT0002", `Cannot reshard: "--to <folder or URL>" is missing`);
}

/** The key of a new folder. A database server has none. */
async function keyOf(
  { "to-key-file": file }: ReshardValues,
  to: string,
  config: Config,
): Promise<FolderKey | undefined> {
  if (!isAddress(to)) return await keyOfCopy(file, config);
  if (file === undefined) return undefined;
  const why = "it is for a folder, and a database server encrypts its own files";
  throw new Failure("RT0002", `Cannot use --to-key-file: ${why}`);
}

/** The number of rows in all tables. */
export function rowsOf(sums: Readonly<Record<string, TableSum>>): number {
  return Object.values(sums).reduce((sum, { rows }) => sum + rows, 0);
}
