import { fromBase62, toBase62 } from "./base62.ts";
import { digestOfList } from "./digest.ts";
import { withUtf8 } from "../utf8.ts";
import { xxh3 } from "./xxh3.ts";

/**
 * Invocation ids: 8 bytes of partition key, 16 unique bytes; printed as `inv_1`, 11 and 22 base62
 * digits of the bytes read as little-endian integers
 * (docs/spec/service-protocol.md#invocation-ids).
 *
 * The last six unique bytes of ids we draw are the time, most significant byte last. So new ids
 * of one partition key begin alike, and inserting them touches the same few pages. They do not
 * sort by age: base62 and text order letters differently (decision 014).
 */
export const INVOCATION_ID_BYTES = 24;
const KEY_BYTES = 8;
const KEY_DIGITS = 11;
const UNIQUE_DIGITS = 22;
const VERSION = "1";

/**
 * Says why a text is no id, in the words that clients expect
 * (docs/spec/service-protocol.md#invocation-ids).
 */
export class BadId extends RangeError {
  override name = "BadId";
}

export function printInvocationId(bytes: Uint8Array): string {
  return `inv_${VERSION}${toBase62(bytes, 0, KEY_BYTES, KEY_DIGITS)}${
    toBase62(bytes, KEY_BYTES, INVOCATION_ID_BYTES, UNIQUE_DIGITS)
  }`;
}

/** The 24 bytes behind an invocation id. Throws `BadId`. */
export function parseInvocationId(id: string): Uint8Array {
  const digits = body(id, "inv", KEY_DIGITS + UNIQUE_DIGITS);
  const bytes = new Uint8Array(INVOCATION_ID_BYTES);
  const valid = fromBase62(digits.slice(0, KEY_DIGITS), bytes, 0, KEY_BYTES) &&
    fromBase62(digits.slice(KEY_DIGITS), bytes, KEY_BYTES, INVOCATION_ID_BYTES);
  if (!valid) throw new BadId("base62 decode error");
  return bytes;
}

/**
 * A deployment id from 16 bytes: `dp_1` and 22 base62 digits
 * (docs/spec/service-protocol.md#invocation-ids).
 */
export function printDeploymentId(bytes: Uint8Array): string {
  return `dp_${VERSION}${toBase62(bytes, 0, 16, UNIQUE_DIGITS)}`;
}

/** Throws `BadId` unless this is a well-formed deployment id. */
export function checkDeploymentId(id: string): string {
  const digits = body(id, "dp", UNIQUE_DIGITS);
  if (!fromBase62(digits, new Uint8Array(16), 0, 16)) throw new BadId("base62 decode error");
  return id;
}

/** A subscription id from 16 bytes, made like that of a deployment: `sub_1` and 22 base62 digits. */
export function printSubscriptionId(bytes: Uint8Array): string {
  return `sub_${VERSION}${toBase62(bytes, 0, 16, UNIQUE_DIGITS)}`;
}

/** Throws `BadId` unless this is a well-formed subscription id. */
export function checkSubscriptionId(id: string): string {
  const digits = body(id, "sub", UNIQUE_DIGITS);
  if (!fromBase62(digits, new Uint8Array(16), 0, 16)) throw new BadId("base62 decode error");
  return id;
}

/**
 * Throws `BadId` unless this may be the id of a virtual queue, ours (`printQueueId`) or the reference's:
 * `vq_1` and as many digits as an invocation id.
 */
export function checkQueueId(id: string): string {
  const digits = body(id, "vq", KEY_DIGITS + UNIQUE_DIGITS);
  const bytes = new Uint8Array(INVOCATION_ID_BYTES);
  const isOne = fromBase62(digits.slice(0, KEY_DIGITS), bytes, 0, KEY_BYTES) &&
    fromBase62(digits.slice(KEY_DIGITS), bytes, KEY_BYTES, INVOCATION_ID_BYTES);
  if (!isOne) throw new BadId("base62 decode error");
  return id;
}

function body(id: string, prefix: string, digits: number): string {
  const text = afterVersion(id, [prefix]);
  if (text.length !== digits) throw new BadId("bad length");
  return text;
}

/** The prefixes of ids by kind, including kinds that this server does not have. */
const PREFIXES: ReadonlySet<string> = new Set("inv dp sub sign prom vq snap mut".split(" "));
/** Characters of an unknown prefix that the refusal quotes. */
const SHOWN_MAX = 100;

/**
 * The part of an id after prefix and version, if it is of one of these kinds. Throws `BadId`
 * (docs/spec/service-protocol.md#invocation-ids) in the words, and after the checks, of the
 * reference.
 */
export function afterVersion(id: string, prefixes: readonly string[]): string {
  if (id === "") throw new BadId("bad length");
  const at = id.indexOf("_");
  if (at < 0) throw new BadId("bad format");
  const prefix = id.slice(0, at);
  if (!PREFIXES.has(prefix)) {
    throw new BadId(`unrecognized resource type: ${prefix.slice(0, SHOWN_MAX)}`);
  }
  if (at === id.length - 1) throw new BadId("bad length");
  if (id[at + 1] !== VERSION) throw new BadId("unrecognized codec version");
  if (!prefixes.includes(prefix)) throw new BadId("id doesn't match the expected type");
  return id.slice(at + 2);
}

