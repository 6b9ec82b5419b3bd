import type { InvocationRow } from "../../model/invocation.ts";
import { type Entry, entryType } from "../../model/journal.ts";
import {
  decodeInvocation,
  decodeJournal,
  type JournalJson,
} from "../../storage/codec/row_codec.ts";
import { fromJson, toSafe } from "../../storage/codec/safe_text.ts";
import { encodeEntry } from "../../wire/journal_codec.ts";
import { FRAME_HEAD_BYTES } from "../../wire/frame.ts";
import type { Bound, QueryDatabase } from "../database.ts";
import { ENTRY_COLUMNS } from "../tables/journal_tables.ts";
import type { StoredRelation } from "../translate/scope.ts";
import type { UnreadableRow } from "../unreadable.ts";
import type { Callees } from "./call_json.ts";
import { nameOfEntry, readableEntry } from "./entry_json.ts";
import { entryTypeName, UNREADABLE } from "./entry_name.ts";
import {
  namesCallees,
  showsBytes,
  usedOf,
  wantedIndexesSql,
  wantedJournals,
} from "./wanted_entries.ts";

/** The bytes of larger entries are not spelled out as JSON: their list would be four times as long. */
const JSON_BYTES_MAX = 4 * 1024 * 1024;
/** Rows of callees that are remembered. */
const CALLEES_MAX = 1000;

// As bytes: the addon ends the process when text is not UTF-8, and a damaged file may hold such text.
const segmentSql = (bytes: string) =>
  `select first, cast(entries as blob), ${bytes} from whole_journal
  where id = ?1 and first > ?2 order by first limit 1`;
const SEGMENT = segmentSql("bytes");
/** Bytes are most of a journal, and their sizes are among the entries. */
const SIZES = segmentSql("null");
const NOTES = `select first, cast(entries as blob) from whole_journal
  where id = ?1 and first > ?2 order by first limit 1`;
const NEXT_ID = `select id from whole_journal where id > ?1 order by id limit 1`;
const INVOCATION = `select cast(body as blob) from invocation where id = ?1`;

/** Makes the table `entry`. */
export const MAKE_ENTRY = `create table main.entry (${ENTRY_COLUMNS.join(", ")},
  primary key (id, idx))`;
/** Puts one of the rows of `entryRows` into it. */
export const INSERT_ENTRY = `insert into main.entry (${ENTRY_COLUMNS.join(", ")})
  values (${ENTRY_COLUMNS.map((_, i) => `?${i + 1}`).join(", ")})`;

/** What reading journals needs of a database. */
export type JournalDatabase = Pick<QueryDatabase, "row" | "check">;

/** Options of `entryRows`. */
export interface EntryOptions {
  /** Of larger entries there is no JSON. */
  readonly jsonBytesMax?: number;
  /** Called for every stored row that cannot be decoded. */
  readonly unreadable: (row: UnreadableRow) => void;
}

/**
 * Rows of the table `entry`, some at a time, as far as these mentions of `sys_journal` want them: of
 * which invocations, and which columns. Frames are decoded here, which SQL cannot do. What cannot be
 * decoded is one row of the type `UNREADABLE`: the other rows are still answered, and the
 * reader sees that the answer is not complete.
 */
export async function* entryRows(
  database: JournalDatabase,
  mentions: readonly StoredRelation[],
  { jsonBytesMax = JSON_BYTES_MAX, unreadable }: EntryOptions,
): AsyncGenerator<readonly Bound[][]> {
  const used = usedOf(mentions);
  const wantedSql = wantedIndexesSql(mentions);
  for await (const id of wantedIds(database, mentions)) {
    const callees = new Called(database, id);
    for await (const segment of segmentsOf(database, id, showsBytes(used) ? SEGMENT : SIZES)) {
      database.check();
      const decode = <T>(index: number, act: () => T): T | undefined => {
        try {
          return act();
        } catch (cause) {
          unreadable({ table: "journal", key: `${id}/${index}`, cause: String(cause) });
        }
      };
      const { first } = segment;
      const cells = decode(first, () => cellsOf(segment));
      const wanted = cells && wantedSql ? await wantedOf(database, wantedSql, cells) : cells;
      const rows = decode(
        first,
        () => wanted?.map(({ json, own }) => decodeJournal(id, json, own)),
      );
      if (rows && namesCallees(used)) await callees.prefetch(rows);
      yield rows
        ? rows.map((row) =>
          decode(row.index, () => columnsOf(row, { used, callees, jsonBytesMax })) ??
            unreadableEntry(id, row.index)
        )
        : [unreadableEntry(id, first)];
    }
  }
}

/** Ids in the spelling of the database. All of them, unless every mention names some. */
async function* wantedIds(
  database: JournalDatabase,
  mentions: readonly StoredRelation[],
): AsyncGenerator<string> {
  const pushed = wantedJournals(mentions);
  if (pushed) return yield* pushed;
  for (let after = "";;) {
    database.check();
    const row = await database.row(NEXT_ID, [after]);
    if (!row) return;
    after = String(row[0]);
    yield after;
  }
}

type JournalRow = ReturnType<typeof decodeJournal>;

/** Entries that are stored together. */
interface Segment {
  readonly first: number;
  readonly entries: Uint8Array;
  /** Null: only their sizes are wanted. */
  readonly bytes: Uint8Array | null;
}

