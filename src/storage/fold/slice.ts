import { concatBytes } from "../../bytes.ts";
import type { Item } from "../../model/rows.ts";
import type { Statement } from "../../ports.ts";
import { TextBlob } from "../codec/blob.ts";
import { printRef } from "../codec/large_ref.ts";
import { foldSql } from "./sql.ts";
import type { Cell, Many, Single } from "../overlay/layer.ts";
import type { Encoded } from "../codec/row_codec.ts";
import { quote, toJson } from "../codec/safe_text.ts";
import { statement } from "../codec/sql_text.ts";

/** Tables whose rows are written one by one, without what is around them. */
export type Simple = Exclude<Many, "journal"> | Exclude<Single, "invocation">;
/** Tables whose rows have JSON and a column of bytes. */
type Valued = "state" | "promise" | "outbox";

interface Segment {
  readonly id: string;
  readonly cells: readonly Encoded<"journal">[];
}

const PUTS = {
  lock: foldSql.lockPut,
  event: foldSql.eventPut,
  inbox: foldSql.inboxPut,
  timer: foldSql.timerPut,
  peer: foldSql.peerPut,
  bucket: foldSql.bucketPut,
  share: foldSql.sharePut,
  bank: foldSql.bankPut,
  source: foldSql.sourcePut,
} as const;
const DROPS = {
  lock: foldSql.lockDrop,
  event: foldSql.eventDrop,
  inbox: foldSql.inboxDrop,
  state: foldSql.stateDrop,
  promise: foldSql.promiseDrop,
  outbox: foldSql.outboxDrop,
  peer: foldSql.peerDrop,
  bucket: foldSql.bucketDrop,
  share: foldSql.shareDrop,
  bank: foldSql.bankDrop,
  source: foldSql.sourceDrop,
} as const;

/** Queries that also take the partition. */
const OF_PARTITION: ReadonlySet<string> = new Set(
  [foldSql.timerPut, foldSql.timerDrop, foldSql.bucketPut],
);