/**
 * The inputs of the partition key and the id of an invocation
 * (docs/spec/service-protocol.md#partition-keys).
 */
export interface InvocationIdentity {
  readonly service: string;
  readonly handler: string;
  readonly key?: string;
  readonly isWorkflowRun: boolean;
  readonly idempotencyKey?: string;
  /** Well-formed. */
  readonly scope?: string | undefined;
}

/**
 * The id of a new invocation. Workflow runs and idempotent requests get the same id each time;
 * `fresh`: no other invocation can have this id. `entropy`: 16 random bytes. `now`: milliseconds since
 * the epoch. `place`: where an invocation without a key is (`placeAt`); any integer. Default: by chance.
 */
export function newInvocationId(
  identity: InvocationIdentity,
  entropy: Uint8Array,
  now: number,
  place = entropy[15]!,
): { id: string; fresh: boolean } {
  const bytes = new Uint8Array(INVOCATION_ID_BYTES);
  const { idempotencyKey, isWorkflowRun } = identity;
  setPartitionKey(bytes, identity, place);
  const fresh = !isWorkflowRun && idempotencyKey === undefined;
  if (fresh) drawUnique(bytes, entropy, now);
  else bytes.set(digestOfList(parts(identity)).subarray(0, 16), KEY_BYTES);
  return { id: printInvocationId(bytes), fresh };
}

/**
 * The id of an invocation with a unique part that is given, of 16 bytes, for callers that make the same
 * id each time. `place`: decides the partition key where the identity does not; any integer.
 */
export function invocationIdWith(
  unique: Uint8Array,
  identity: Pick<InvocationIdentity, "key" | "scope">,
  place: number,
): string {
  const bytes = new Uint8Array(INVOCATION_ID_BYTES);
  setPartitionKey(bytes, identity, place);
  bytes.set(unique, KEY_BYTES);
  return printInvocationId(bytes);
}

function setPartitionKey(
  bytes: Uint8Array,
  { scope, key, idempotencyKey }: Pick<InvocationIdentity, "scope" | "key" | "idempotencyKey">,
  place: number,
): void {
  // All invocations of a scope share it (docs/spec/service-protocol.md#partition-keys).
  if (scope !== undefined) bytes.set(partitionKeyOf(scope));
  else if (key !== undefined) bytes.set(partitionKeyOf(key));
  else if (idempotencyKey !== undefined) bytes.set(partitionKeyOf(idempotencyKey));
  else spread(bytes, place);
}

/** Follows the text that is hashed, and is in no text. */
const END = 0xff;

/**
 * The 8 bytes that every id of an object or a workflow begins with. They are computed from its key alone
 * in the way of other servers, so that ids are the same everywhere
 * (docs/spec/service-protocol.md#partition-keys; the hash seen of the reference). For an idempotent
 * request to a service they are computed from the idempotency key.
 */
export function partitionKeyOf(key: string): Uint8Array {
  const bytes = new Uint8Array(KEY_BYTES);
  new DataView(bytes.buffer).setBigUint64(0, xxh3(withUtf8(key, withEnd)));
  return bytes;
}

function withEnd(text: Uint8Array): Uint8Array {
  const ended = new Uint8Array(text.length + 1);
  ended.set(text);
  ended[text.length] = END;
  return ended;
}

/**
 * A fresh id in the partition of another one, for an invocation that repeats it
 * (docs/spec/service-protocol.md#restart). `entropy`: at least 10 random bytes. `now`: milliseconds
 * since the epoch. Throws `BadId`.
 */
export function siblingInvocationId(id: string, entropy: Uint8Array, now: number): string {
  const bytes = parseInvocationId(id);
  drawUnique(bytes, entropy, now);
  return printInvocationId(bytes);
}

/**
 * The id of an invocation that a caller names: always the same one, in the same partition
 * (docs/spec/service-protocol.md#ids-of-named-invocations). The hashed
 * text alone is ambiguous when an object key has commas; the partition key distinguishes it.
 */
function parts(identity: InvocationIdentity): string[] {
  const { service, handler, key, idempotencyKey, isWorkflowRun, scope } = identity;
  const scoped = scope === undefined ? [] : [scope];
  if (isWorkflowRun) return ["wf", ...scoped, service, key ?? ""];
  return [
    "ik",
    ...scoped,
    service,
    ...(key === undefined ? [] : [key]),
    handler,
    idempotencyKey ?? "",
  ];
}

/** Unkeyed invocations use so many partition keys, evenly spread, which take turns (`placeAt`). */
export const PLACES = 64;

/** The partition key of a place: of the `PLACES` the one with the number `place`, or its remainder. */
export function placeKey(place: number): Uint8Array {
  const key = new Uint8Array(KEY_BYTES);
  spread(key, place);
  return key;
}

function spread(bytes: Uint8Array, place: number): void {
  bytes[KEY_BYTES - 1] = (place & (PLACES - 1)) << 2;
  bytes[KEY_BYTES - 2] = 0x5a;
}

function drawUnique(bytes: Uint8Array, entropy: Uint8Array, now: number): void {
  bytes.set(entropy.subarray(0, 10), KEY_BYTES);
  let rest = now;
  for (let i = INVOCATION_ID_BYTES - 6; i < INVOCATION_ID_BYTES; i++) {
    bytes[i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
}
