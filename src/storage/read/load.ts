import { assert } from "../../assert.ts";
import {
  groupOf,
  type Item,
  itemOf,
  type Rows,
  type Table,
  type Timer,
  type Want,
} from "../../model/rows.ts";
import { Unreadable } from "../../model/unreadable.ts";
import type { SqlRow, Statement } from "../../ports.ts";
import { loadSql } from "./sql.ts";
import {
  asIndexed,
  decodeJournal,
  decodeMessage,
  decodePromise,
  type JournalJson,
} from "../codec/row_codec.ts";
import { fromJson, fromSafe, fromUtf8, quote, toJson } from "../codec/safe_text.ts";
import { statement } from "../codec/sql_text.ts";
import { isSingle } from "../overlay/layer.ts";

/** A row found in the tables, with its item. */
export type FoundRow = readonly [Item, Rows[Table]];

/** The rows of a want in the tables. `pages`: as in `Loaded`, in place of `rows`. */
export interface Found {
  readonly rows: readonly FoundRow[];
  readonly pages?: Iterable<readonly FoundRow[]>;
}

/** How a want is looked up: its query, and its element of that query's array. */
interface Lookup {
  readonly text: string;
  readonly key: string | readonly [string, Item];
}

interface Query {
  readonly table: Table;
  /** Keys as JSON, each with the indices of the wants that share it. */
  readonly keys: Map<string, number[]>;
}

/** Bytes of JSON above which the rows of a lookup are returned in pages: about 10 ms of decoding. */
const WHOLE_BYTES_MAX = 256 * 1024;
/** Rows of a page: a few ms of decoding, with the segment of a journal in which it begins. */
const PAGE_ROWS = 1000;
/** Estimated bytes of a row that has no JSON, for `WHOLE_BYTES_MAX`. */
const COLUMNS_BYTES = 100;

/** Keys of a read that takes no longer than waking another thread: it may run inline. */
const QUICK_KEYS_MAX = 64;

/** The queries of some wants, one for each kind of lookup, and which row belongs to which want. */
export class LoadPlan {
  readonly #wants: readonly Want[];
  readonly #queries = new Map<string, Query>();

  constructor(wants: readonly Want[]) {
    this.#wants = wants;
    for (const [place, want] of wants.entries()) {
      const { text, key } = lookup(want);
      let query = this.#queries.get(text);
      if (!query) {
        query = { table: want.table, keys: new Map() };
        this.#queries.set(text, query);
      }
      const json = typeof key === "string" ? quote(key) : toJson(key);
      const places = query.keys.get(json);
      if (places) places.push(place);
      else query.keys.set(json, [place]);
    }
  }

  statements(): Statement[] {
    return [...this.#queries].map(([text, { keys }]) => {
      const read = statement(text, `[${[...keys.keys()].join(",")}]`);
      return keys.size <= QUICK_KEYS_MAX ? { ...read, isQuick: true } : read;
    });
  }

  /** The rows of each want, without an order. `results`: of `statements()`. */
  sort(results: readonly (readonly SqlRow[])[]): Found[] {
    const found: { rows: FoundRow[]; pages?: Found["pages"] & object }[] = this.#wants.map(() => (
      { rows: [] }
    ));
    for (const [i, { table, keys }] of [...this.#queries.values()].entries()) {
      const all = [...keys.values()];
      for (const [n, rows] of byKey(results[i] ?? [])) {
        let places = all[n] ?? [];
        const group = this.#wants[places[0] ?? -1]?.group;
        assert(group !== undefined, "A query answers what it was asked");
        if (isLarge(table, rows)) {
          const pages = { [Symbol.iterator]: () => pagesOf(table, rows, group) };
          const isWhole = (place: number) => this.#wants[place]?.item === undefined;
          for (const place of places.filter(isWhole)) found[place]!.pages = pages;
          places = places.filter((place) => !isWhole(place));
          if (places.length === 0) continue;
        }
        const sharing = new SharedWants(places, this.#wants);
        for (const [item, row] of decoded(table, rows, group)) {
          for (const place of sharing.of(item)) found[place]!.rows.push([item, row]);
        }
      }
    }
    return found;
  }
}

/** Rows by the index of their key in the query. */
function byKey(rows: readonly SqlRow[]): Map<number, SqlRow[]> {
  const groups = new Map<number, SqlRow[]>();
  for (const columns of rows) {
    const n = Number(columns["n"]);
    const group = groups.get(n);
    if (group) group.push(columns);
    else groups.set(n, [columns]);
  }
  return groups;
}

function isLarge(table: Table, rows: readonly SqlRow[]): boolean {
  let bytes = 0;
  for (const columns of rows) bytes += bytesOf(table, columns);
  return bytes > WHOLE_BYTES_MAX;
}

/** Bytes of JSON in a row: they decide the cost of decoding it. */
function bytesOf(table: Table, columns: SqlRow): number {
  return table === "journal" ? (columns["entries"] as Uint8Array).length : COLUMNS_BYTES;
}

function* pagesOf(table: Table, rows: readonly SqlRow[], group: string): Generator<FoundRow[]> {
  let page: FoundRow[] = [];
  for (const row of decoded(table, rows, group)) {
    page.push(row);
    if (page.length < PAGE_ROWS) continue;
    yield page;
    page = [];
  }
  yield page;
}