/** The rows of one batch of a fold. */
export class FoldSlice {
  readonly #partition: number;
  readonly #invocations: Encoded<"invocation">[] = [];
  readonly #segments: Segment[] = [];
  readonly #valued: { readonly [T in Valued]: Encoded[] } = {
    state: [],
    promise: [],
    outbox: [],
  };
  /** JSON of rows without bytes, by their query. Drops are written before puts. */
  readonly #drops = new Map<string, string[]>();
  readonly #puts = new Map<string, string[]>();
  rows = 0;
  bytes = 0;

  constructor(partition: number) {
    this.#partition = partition;
  }

  invocation(id: string, cell: Cell<"invocation">): void {
    if (!cell.row) return this.#push(this.#drops, foldSql.invocationDrop, quote(id));
    this.#invocations.push(cell);
    this.#count(cell);
  }

  /** Deletes the segments of a journal that begin at entry `first` or later. */
  cut(id: string, first: number): void {
    if (first === 0) this.#push(this.#drops, foldSql.journalDrop, quote(id));
    else this.#push(this.#drops, foldSql.journalCut, `[${quote(id)},${first}]`);
  }

  /** Consecutive entries of one journal, at least one, as one segment. */
  segment(id: string, cells: readonly Encoded<"journal">[]): void {
    this.#segments.push({ id, cells });
    for (const cell of cells) this.#count(cell);
  }

  row(table: Simple, { group, item }: { group: string; item: Item }, cell: Cell): void {
    if (cell.row) return this.#put(table, cell);
    if (table !== "timer") return this.#push(this.#drops, DROPS[table], toJson([group, item]));
    const [due, kind, index] = String(item).split("/");
    this.#push(this.#drops, foldSql.timerDrop, `[${quote(group)},${due},"${kind}",${index}]`);
  }

  #put(table: Simple, cell: Encoded): void {
    if (table !== "state" && table !== "promise" && table !== "outbox") {
      return this.#push(this.#puts, PUTS[table], cell.text);
    }
    this.#valued[table].push(cell);
    this.#count(cell);
  }

  /** The statements of the batch. Drops come first: a journal may be dropped and begun anew. */
  statements(): Statement[] {
    return [
      ...this.#plain(this.#drops),
      ...this.#plain(this.#puts),
      ...putInvocations(this.#invocations, this.#partition),
      ...putSegments(this.#segments),
      ...putValued(foldSql.statePut, this.#valued.state),
      ...putValued(foldSql.promisePut, this.#valued.promise),
      ...putValued(foldSql.outboxPut, this.#valued.outbox),
    ];
  }

  *#plain(queries: ReadonlyMap<string, readonly string[]>): Generator<Statement> {
    for (const [text, rows] of queries) {
      const json = `[${rows.join(",")}]`;
      yield OF_PARTITION.has(text) ? statement(text, json, this.#partition) : statement(text, json);
    }
  }

  #push(queries: Map<string, string[]>, text: string, json: string): void {
    const rows = queries.get(text);
    if (rows) rows.push(json);
    else queries.set(text, [json]);
    this.rows++;
    this.bytes += json.length;
  }

  #count({ text, bytes, large }: Cell): void {
    this.rows++;
    this.bytes += text.length + (large ? 0 : bytes?.length ?? 0);
  }
}

function putInvocations(
  cells: readonly Encoded<"invocation">[],
  partition: number,
): Statement[] {
  if (cells.length === 0) return [];
  const bodies = new TextBlob(cells.map(({ text }) => text));
  const outputs = new Places();
  const rows = cells.map((cell, i) => {
    const { id, status, expiresAt, createdAt, origin } = cell.row;
    const columns = `${quote(id)},"${status.kind}",${expiresAt ?? null},${createdAt}`;
    const subscription = origin.by === "subscription" ? `,${quote(origin.id)}` : "";
    return `[${columns},${bodies.place(i)},${outputs.of(cell)}${subscription}]`;
  });
  const json = `[${rows.join(",")}]`;
  return [statement(foldSql.invocationPut, json, bodies.blob, outputs.blob(), partition)];
}

function putSegments(segments: readonly Segment[]): Statement[] {
  if (segments.length === 0) return [];
  const entries = new TextBlob(segments.map(({ cells }) => jsonOf(cells)));
  const places = new Places();
  const rows = segments.map(({ id, cells }, i) => {
    const from = places.next;
    for (const { bytes, large } of cells) if (bytes && !large) places.add(bytes);
    const place = `${from},${places.next - from},${largeOf(cells[0])}`;
    return `[${quote(id)},${cells[0]?.row.index},${entries.place(i)},${place}]`;
  });
  return [statement(foldSql.journalPut, `[${rows.join(",")}]`, entries.blob, places.blob())];
}

/** The entries of a segment as one JSON array. Mostly they are two. */
function jsonOf(cells: readonly Encoded<"journal">[]): string {
  let json = "[";
  for (const { text } of cells) json += json.length > 1 ? `,${text}` : text;
  return `${json}]`;
}

function putValued(text: string, cells: readonly Encoded[]): Statement[] {
  if (cells.length === 0) return [];
  const values = new Places();
  const rows = cells.map((cell) => `[${cell.text},${values.of(cell)}]`);
  return [statement(text, `[${rows.join(",")}]`, values.blob())];
}

function largeOf(cell: Cell | undefined): string {
  return cell?.large ? printRef(cell.large) : "null";
}

/** Bytes of many rows in one blob, from which SQL takes them by `substr(?, from, size)`. */
class Places {
  /** SQL's `substr` of an empty blob is null, so the blob begins with one unused byte. */
  readonly #pieces: Uint8Array[] = [new Uint8Array(1)];
  /** The position of the next piece, counted from 1 as SQL does. */
  next = 2;

  /** `from,size,large` of a row's bytes; `large` is the reference if a large value contains them. */
  of(cell: Cell): string {
    return `${this.add(cell.large ? undefined : cell.bytes)},${largeOf(cell)}`;
  }

  /** `from,size` of these bytes; nulls when there are none. */
  add(bytes: Uint8Array | undefined): string {
    if (!bytes) return "null,null";
    const from = this.next;
    this.#pieces.push(bytes);
    this.next += bytes.length;
    return `${from},${bytes.length}`;
  }

  blob(): Uint8Array {
    return concatBytes(this.#pieces);
  }
}
