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
   * Whether these rows may partly be in the tables already, from a fold that was cut short. Then
   * segments may stand there that were cut differently.
   */
  readonly recovered: boolean;
}

/**
 * A segment of more than one entry is not larger, so that a batch with a long journal takes no longer
 * than one with other rows: commits wait for it.
 */
const SEGMENT_BYTES_MAX = 64 * 1024;

/** Where rows go at the moment. */
interface Target {
  slice: FoldSlice;
}

/**
 * The batches that bring a layer into the tables. Each is small enough not to hold up commits for
 * long, and all may be repeated. Only after the last may the log be cut.
 *
 * Ids are sorted, so that a batch touches few pages of the index.
 */
export function* fold(layer: Layer, options: FoldOptions): Generator<Statement[]> {
  const { partition, sliceRowsMax, sliceBytesMax } = options;
  const target: Target = { slice: new FoldSlice(partition) };
  for (const _ of fill(layer, target, options)) {
    if (target.slice.rows < sliceRowsMax && target.slice.bytes < sliceBytesMax) continue;
    yield target.slice.statements();
    target.slice = new FoldSlice(partition);
  }
  if (target.slice.rows > 0) yield target.slice.statements();
}

/** Adds row after row, and pauses after each. */
function* fill(layer: Layer, target: Target, options: FoldOptions): Generator<void> {
  const { invocation, lock, peer } = layer.singles;
  const { journal } = layer.groups;
  const rowBytesMax = Math.min(options.rowBytesMax, SEGMENT_BYTES_MAX);
  const journalOptions = { ...options, rowBytesMax, target };
  for (const id of [...new Set([...invocation.keys(), ...journal.keys()])].sort()) {
    const cell = invocation.get(id);
    if (cell) yield target.slice.invocation(id, cell);
    const group = journal.get(id);
    if (group) yield* fillJournal(id, group, journalOptions);
  }
  for (const [group, cell] of lock) yield target.slice.row("lock", { group, item: "" }, cell);
  for (const [group, cell] of peer) yield target.slice.row("peer", { group, item: "" }, cell);
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
  // Entries are dropped with their journal, so none of these is gone.
  const cells = [...items.values()] as Encoded<"journal">[];
  if (cells.length > 1) cells.sort((a, b) => a.row.index - b.row.index);
  const first = cleared ? 0 : recovered ? cells[0]?.row.index : undefined;
  if (first !== undefined) yield target.slice.cut(id, first);
  let from = 0;
  let size = 0;
  for (const [i, { text, bytes, large }] of cells.entries()) {
    const more = text.length + (bytes?.length ?? 0);
    // The bytes of a segment are in one place.
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
