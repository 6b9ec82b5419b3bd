import type { InvocationRow } from "../model/invocation.ts";
import type { Item, Rows } from "../model/rows.ts";
import type { Statement } from "../ports.ts";
import { BlobBuilder } from "./blob.ts";
import { foldSql } from "./fold_sql.ts";
import { type Cell, type Many } from "./layer.ts";
import { toJson } from "./safe_text.ts";
import { statement } from "./sql_text.ts";

type JournalCell = Cell<"journal"> & { readonly row: Rows["journal"] };
type Simple = Exclude<Many, "journal"> | "lock";

const PUTS = { lock: foldSql.lockPut, inbox: foldSql.inboxPut } as const;
const DROPS = {
  lock: foldSql.lockDrop,
  inbox: foldSql.inboxDrop,
  state: foldSql.stateDrop,
} as const;

/** Final rows on their way into the tables: as many as fit one batch. */
export class FoldSlice {
  readonly #partition: number;
  /** JSON of rows, by the query they go to. */
  readonly #rows = new Map<string, string[]>();
  readonly #blob = new BlobBuilder();
  rows = 0;
  #textBytes = 0;

  constructor(partition: number) {
    this.#partition = partition;
  }

  get bytes(): number {
    return this.#blob.size + this.#textBytes;
  }

  invocation(id: string, { row, encoded: { text, bytes } }: Cell<"invocation">): void {
    if (!row) return this.#push(foldSql.invocationDrop, toJson(id));
    const { status, expiresAt } = row as InvocationRow;
    const body = `${this.#blob.next},${this.#blob.addText(text)}`;
    const output = bytes ? this.#place(bytes) : "null,null";
    const columns = `${toJson(id)},"${status.kind}",${expiresAt ?? null}`;
    this.#push(foldSql.invocationPut, `[${columns},${body},${output}]`);
  }

  /** Voids what the tables hold of a journal, from this entry on. */
  cut(id: string, first: number): void {
    if (first === 0) this.#push(foldSql.journalDrop, toJson(id));
    else this.#push(foldSql.journalCut, `[${toJson(id)},${first}]`);
  }

  /** Consecutive entries of one journal, as one segment. */
  segment(id: string, cells: readonly JournalCell[]): void {
    const [head] = cells;
    if (!head) return;
    const entries = cells.map(({ encoded }) => encoded.text).join(",");
    const toc = `${this.#blob.next},${this.#blob.addText(`[${entries}]`)}`;
    const from = this.#blob.next;
    for (const { encoded } of cells) if (encoded.bytes) this.#blob.add(encoded.bytes);
    const bytes = `${from},${this.#blob.next - from}`;
    this.#push(foldSql.journalPut, `[${toJson(id)},${head.row.index},${toc},${bytes}]`);
    this.rows += cells.length - 1;
  }

  row(table: Simple, { group, item }: { group: string; item: Item }, cell: Cell): void {
    const { row, encoded: { text, bytes } } = cell;
    if (table === "timer") {
      if (row) return this.#push(foldSql.timerPut, text);
      const [due, kind, index] = String(item).split("/");
      return this.#push(foldSql.timerDrop, `[${toJson(group)},${due},"${kind}",${index}]`);
    }
    if (!row) return this.#push(DROPS[table], toJson([group, item]));
    if (table !== "state") return this.#push(PUTS[table], text);
    this.#push(foldSql.statePut, `[${text},${this.#place(bytes ?? new Uint8Array(0))}]`);
  }

  /** The batch that writes all of it. Drops go first: a journal may be voided and begun anew. */
  statements(): Statement[] {
    const blob = this.#blob.build();
    return [...this.#rows]
      .sort(([a], [b]) => Number(isPut(a)) - Number(isPut(b)))
      .map(([text, rows]) => {
        const json = `[${rows.join(",")}]`;
        switch (text) {
          case foldSql.invocationPut:
            return statement(text, json, blob, this.#partition);
          case foldSql.journalPut:
          case foldSql.statePut:
            return statement(text, json, blob);
          case foldSql.timerPut:
          case foldSql.timerDrop:
            return statement(text, json, this.#partition);
          default:
            return statement(text, json);
        }
      });
  }

  #place(bytes: Uint8Array): string {
    const from = this.#blob.next;
    this.#blob.add(bytes);
    return `${from},${bytes.length}`;
  }

  #push(text: string, json: string): void {
    const rows = this.#rows.get(text);
    if (rows) rows.push(json);
    else this.#rows.set(text, [json]);
    this.#textBytes += json.length;
    this.rows++;
  }
}

function isPut(text: string): boolean {
  return text.trimStart().startsWith("insert");
}
