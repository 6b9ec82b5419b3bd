import { assert } from "../../assert.ts";
import type { InvocationRow } from "../../model/invocation.ts";
import type { Entry } from "../../model/journal.ts";
import { type Message, messageBytes, withMessageBytes } from "../../model/message.ts";
import type { Rows, Table } from "../../model/rows.ts";
import { invocationJson, parsedInvocation } from "./invocation_json.ts";
import type { LargeRef } from "./large_ref.ts";
import { fromJson, inOnePiece, toJson } from "./safe_text.ts";

/**
 * A row, and its form in the log and the tables: JSON, and one column of bytes if it has one. The bytes
 * are the row's own; neither may be changed.
 */
export interface Encoded<T extends Table = Table> {
  readonly row: Rows[T];
  readonly text: string;
  readonly bytes: Uint8Array | undefined;
  /** Where the bytes are stored, if not in the row. */
  readonly large?: LargeRef | undefined;
}

type JournalRow = Rows["journal"];

/** The JSON of a journal row: its entry, with the size of its bytes instead of the bytes. */
export type JournalJson =
  & { readonly index: number; readonly at: number; readonly size?: number }
  & Readonly<Record<string, unknown>>;

/** Encodes a row. The JSON of a journal row omits its `id`, which is stored beside it. */
export function encode<T extends Table>(table: T, row: Rows[T]): Encoded {
  switch (table) {
    case "invocation":
      return encodeInvocation(row as InvocationRow);
    case "journal":
      return encodeJournal(row as JournalRow);
    case "state": {
      const { object, name, value } = row as Rows["state"];
      return { row, text: toJson({ object, name }), bytes: value };
    }
    case "promise":
      return encodePromise(row as Rows["promise"]);
    case "outbox":
      return encodeOutbox(row as Rows["outbox"]);
    default:
      return { row, text: toJson(row), bytes: undefined };
  }
}

/** The reverse of `encode`, from parsed JSON. `id`: the invocation of a journal row; else unused. */
export function decode<T extends Table>(
  table: T,
  json: unknown,
  { bytes, id }: { readonly bytes: Uint8Array | undefined; readonly id: string },
): Rows[T] {
  return decodeAny(table, json, { bytes, id }) as Rows[T];
}

/** An invocation from its columns. */
export function decodeInvocation(body: string, output: Uint8Array | null): InvocationRow {
  return parsedInvocation(fromJson(body), output ?? undefined);
}

/**
 * As `decodeInvocation`, of a row whose column `status` must be what its content says. Throws otherwise: the
 * row is damaged, and its slots were counted, or not, by that column (decision 069).
 */
export function asIndexed(
  { status }: { readonly [column: string]: unknown },
  body: string,
  output: Uint8Array | null,
): InvocationRow {
  const row = decodeInvocation(body, output);
  assert(row.status.kind === status, "The status of an invocation is that of its column");
  return row;
}

/** A message from its JSON and its bytes, which are stored beside it. */
export function decodeMessage(body: string, value: Uint8Array | null): Message {
  return withOwnBytes(fromJson(body) as Message, value ?? undefined);
}

/** A durable promise from its columns. */
export function decodePromise(body: string, value: Uint8Array | null): Rows["promise"] {
  return withValue(fromJson(body) as Rows["promise"], value ?? undefined);
}

/** A journal entry from its JSON and its bytes. Commands, which are most entries, are not copied. */
export function decodeJournal(
  id: string,
  json: JournalJson,
  bytes: Uint8Array | undefined,
): JournalRow {
  const { kind, type } = json;
  if (kind === "command" && bytes) {
    return { id, index: json.index, at: json.at, entry: { kind, type: type as number, bytes } };
  }
  const { index, at, size: _, ...rest } = json;
  return { id, index, at, entry: withBytes(rest as unknown as Entry, bytes) };
}

function decodeAny(
  table: Table,
  json: unknown,
  { bytes, id }: { readonly bytes: Uint8Array | undefined; readonly id: string },
): Rows[Table] {
  switch (table) {
    case "invocation":
      return parsedInvocation(json, bytes);
    case "journal":
      return decodeJournal(id, json as JournalJson, bytes);
    case "state":
      assert(bytes, "A state row has a value");
      return { ...json as Rows["state"], value: bytes };
    case "promise":
      return withValue(json as Rows["promise"], bytes);
    case "outbox": {
      const row = json as Rows["outbox"];
      return { ...row, message: withOwnBytes(row.message, bytes) };
    }
    default:
      return json as Rows[Table];
  }
}

function encodeInvocation(row: InvocationRow): Encoded {
  return { row, text: invocationJson(row), bytes: row.output };
}

function encodePromise(row: Rows["promise"]): Encoded {
  const { result } = row;
  if (result?.kind !== "value") return { row, text: toJson(row), bytes: undefined };
  return { row, text: toJson({ ...row, result: { kind: "value" } }), bytes: result.value };
}

const NO_BYTES = new Uint8Array(0);

function encodeOutbox(row: Rows["outbox"]): Encoded {
  const { message } = row;
  const bytes = messageBytes(message);
  if (!bytes) return { row, text: toJson(row), bytes };
  // In JSON an array of bytes would be an object with a name for each.
  const bare = { ...row, message: withMessageBytes(message, NO_BYTES) };
  return { row, text: toJson(bare), bytes };
}

function withOwnBytes(message: Message, bytes: Uint8Array | undefined): Message {
  return bytes ? withMessageBytes(message, bytes) : message;
}

function withValue(row: Rows["promise"], value: Uint8Array | undefined): Rows["promise"] {
  return value ? { ...row, result: { kind: "value", value } } : row;
}

type Notification = Extract<Entry, { kind: "notification" }>;

function encodeJournal(row: JournalRow): Encoded {
  const { index, at, entry } = row;
  if (entry.kind === "command") {
    const { type, bytes } = entry;
    const text =
      `{"index":${index},"at":${at},"kind":"command","type":${type},"size":${bytes.length}}`;
    return { row, text: inOnePiece(text), bytes };
  }
  if (entry.kind === "input") {
    const { headers, value: bytes } = entry;
    const text = `{"index":${index},"at":${at},"kind":"input","headers":${
      toJson(headers)
    },"size":${bytes.length}}`;
    return { row, text: inOnePiece(text), bytes };
  }
  const bytes = bytesOf(entry);
  const size = bytes?.length;
  return { row, text: toJson({ index, at, ...withoutBytes(entry), size }), bytes };
}

function bytesOf(entry: Notification): Uint8Array | undefined {
  return entry.result.kind === "value" ? entry.result.value : undefined;
}

function withoutBytes(entry: Notification): object {
  if (entry.result.kind !== "value") return entry;
  return { ...entry, result: { kind: "value" } };
}

function withBytes(entry: Entry, bytes: Uint8Array | undefined): Entry {
  if (!bytes) return entry;
  switch (entry.kind) {
    case "input":
      return { ...entry, value: bytes };
    case "command":
      return { ...entry, bytes };
    case "notification":
      return { ...entry, result: { kind: "value", value: bytes } };
  }
}
