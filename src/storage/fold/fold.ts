import type { Statement } from "../../ports.ts";
import type { Item } from "../../model/rows.ts";
import { FoldSlice, type Simple } from "./slice.ts";
import type { Cell, Group, Layer } from "../overlay/layer.ts";
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

/**
 * The batches that move a layer into the tables. Each is small enough that commits do not wait long,
 * and each is idempotent. The log may be cut only after the last one.
 *
 * Ids are in an order (`inOrder`) by which a batch, and what later changes its rows, touches few pages.
 */
export function* fold(layer: Layer, options: FoldOptions): Generator<Statement[]> {
  const slices = new Slices(options);
  const { invocation } = layer.singles;
  const { journal } = layer.groups;
  for (const id of inOrder(layer)) {
    const cell = invocation.get(id);
    if (cell) {
      slices.open.invocation(id, cell);
      if (slices.isFull) yield slices.take();
    }
    const group = journal.get(id);
    if (!group) continue;
    const { first, segments } = segmentsOf(group, options);
    if (first !== undefined) {
      slices.open.cut(id, first);
      if (slices.isFull) yield slices.take();
    }
    for (const cells of segments) {
      slices.open.segment(id, cells);
      if (slices.isFull) yield slices.take();
    }
  }
  for (const { table, group, item, cell } of otherRows(layer)) {
    slices.open.row(table, { group, item }, cell);
    if (slices.isFull) yield slices.take();
  }
  if (slices.open.rows > 0) yield slices.take();
}

/** The batch that takes the next row. */
class Slices {
  readonly #options: FoldOptions;
  open: FoldSlice;

  constructor(options: FoldOptions) {
    this.#options = options;
    this.open = new FoldSlice(options.partition);
  }

  get isFull(): boolean {
    const { sliceRowsMax, sliceBytesMax, isPressed } = this.#options;
    const { rows, bytes } = this.open;
    if (bytes >= sliceBytesMax) return true;
    return rows >= sliceRowsMax && (rows >= PRESSED * sliceRowsMax || !isPressed?.());
  }

  /** The statements of the batch; the next one begins. */
  take(): Statement[] {
    const statements = this.open.statements();
    this.open = new FoldSlice(this.#options.partition);
    return statements;
  }
}

/**
 * The ids of invocations and journals in the order in which their rows are written. New rows take places
 * one after the other, so those that wait for timers are in the order in which they will change (decision
 * 098).
 */
function inOrder(layer: Layer): string[] {
  const ids = idsOf(layer).sort();
  const dues = duesOf(layer);
  if (dues.size === 0) return ids;
  const dueOf = (id: string) => dues.get(id) ?? 0;
  // A stable sort: those that are due together, or have no timer, stay in the order of their ids.
  return ids.sort((a, b) => dueOf(a) - dueOf(b));
}

/** When the first timer of each invocation is due that has one, in milliseconds since the epoch. */
function duesOf({ groups: { timer } }: Layer): Map<string, number> {
  const dues = new Map<string, number>();
  for (const [id, { items }] of timer) {
    for (const { row } of items.values()) {
      if (row) dues.set(id, Math.min(row.due, dues.get(id) ?? Infinity));
    }
  }
  return dues;
}

/** The ids of invocations and journals, each once. */
function idsOf({ singles: { invocation }, groups: { journal } }: Layer): string[] {
  const ids = [...invocation.keys()];
  for (const id of journal.keys()) if (!invocation.has(id)) ids.push(id);
  return ids;
}

/** All rows but those of invocations and journals, by table. */
function* otherRows(layer: Layer): Generator<
  { readonly table: Simple; readonly group: string; readonly item: Item; readonly cell: Cell }
> {
  for (const table of ["lock", "peer", "bucket", "share", "bank", "source"] as const) {
    for (const [group, cell] of layer.singles[table]) yield { table, group, item: "", cell };
  }
  for (const table of ["event", "inbox", "state", "promise", "timer", "outbox"] as const) {
    for (const [group, { items }] of layer.groups[table]) {
      for (const [item, cell] of items) yield { table, group, item, cell };
    }
  }
}

/** What a fold writes of a journal. */
interface JournalPart {
  /** Segments that begin at this entry or later are deleted before. Undefined: none are. */
  readonly first: number | undefined;
  /** Consecutive entries, at least one each. */
  readonly segments: readonly (readonly Encoded<"journal">[])[];
}

function segmentsOf(
  { items, cleared }: Group<"journal">,
  { rowBytesMax, recovered }: FoldOptions,
): JournalPart {
  // Entries are dropped with their journal only, so none of these is a tombstone.
  const cells = items.values() as Encoded<"journal">[];
  // Mostly they are in order, and sorting takes memory.
  if (!isInOrder(cells)) cells.sort((a, b) => a.row.index - b.row.index);
  const first = cleared ? 0 : recovered ? cells[0]?.row.index : undefined;
  const bytesMax = Math.min(rowBytesMax, SEGMENT_BYTES_MAX);
  const segments: Encoded<"journal">[][] = [];
  let from = 0;
  let size = 0;
  for (let i = 0; i < cells.length; i++) {
    const { text, bytes, large } = cells[i]!;
    const more = text.length + (bytes?.length ?? 0);
    // A segment has one reference at most, so an entry with a large value is a segment of its own.
    const isAlone = large !== undefined || cells[i - 1]?.large !== undefined;
    if (i > from && (isAlone || size + more > bytesMax)) {
      segments.push(cells.slice(from, i));
      from = i;
      size = 0;
    }
    size += more;
  }
  if (cells.length > from) segments.push(from === 0 ? cells : cells.slice(from));
  return { first, segments };
}

function isInOrder(cells: readonly Encoded<"journal">[]): boolean {
  for (let i = 1; i < cells.length; i++) {
    if (cells[i]!.row.index < cells[i - 1]!.row.index) return false;
  }
  return true;
}
