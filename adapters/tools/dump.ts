import { open } from "node:fs/promises";
import process from "node:process";
import type { Config } from "../../src/config.ts";
import { Failure } from "../../src/errors.ts";
import { countRows } from "../../src/storage/move/count_rows.ts";
import { exportRows } from "../../src/storage/move/export_rows.ts";
import { importRows } from "../../src/storage/move/import_rows.ts";
import type { Progress } from "../../src/storage/move/installation.ts";
import { checkRows } from "../../src/storage/move/move_rows.ts";
import { serverLayout } from "../installation/databases.ts";
import { layoutOf } from "../installation/threads.ts";
import { thisMachine } from "../platform/machine.ts";
import { folderKey } from "../installation/folder_key.ts";
import { VERSION } from "../platform/version.ts";
import { rowsOf } from "./reshard.ts";
import { openSource } from "./source.ts";
import { openTarget } from "./target.ts";
import type { ToolContext } from "./context.ts";

/** Stands for standard output, or standard input. */
const STREAM = "-";
/** A dump may contain secrets: only its owner can read it. */
const PRIVATE = 0o600;

/** Writes all data to a new file, or to standard output. */
export async function exportData(
  { to = STREAM }: { readonly to?: string },
  config: Config,
  context: ToolContext,
): Promise<void> {
  const source = await openSource(config, context);
  try {
    const about = { madeBy: VERSION, epoch: source.epoch };
    const work = context.display.begin("Exporting", { rows: await countRows(source) });
    const chunks = exportRows(source, about, work.progress);
    if (to === STREAM) await print(chunks);
    else await write(to, chunks);
    work.end();
    await source.assertUnclaimed();
    context.display.say(
      `Exported to ${
        to === STREAM ? "the output" : to
      }, in clear text: inputs, states, headers of ` +
        "deployments and options of Kafka clusters. Keep it where keys are",
    );
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

/** Reads a dump into the folder or server of the settings, which must be new, and checks each row. */
export async function importData(
  { from = STREAM }: { readonly from?: string },
  config: Config,
  context: ToolContext,
): Promise<void> {
  const address = config["storage.database-url"];
  const layout = address === "" ? layoutOf(config, thisMachine()) : serverLayout(config, address);
  const { partitions } = layout;
  const to = address === "" ? config["base-dir"] : address;
  const key = await folderKey(config);
  const file = from === STREAM ? undefined : await open(from);
  const total = file && { bytes: (await file.stat()).size };
  const work = context.display.begin("Importing", total);
  const chunks = counted(file?.createReadStream() ?? process.stdin, work.progress);
  const target = await openTarget({ to, layout, config, context, key });
  try {
    let begun: Awaited<ReturnType<typeof target.begin>> | undefined;
    const sums = await importRows(chunks, {
      begin: async ({ epoch }) => (begun = await target.begin(epoch + 1)).writer,
      progress: work.progress,
    });
    work.end();
    if (!begun) throw Failure.plain(400, "Cannot import: there is nothing");
    const checking = context.display.begin("Checking", { rows: rowsOf(sums) });
    await checkRows(begun.installation, sums, checking.progress);
    checking.end();
    await target.finish();
    context.display.say(
      `Imported and checked ${rowsOf(sums)} rows in ${partitions} partitions, in ${target.place}`,
    );
  } finally {
    await target.close();
    await file?.close();
  }
}

/** The same chunks; reports their bytes as progress. */
async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  progress: Progress,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    progress({ bytes: chunk.length });
    yield chunk;
  }
}
