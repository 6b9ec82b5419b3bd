import type { Rows, Write } from "../../src/model/rows.ts";

/**
 * What a turn writes has no order. Here the entries of one journal that stand together, as those of
 * one turn do, are told in theirs.
 */
export function inOrder(writes: readonly Write[]): Write[] {
  const ordered: Write[] = [];
  for (let from = 0; from < writes.length;) {
    let to = from + 1;
    while (to < writes.length && journalOf(writes[to]) === journalOf(writes[from])) to++;
    const run = writes.slice(from, to);
    ordered.push(...(journalOf(run[0]) === undefined ? run : run.sort(byIndex)));
    from = to;
  }
  return ordered;
}

/** Undefined: it is no entry of a journal. */
function journalOf(write: Write | undefined): string | undefined {
  return write?.table === "journal" ? (write.row as Rows["journal"]).id : undefined;
}

function byIndex(a: Write, b: Write): number {
  return (a.row as Rows["journal"]).index - (b.row as Rows["journal"]).index;
}
