import { open } from "node:fs/promises";
import process from "node:process";
import type { Config } from "../../src/config.ts";
import { Failure } from "../../src/errors.ts";
import { exportRows } from "../../src/storage/move/export_rows.ts";
import { importRows } from "../../src/storage/move/import_rows.ts";
import { checkRows } from "../../src/storage/move/move_rows.ts";
import { PARTITION } from "../installation/databases.ts";
import { VERSION } from "../platform/version.ts";
import { rowsOf } from "./reshard.ts";
import { openSource } from "./source.ts";
import { openTarget } from "./target.ts";
import { progress, type World } from "./world.ts";

/** Says that it is what the process prints, or is given. */
const STREAM = "-";
/** A dump holds all secrets there are: only its owner reads it. */
const PRIVATE = 0o600;

/** Writes all data to a new file, or to what the process prints. */
export async function exportData(
  { to = STREAM }: { readonly to?: string },
  config: Config,
  world: World,
): Promise<void> {
  const source = await openSource(config, world);
  try {
    const about = { madeBy: VERSION, epoch: source.epoch };
    const chunks = exportRows(source, about, progress(world, "Exporting"));
    if (to === STREAM) await print(chunks);
    else await write(to, chunks);
    await source.stillOurs();
    world.say(`Exported to ${to === STREAM ? "the output" : to}`);
  } finally {
    await source.close();
  }
}

async function print(chunks: AsyncIterable<string>): Promise<void> {
  for await (const chunk of chunks) {
    await new Promise<void>((resolve, reject) => {
      process.stdout.write(chunk, (cause) => cause ? reject(cause) : resolve());
    });
  }
}

async function write(file: string, chunks: AsyncIterable<string>): Promise<void> {
  const handle = await open(file, "wx", PRIVATE);
  try {
    for await (const chunk of chunks) await handle.write(chunk);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Reads a dump into the new place that the settings name, and checks it row by row. */
export async function importData(
  { from = STREAM }: { readonly from?: string },
  config: Config,
  world: World,
): Promise<void> {
  const address = config["storage.database-url"];
  const databases = address === ""
    ? config["storage.databases"]
    : address.includes(PARTITION)
    ? "each"
    : "one";
  const partitions = config["default-num-partitions"];
  const to = address === "" ? config["base-dir"] : address;
  const file = from === STREAM ? undefined : await open(from);
  const chunks = file?.createReadStream() ?? process.stdin;
  const target = await openTarget({ to, layout: { partitions, databases }, config, world });
  try {
    let begun: Awaited<ReturnType<typeof target.begin>> | undefined;
    const sums = await importRows(chunks, {
      begin: async ({ epoch }) => (begun = await target.begin(epoch + 1)).writer,
      progress: progress(world, "Importing"),
    });
    if (!begun) throw Failure.plain(400, "Cannot import: there is nothing");
    await checkRows(begun.installation, sums, progress(world, "Checking"));
    await target.finish();
    world.say(
      `Imported and checked ${rowsOf(sums)} rows in ${partitions} partitions, in ${target.place}`,
    );
  } finally {
    await target.close();
    await file?.close();
  }
}
