import { hasLetters, type IngestRecord, type PlannedSubscription } from "../model/kafka.ts";
import { readLimitKey, scopeProblem } from "../model/scope.ts";
import { DIALECTS, header, OWN } from "../names.ts";
import { filterOf, type RecordView } from "./filter.ts";
import { keyReader } from "./key_encoding.ts";
import { keptHeaders } from "./letter.ts";

/** A record as a client of Kafka reads it. */
export interface KafkaRecord {
  readonly offset: number;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  /** Undefined: the record has none. */
  readonly key: Uint8Array | undefined;
  /** Undefined: a tombstone. */
  readonly value: Uint8Array | undefined;
  readonly headers: RecordView["headers"];
}

/** What becomes of a record: an invocation, nothing (the filter), or it cannot be delivered. */
export type Mapped =
  | { readonly kind: "record"; readonly record: IngestRecord }
  | { readonly kind: "skip" }
  | { readonly kind: "poison"; readonly message: string };

/** Whether record headers may set scopes and limit keys (`experimental-enable-kafka-scope`). */
export interface MappingOptions {
  readonly isScopeRead: boolean;
}

type Headers = IngestRecord["headers"];

const NO_HEADERS: Headers = [];
const SKIP: Mapped = { kind: "skip" };
const TRACEPARENT = /^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const encoded = new TextDecoder("utf-8", { fatal: true });

/**
 * The function that turns records of a subscription into records for the server, by its options,
 * which have passed `checkOptions`.
 */
export function mapperOf(
  { options, sinkType }: PlannedSubscription,
  { isScopeRead }: MappingOptions,
): (record: KafkaRecord) => Mapped {
  const isWanted = filterOf(options["filter"]);
  const readKey = sinkType === "service" ? undefined : keyReader(options["key.encoding"]);
  const prefix = options["headers.prefix"]?.toLowerCase();
  const areHeadersKept = hasLetters(options);
  return (record) => {
    const view = viewOf(record);
    if (!isWanted(view)) return SKIP;
    const key: Problem | { readonly objectKey?: string } = readKey?.(view) ?? {};
    if ("problem" in key) return { kind: "poison", message: key.problem };
    const scope = isScopeRead ? readScope(view.headers) : {};
    if ("problem" in scope) return { kind: "poison", message: scope.problem };
    return {
      kind: "record",
      record: recordOf(record, { prefix, areHeadersKept, ...key, ...scope }),
    };
  };
}

interface Problem {
  readonly problem: string;
}

interface Parts {
  readonly prefix: string | undefined;
  readonly areHeadersKept: boolean;
  readonly objectKey?: string;
  readonly scope?: string;
  readonly limitKey?: string;
}

function recordOf(
  { offset, timestamp, key, value, headers }: KafkaRecord,
  { prefix, areHeadersKept, objectKey, scope, limitKey }: Parts,
): IngestRecord {
  const passed = passedOn(headers, prefix, value === undefined);
  const isKept = areHeadersKept && headers.length > 0;
  return {
    offset,
    timestamp,
    key,
    value,
    objectKey,
    headers: isKept ? [...passed, keptHeaders(headers)] : passed,
    scope,
    limitKey,
    traceparent: traceparentOf(headers),
  };
}

/** The value of a record is parsed at most once, and only if something asks for it. */
function viewOf({ key, value, headers }: KafkaRecord): RecordView {
  let parsed: { readonly json: unknown } | undefined;
  const json = () => (parsed ??= { json: parseJson(value) }).json;
  return { key, headers, json };
}

function parseJson(value: Uint8Array | undefined): unknown {
  try {
    return value && JSON.parse(encoded.decode(value));
  } catch {
    return undefined;
  }
}

/**
 * Headers of the record under the prefix, in lower case. Bytes that are no UTF-8 text are passed as
 * base64 under a name that ends with `-bin`. Names that no header may have are left out.
 */
function passedOn(
  headers: RecordView["headers"],
  prefix: string | undefined,
  isTombstone: boolean,
): Headers {
  const tombstone: Headers = isTombstone ? [[`${OWN}.tombstone`, "true"]] : NO_HEADERS;
  if (prefix === undefined || headers.length === 0) return tombstone;
  const passed = headers.flatMap(([name, value]): [string, string][] => {
    if (!/^[!#$%&'*+.^_`|~0-9a-zA-Z-]+$/.test(name)) return [];
    const text = textOf(value);
    const full = `${prefix}${name.toLowerCase()}`;
    return [text === undefined ? [`${full}-bin`, base64(value)] : [full, text]];
  });
  return [...tombstone, ...passed];
}

function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** The text of bytes. Undefined: they are no UTF-8, or have characters that no header may have. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = encoded.decode(bytes);
    // deno-lint-ignore no-control-regex
    return /[\x00-\x08\x0a-\x1f\x7f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

function traceparentOf(headers: RecordView["headers"]): string | undefined {
  if (headers.length === 0) return undefined;
  const text = lastText(headers, ["traceparent"]);
  return text !== undefined && TRACEPARENT.test(text) ? text : undefined;
}

/** The text of the last header with one of these names, as consumers of Kafka pick them. */
function lastText(headers: RecordView["headers"], names: readonly string[]): string | undefined {
  const found = headers.findLast(([name]) => names.includes(name.toLowerCase()));
  return found && textOf(found[1]);
}

const SCOPE_NAMES = DIALECTS.map((dialect) => header(dialect, "scope"));
const LIMIT_KEY_NAMES = DIALECTS.map((dialect) => header(dialect, "limit-key"));

/** Scope and limit key of the record's headers, in the reference's words where they cannot be used. */
function readScope(
  headers: RecordView["headers"],
): Problem | { readonly scope?: string; readonly limitKey?: string } {
  const scope = lastText(headers, SCOPE_NAMES);
  const limitKey = lastText(headers, LIMIT_KEY_NAMES);
  if (scope === undefined) {
    return limitKey ? { problem: "limit-key requires a scope to be set" } : {};
  }
  const problem = scopeProblem(scope);
  if (problem) {
    return { problem: `invalid scope value in ${header(OWN, "scope")} header: ${problem}` };
  }
  const read = limitKey === undefined ? undefined : readLimitKey(limitKey);
  return read && "limitKey" in read ? { scope, limitKey: read.limitKey } : { scope };
}
