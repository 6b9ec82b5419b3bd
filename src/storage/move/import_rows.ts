import { Failure } from "../../errors.ts";
import { checkRow } from "./check_row.ts";
import { BadLine, type Head, readHead, readLine } from "./dump.ts";
import type { Progress } from "./installation.ts";
import { linesOf } from "./lines.ts";
import { difference, Sums, type TableSum } from "./row_digest.ts";
import type { RowWriter } from "./write_rows.ts";

export interface ImportOptions {
  /** Prepares the target, after the head was read. */
  readonly begin: (head: Head) => Promise<RowWriter>;
  /** Called with rows only: the caller counts the bytes of the chunks. */
  readonly progress: Progress;
}

/**
 * Reads a dump and writes its rows. Resolves with the digests of its tables. Rejects with `Failure`,
 * which names the line, when the dump is damaged or truncated.
 */
export async function importRows(
  chunks: AsyncIterable<Uint8Array>,
  { begin, progress }: ImportOptions,
): Promise<Record<string, TableSum>> {
  const sums = new Sums();
  let writer: RowWriter | undefined;
  let isEnded = false;
  // The number of the next line, so that an error while reading it names the right one.
  let number = 1;
  try {
    for await (const line of linesOf(chunks)) {
      if (isEnded) throw new BadLine("there is something after the last line");
      if (writer) isEnded = await take(line, { writer, sums, progress });
      else writer = await begin(readHead(line));
      number++;
    }
    if (!isEnded) throw new BadLine("it is missing: the dump is cut off");
  } catch (cause) {
    if (!(cause instanceof BadLine)) throw cause;
    throw Failure.plain(400, `Cannot read line ${number} of the dump: ${cause.message}`, { cause });
  }
  await writer?.flush();
  return sums.tables();
}

/** Writes the row of a line. Resolves with whether the line was the tail. */
async function take(
  line: string,
  { writer, sums, progress }: {
    readonly writer: RowWriter;
    readonly sums: Sums;
    readonly progress: Progress;
  },
): Promise<boolean> {
  const read = readLine(line);
  if ("end" in read) {
    const why = difference(sums.tables(), read.end);
    if (why) throw new BadLine(`what is before it is not all: ${why}`);
    return true;
  }
  checkRow(read.table, read.row);
  sums.add(read.table, read.digest);
  await writer.add(read.table, read.row);
  progress({ what: read.table.name, rows: 1 });
  return false;
}
