import { DUMP_VERSION, type Head, printRow, type Tail } from "./dump.ts";
import type { Installation, Progress } from "./installation.ts";
import { allRows } from "./move_rows.ts";
import { Sums } from "./row_digest.ts";

/** Characters of a chunk, which has whole lines: it may be larger by one line. */
const CHUNK_CHARACTERS = 64 * 1024;

/**
 * An installation as lines of JSON: a head, every row, and a tail with the number of rows and their
 * digests. No process may write to it meanwhile, and its outboxes must be empty.
 */
export async function* exportRows(
  installation: Installation,
  { madeBy, epoch }: Pick<Head, "madeBy" | "epoch">,
  progress: Progress,
): AsyncGenerator<string> {
  const { partitions } = installation;
  const head: Head = { perdure: "dump", version: DUMP_VERSION, partitions, epoch, madeBy };
  const sums = new Sums();
  let lines = `${JSON.stringify(head)}\n`;
  for await (const line of allRows(installation, progress)) {
    sums.add(line.table, line.digest);
    lines += `${printRow(line)}\n`;
    if (lines.length < CHUNK_CHARACTERS) continue;
    yield lines;
    lines = "";
  }
  const tail: Tail = { end: sums.tables() };
  yield `${lines}${JSON.stringify(tail)}\n`;
}
