import type { Statement } from "../../ports.ts";
import { FoldSlice } from "./slice.ts";
import type { Group, Layer } from "../overlay/layer.ts";
import type { Encoded } from "../codec/row_codec.ts";

export interface FoldLimits {
  /** A batch ends with the row that reaches one of these. */
  readonly sliceRowsMax: number;
  readonly sliceBytesMax: number;
  /** Longer journals become several segments; a segment has one entry at least. */
  readonly rowBytesMax: number;
}

interface FoldOptions extends FoldLimits {
  readonly partition: number;
  /**
   * Whether an interrupted fold may have written some of these rows already. Then the tables may have
   * segments with other bounds.
   */
  readonly recovered: boolean;
  /** Whether rows come faster than they are folded. Absent: they do not. */
  readonly isPressed?: () => boolean;
}

/** Batches are so much longer then: each writes pages of the indices anew, and commits wait in any case. */
export const PRESSED = 4;

/**
 * Bytes of a segment, unless a single entry is larger. So a batch with a long journal takes as long as
 * one with other rows: commits wait for it.
 */
const SEGMENT_BYTES_MAX = 64 * 1024;

/** The slice that takes the next row. */
interface Target {
  slice: FoldSlice;
}

/**
 * The batches that move a layer into the tables. Each is small enough that commits do not wait long,
 * and each is idempotent. The log may be cut only after the last one.
 *
 * Ids are sorted, so that a batch touches few pages of the index.
 */
export function* fold(layer: Layer, options: FoldOptions): Generator<Statement[]> {
  const { partition, sliceRowsMax, sliceBytesMax, isPressed } = options;
  const target: Target = { slice: new FoldSlice(partition) };
  for (const _ of fill(layer, target, options)) {
    const { rows, bytes } = target.slice;
    const isShort = rows < sliceRowsMax || rows < PRESSED * sliceRowsMax && isPressed?.();
    if (isShort && bytes < sliceBytesMax) continue;
    yield target.slice.statements();
    target.slice = new FoldSlice(partition);
  }
  if (target.slice.rows > 0) yield target.slice.statements();
}

/** Adds the rows one by one, and yields after each, so that the caller can begin a new slice. */
function* fill(layer: Layer, target: Target, options: FoldOptions): Generator<void> {
  const { invocation } = layer.singles;
  const { journal } = layer.groups;
  const rowBytesMax = Math.min(options.rowBytesMax, SEGMENT_BYTES_MAX);
  const journalOptions = { ...options, rowBytesMax, target };
  for (const id of [...new Set([...invocation.keys(), ...journal.keys()])].sort()) {
    const cell = invocation.get(id);
    if (cell) yield target.slice.invocation(id, cell);
    const group = journal.get(id);
    if (group) yield* fillJournal(id, group, journalOptions);
  }
  for (const table of ["lock", "peer", "bucket", "share", "bank", "source"] as const) {
    for (const [group, cell] of layer.singles[table]) {
      yield target.slice.row(table, { group, item: "" }, cell);
    }
  }
  for (const table of ["event", "inbox", "state", "promise", "timer", "outbox"] as const) {
    for (const [group, { items }] of layer.groups[table]) {
      for (const [item, cell] of items) yield target.slice.row(table, { group, item }, cell);
    }
  }
}

function* fillJournal(
  id: string,
  { items, cleared }: Group<"journal">,
  { target, rowBytesMax, recovered }: FoldOptions & { readonly target: Target },
): Generator<void> {
  // Entries are dropped with their journal only, so none of these is a tombstone.
  const cells = [...items.values()] as Encoded<"journal">[];
  if (cells.length > 1) cells.sort((a, b) => a.row.index - b.row.index);
  const first = cleared ? 0 : recovered ? cells[0]?.row.index : undefined;
  if (first !== undefined) yield target.slice.cut(id, first);
  let from = 0;
  let size = 0;
  for (const [i, { text, bytes, large }] of cells.entries()) {
    const more = text.length + (bytes?.length ?? 0);
    // A segment has one reference at most, so an entry with a large value is a segment of its own.
    const isAlone = large !== undefined || cells[i - 1]?.large !== undefined;
    if (i > from && (isAlone || size + more > rowBytesMax)) {
      yield target.slice.segment(id, cells.slice(from, i));
      from = i;
      size = 0;
    }
    size += more;
  }
  if (cells.length > from) yield target.slice.segment(id, cells.slice(from));
}
