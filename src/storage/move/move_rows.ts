import { Failure } from "../../errors.ts";
import type { SqlRow } from "../../ports.ts";
import type { Done, Installation, Progress } from "./installation.ts";
import { bytesOf, readRows } from "./read_rows.ts";
import { difference, digestRow, Sums, type TableSum } from "./row_digest.ts";
import { homeOf, nameOf, ROW_TABLES, type RowTable } from "./row_table.ts";
import { mergedSources } from "./sources.ts";
import type { RowWriter } from "./write_rows.ts";

/**
 * Every row of an installation, table by table, with its digest. Of rows that each partition has of its
 * own: the one that they amount to.
 */
export async function* allRows(
  { clients, partitions, retry }: Installation,
  progress: Progress,
): AsyncGenerator<{ readonly table: RowTable; readonly row: SqlRow; readonly digest: Uint8Array }> {
  for (const table of ROW_TABLES) {
    const sources: SqlRow[] = [];
    for (const client of clients) {
      for await (const page of readRows(client, table, retry)) {
        if (table.home === "source") sources.push(...page);
        else for (const row of page) yield { table, row, digest: digestRow(table, row) };
        progress(doneWith(table, page));
      }
    }
    for (const row of mergedSources(sources, partitions)) {
      yield { table, row, digest: digestRow(table, row) };
    }
  }
}

/** Copies every row to its partition in another installation. Resolves with the digests. */
export async function moveRows(
  from: Installation,
  writer: RowWriter,
  progress: Progress,
): Promise<Record<string, TableSum>> {
  const sums = new Sums();
  for await (const { table, row, digest } of allRows(from, progress)) {
    sums.add(table, digest);
    await writer.add(table, row);
  }
  await writer.flush();
  return sums.tables();
}

/**
 * Reads all rows of an installation: each must be in the database of its partition and have the number
 * of that partition, and their digests must equal `should`. Rejects with `Failure` otherwise.
 */
export async function checkRows(
  installation: Installation,
  should: Readonly<Record<string, TableSum>>,
  progress: Progress,
): Promise<void> {
  const { clients, partitions, retry } = installation;
  const sums = new Sums();
  for (const table of ROW_TABLES) {
    const sources: SqlRow[] = [];
    for (const client of clients) {
      for await (const page of readRows(client, table, retry)) {
        for (const row of page) {
          const home = homeOf(table, row, partitions);
          const isMarked = !table.hasPartition || row["partition"] === home;
          if (installation.of(home) !== client || !isMarked) throw misplaced(table, row);
          if (table.home === "source") sources.push(row);
          else sums.add(table, digestRow(table, row));
        }
        progress(doneWith(table, page));
      }
    }
    for (const row of mergedSources(sources, partitions)) sums.add(table, digestRow(table, row));
  }
  const why = difference(sums.tables(), should);
  if (why) throw Failure.plain(500, `The copy is not what it should be: ${why}`);
}

function doneWith({ name }: RowTable, page: readonly SqlRow[]): Done {
  const bytes = page.reduce((sum, row) => sum + bytesOf(row), 0);
  return { what: name, rows: page.length, bytes };
}

function misplaced(table: RowTable, row: SqlRow): Failure {
  return Failure.plain(
    500,
    `The copy is not what it should be: ${nameOf(table, row)} is elsewhere`,
  );
}
