import type { Rows } from "../model/rows.ts";
import type { Statement } from "../ports.ts";
import { FoldSlice } from "./fold_slice.ts";
import type { Cell, Group, Layer } from "./layer.ts";
import { compareItems } from "./order.ts";

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

type JournalCell = Cell<"journal"> & { readonly row: Rows["journal"] };

/**
 * The batches that bring a layer into the tables. Each is small enough not to hold up commits for
 * long, and all may be repeated. Only after the last may the log be cut.
 *
 * Ids are sorted, so that a batch touches few pages of the index.
 */
export function* fold(layer: Layer, options: FoldOptions): Generator<Statement[]> {
  let slice = new FoldSlice(options.partition);
  for (const fill of steps(layer, options)) {
    fill(slice);
    if (slice.rows < options.sliceRowsMax && slice.bytes < options.sliceBytesMax) continue;
    yield slice.statements();
    slice = new FoldSlice(options.partition);
  }
  if (slice.rows > 0) yield slice.statements();
}

type Step = (slice: FoldSlice) => void;

function* steps(layer: Layer, options: FoldOptions): Generator<Step> {
  for (const [id, cell] of sorted(layer.singles.invocation)) {
    yield (slice) => slice.invocation(id, cell);
  }
  for (const [id, journal] of sorted(layer.groups.journal)) {
    yield* journalSteps(id, journal, options);
  }
  for (const [group, cell] of layer.singles.lock) {
    yield (slice) => slice.row("lock", { group, item: "" }, cell);
  }
  for (const table of ["inbox", "state", "timer"] as const) {
    for (const [group, { items }] of layer.groups[table]) {
      for (const [item, cell] of items) yield (slice) => slice.row(table, { group, item }, cell);
    }
  }
}

function* journalSteps(
  id: string,
  { items, cleared }: Group<"journal">,
  { rowBytesMax, recovered }: FoldOptions,
): Generator<Step> {
  const cells = [...items.values()]
    .filter((cell): cell is JournalCell => cell.row !== undefined)
    .sort((a, b) => compareItems(a.row.index, b.row.index));
  const first = cleared ? 0 : recovered ? cells[0]?.row.index : undefined;
  if (first !== undefined) yield (slice) => slice.cut(id, first);
  let segment: JournalCell[] = [];
  let size = 0;
  for (const cell of cells) {
    const { text, bytes } = cell.encoded;
    const more = text.length + (bytes?.length ?? 0);
    if (segment.length > 0 && size + more > rowBytesMax) {
      const full = segment;
      yield (slice) => slice.segment(id, full);
      segment = [];
      size = 0;
    }
    segment.push(cell);
    size += more;
  }
  if (segment.length > 0) yield (slice) => slice.segment(id, segment);
}

function sorted<T>(rows: ReadonlyMap<string, T>): [string, T][] {
  return [...rows].sort(([a], [b]) => a < b ? -1 : 1);
}
