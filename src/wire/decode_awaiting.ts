import { Failure } from "../errors.ts";
import type { Awaiting } from "../model/invocation.ts";
import { FieldReader, fieldSet, lengthTag, numberTag, Undecodable } from "./field_reader.ts";

/** Nesting of awaited futures (service protocol §3.2). */
const DEPTH_MAX = 1000;

const COMPLETIONS = 1;
const SIGNALS = 2;
const NAMES = lengthTag(3);
const NESTED = lengthTag(4);
const COMBINATOR = numberTag(5);
const FLAT_FIELDS = fieldSet(1, 2, 3);
const FUTURE_FIELDS = fieldSet(1, 2, 3, 4, 5);

const SUSPENSION_TREE = lengthTag(4);
const SUSPENSION_TREE_FIELDS = fieldSet(4);

const AWAITING_TREE = lengthTag(1);
const SIDE_EFFECTS = numberTag(2);
const AWAITING_FIELDS = fieldSet(1, 2);

/** The leaves of all futures met so far. */
interface Leaves {
  readonly completions: number[];
  readonly signals: number[];
  readonly names: string[];
}

/**
 * What a `Suspension` waits for (service protocol §3.6). The tree of version 7 is flattened to the
 * union of its leaves, which is what SDKs send before it (§3.6): a wake-up may come too early, and
 * then the SDK suspends again, but never too late. Throws `Failure` RT0025 for a tree nested
 * deeper than 1000.
 */
export function decodeSuspension(bytes: Uint8Array, version: number): Awaiting {
  const leaves: Leaves = { completions: [], signals: [], names: [] };
  const reader = new FieldReader(bytes);
  if (version < 7) readLeaves(reader, leaves);
  else {
    for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
      if (tag === SUSPENSION_TREE) readNested(reader, leaves, 1);
      else reader.skip(tag, SUSPENSION_TREE_FIELDS);
    }
  }
  return filled(leaves);
}

/** Checks an `AwaitingOn` of version 7, which is for information only (service protocol §3.6). */
export function decodeAwaitingOn(bytes: Uint8Array): void {
  const leaves: Leaves = { completions: [], signals: [], names: [] };
  const reader = new FieldReader(bytes);
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === AWAITING_TREE) readNested(reader, leaves, 1);
    else if (tag === SIDE_EFFECTS) reader.uint32();
    else reader.skip(tag, AWAITING_FIELDS);
  }
  filled(leaves);
}

function readLeaves(reader: FieldReader, leaves: Leaves): void {
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (!readLeaf(reader, leaves, tag)) reader.skip(tag, FLAT_FIELDS);
  }
}

function readNested(reader: FieldReader, leaves: Leaves, depth: number): void {
  if (depth > DEPTH_MAX) {
    throw new Failure(
      "RT0025",
      `Cannot await futures nested deeper than ${DEPTH_MAX}: flatten the combinators`,
    );
  }
  const outer = reader.enter();
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === NESTED) readNested(reader, leaves, depth + 1);
    else if (tag === COMBINATOR) reader.uint32();
    else if (!readLeaf(reader, leaves, tag)) reader.skip(tag, FUTURE_FIELDS);
  }
  reader.leave(outer);
}

/** Reads fields 1 to 3, which a flat suspension and a future share. False: another field. */
function readLeaf(reader: FieldReader, leaves: Leaves, tag: number): boolean {
  switch (tag) {
    case lengthTag(COMPLETIONS):
    case numberTag(COMPLETIONS):
      readNumbers(reader, leaves.completions, tag);
      return true;
    case lengthTag(SIGNALS):
    case numberTag(SIGNALS):
      readNumbers(reader, leaves.signals, tag);
      return true;
    case NAMES:
      leaves.names.push(reader.string());
      return true;
    default:
      return false;
  }
}

/** Repeated numbers come packed, or (readers must allow it) one by one. */
function readNumbers(reader: FieldReader, numbers: number[], tag: number): void {
  if (tag === numberTag(tag >>> 3)) {
    numbers.push(reader.uint32());
    return;
  }
  const outer = reader.enter();
  while (!reader.atEnd) numbers.push(reader.uint32());
  reader.leave(outer);
}

function filled(leaves: Leaves): Awaiting {
  const { completions, signals, names } = leaves;
  if (completions.length + signals.length + names.length === 0) {
    throw new Undecodable("it awaits nothing");
  }
  return leaves;
}