/** One segment is in memory at a time. */
async function* segmentsOf(
  database: JournalDatabase,
  id: string,
  sql: string,
): AsyncGenerator<Segment> {
  for (let after = -1;;) {
    const row = await database.row(sql, [id, after]);
    if (!row) return;
    const [first, entries, bytes] = row;
    after = Number(first);
    yield { first: after, entries: entries as Uint8Array, bytes: bytes as Segment["bytes"] };
  }
}

/** An entry as it is stored. */
interface Cell {
  readonly json: JournalJson;
  readonly own: Uint8Array | undefined;
}

/** Throws for what was not written by us. */
function cellsOf({ entries, bytes }: Segment): Cell[] {
  let at = 0;
  return jsonOf(entries).map((json) => {
    const { size } = json;
    if (size === undefined) return { json, own: undefined };
    const own = bytes ? bytes.subarray(at, at + size) : new Uint8Array(size);
    at += size;
    return { json, own };
  });
}

/** Those that `wantedSql` chooses by their indexes, so that no others are decoded. */
async function wantedOf(
  database: JournalDatabase,
  wantedSql: string,
  cells: readonly Cell[],
): Promise<readonly Cell[]> {
  const indexes = cells.map(({ json }) => json.index);
  const row = await database.row(wantedSql, [JSON.stringify(indexes)]);
  const wanted = new Set(JSON.parse(utf8.decode(row?.[0] as Uint8Array)) as readonly number[]);
  return cells.filter(({ json }) => wanted.has(json.index));
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function jsonOf(entries: Uint8Array): JournalJson[] {
  return fromJson(utf8.decode(entries)) as JournalJson[];
}

function unreadableEntry(id: string, index: number): Bound[] {
  return [id, index, UNREADABLE, ...Array<null>(ENTRY_COLUMNS.length - 3).fill(null)];
}

function columnsOf(
  { id, index, at, entry }: JournalRow,
  { used, callees, jsonBytesMax }: {
    readonly used: ReadonlySet<string>;
    readonly callees: Callees;
    readonly jsonBytesMax: number;
  },
): Bound[] {
  const type = typeOf(entry);
  const raw = used.has("raw") || used.has("raw_length") ? rawOf(entry) : null;
  const json = (lite: boolean) => {
    if (!lite && sizeOf(entry) > jsonBytesMax) return null;
    const text = readableEntry(entry, lite, callees).json;
    return text === null ? null : toSafe(text);
  };
  const name = used.has("name") ? nameOfEntry(entry, callees) : null;
  return [
    id,
    index,
    entryTypeName(type),
    name === null ? null : toSafe(name),
    at,
    used.has("raw") ? raw : null,
    raw?.length ?? null,
    used.has("entry_json") ? json(false) : null,
    used.has("entry_lite_json") ? json(true) : null,
  ];
}

function typeOf(entry: Entry): number {
  return entry.kind === "input" ? entryType.input : entry.type;
}

/** The message body of the service protocol (docs/spec/queries.md#journal-entries). */
function rawOf(entry: Entry): Uint8Array {
  return entry.kind === "command" ? entry.bytes : encodeEntry(entry).subarray(FRAME_HEAD_BYTES);
}

function sizeOf(entry: Entry): number {
  if (entry.kind === "command") return entry.bytes.length;
  if (entry.kind === "input") return entry.value.length;
  return entry.result.kind === "value" ? entry.result.value.length : 0;
}

/** Whom one journal calls. */
class Called implements Callees {
  readonly #database: JournalDatabase;
  readonly #id: string;
  readonly #ids = new Map<number, string>();
  #isLoaded = false;
  readonly #rows = new Map<string, Pick<InvocationRow, "target" | "retention"> | undefined>();

  constructor(database: JournalDatabase, id: string) {
    this.#database = database;
    this.#id = id;
  }

  /** Finds the ids, which stand in notifications behind the calls. */
  async #load(): Promise<void> {
    this.#isLoaded = true;
    for (let after = -1;;) {
      const row = await this.#database.row(NOTES, [this.#id, after]);
      if (!row) return;
      const [first, entries] = row;
      after = Number(first);
      this.#note(entries as Uint8Array);
    }
  }

  #note(entries: Uint8Array): void {
    const notes = readable(() => jsonOf(entries)) ?? [];
    for (const json of notes) {
      const { type, id, result } = json as unknown as Extract<Entry, { kind: "notification" }>;
      if (type !== entryType.callInvocationIdCompletion) continue;
      if (id?.kind === "completion" && result?.kind === "invocationId") {
        this.#ids.set(id.id, result.id);
      }
    }
  }

  /** Reads the rows that the calls of a segment need. */
  async prefetch(segment: readonly JournalRow[]): Promise<void> {
    if (!segment.some(({ entry }) => isCall(entry))) return;
    if (!this.#isLoaded) await this.#load();
    for (const id of this.#ids.values()) {
      if (this.#rows.has(id) || this.#rows.size >= CALLEES_MAX) continue;
      const row = await this.#database.row(INVOCATION, [id]);
      const body = row?.[0] as Uint8Array | undefined;
      this.#rows.set(id, body && readable(() => decodeInvocation(utf8.decode(body), null)));
    }
  }

  idOf(completion: number): string | undefined {
    return this.#ids.get(completion);
  }

  row(id: string): Pick<InvocationRow, "target" | "retention"> | undefined {
    return this.#rows.get(id);
  }
}

/** Of a row beside the one that is shown, which only adds to it. Undefined: it cannot be decoded. */
function readable<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}

function isCall(entry: Entry): boolean {
  const type = typeOf(entry);
  return type === entryType.call || type === entryType.oneWayCall;
}