function* decoded(table: Table, rows: readonly SqlRow[], group: string): Generator<FoundRow> {
  for (const columns of rows) {
    for (const row of readable(table, columns, group)) yield [itemOf(table, row), row];
  }
}

/** Decodes a row. Throws `Unreadable` at any error of a decoder: the row is damaged then. */
function readable(table: Table, columns: SqlRow, group: string): readonly Rows[Table][] {
  let rows: readonly Rows[Table][];
  try {
    rows = decodeRow(table, columns);
  } catch (cause) {
    throw new Unreadable(table, group, { cause });
  }
  if (rows.some((row) => groupOf(table, row) !== group)) throw new Unreadable(table, group);
  return rows;
}

/** The wants that share a lookup: each wants one of its items or all of them. */
class SharedWants {
  readonly #all: number[] = [];
  readonly #items = new Map<Item, number[]>();

  constructor(places: readonly number[], wants: readonly Want[]) {
    for (const place of places) {
      const item = wants[place]?.item;
      if (item === undefined) this.#all.push(place);
      else this.#items.set(item, [...this.#items.get(item) ?? [], place]);
    }
  }

  /** Indices of the wants to which a row with this item belongs. */
  of(item: Item): readonly number[] {
    const own = this.#items.get(item);
    return own ? [...this.#all, ...own] : this.#all;
  }
}

function lookup({ table, group, item }: Want): Lookup {
  // All timers of an invocation are read once, however many wants there are for single ones.
  if (isSingle(table) || table === "timer" || item === undefined) {
    return { text: loadSql[table], key: group };
  }
  return { text: loadSql[`${table}Item`], key: [group, item] };
}

function decodeRow(table: Table, columns: SqlRow): readonly Rows[Table][] {
  switch (table) {
    case "invocation":
      return [asIndexed(columns, json(columns, "body"), valueOf(columns, "output"))];
    case "journal":
      return unpack(columns);
    case "event":
    case "share":
    case "bank":
    case "source":
      return [fromJson(json(columns, "body")) as Rows["event" | "share" | "bank" | "source"]];
    case "lock":
      return [lockRow(columns)];
    case "inbox":
      return [inboxRow(columns)];
    case "state":
      return [{
        object: text(columns, "object"),
        name: text(columns, "name"),
        value: valueOf(columns, "value") as Uint8Array,
      }];
    case "promise":
      return [decodePromise(json(columns, "body"), valueOf(columns, "value"))];
    case "timer":
      return [decodeTimer(columns)];
    case "outbox":
      return [decodeOutbox(columns)];
    case "peer":
      return [{
        ...endsOf(columns),
        sent: columns["sent"] as number,
        heard: columns["heard"] as number,
      }];
    case "bucket":
      return [bucketRow(columns)];
  }
}

function lockRow(columns: SqlRow): Rows["lock"] {
  const { head, tail } = columns as Record<string, number>;
  return { object: text(columns, "object"), holder: text(columns, "holder"), head, tail } as Rows[
    "lock"
  ];
}

function bucketRow(columns: SqlRow): Rows["bucket"] {
  const { tokens, at, full_at: fullAt } = columns as Record<string, number>;
  return { counter: text(columns, "counter"), tokens, at, fullAt } as Rows["bucket"];
}

/** A timer from its columns. */
export function decodeTimer(columns: SqlRow): Timer {
  return {
    id: text(columns, "id"),
    due: columns["due"] as number,
    kind: columns["kind"] as Timer["kind"],
    index: columns["idx"] as number,
  };
}

/** A message of the outbox from its columns. */
export function decodeOutbox(columns: SqlRow): Rows["outbox"] {
  const message = decodeMessage(json(columns, "body"), valueOf(columns, "value"));
  return { ...endsOf(columns), seq: columns["seq"] as number, message };
}

/** The reverse of `peerOf`. */
function endsOf(columns: SqlRow): { readonly from: number; readonly to: number } {
  const [from, to] = (columns["peer"] as string).split("/");
  return { from: Number(from), to: Number(to) };
}

/** The entries of a segment, whose bytes are concatenated in one column. */
function unpack(columns: SqlRow): Rows["journal"][] {
  const id = text(columns, "id");
  const bytes = valueOf(columns, "bytes") as Uint8Array;
  let at = 0;
  return (fromJson(json(columns, "entries")) as JournalJson[]).map((json) => {
    const { size } = json;
    const own = size === undefined ? undefined : bytes.subarray(at, at + size);
    at += size ?? 0;
    return decodeJournal(id, json, own);
  });
}

/** The bytes of a row. Throws when they are missing because their large value is damaged. */
function valueOf(columns: SqlRow, name: string): Uint8Array | null {
  const bytes = columns[name] as Uint8Array | null;
  assert(bytes || columns["large"] == null, "A large value is what was written");
  return bytes;
}

/** JSON text, which queries return as bytes. */
function json(columns: SqlRow, name: string): string {
  return fromUtf8(columns[name] as Uint8Array);
}

function text(columns: SqlRow, name: string): string {
  return fromSafe(columns[name] as string);
}

function inboxRow(columns: SqlRow): Rows["inbox"] {
  const object = text(columns, "object"), id = text(columns, "id");
  const row = { object, seq: columns["seq"] as number, id };
  return columns["edit"] == null ? row : { ...row, edit: text(columns, "edit") };
}
