import type { Item, Rows, Table, Want } from "../../model/rows.ts";
import { type Cell, type Group, isSingle, isWhole, Layer } from "./layer.ts";
import { compareItems } from "../codec/order.ts";

/** Rows and tombstones of a group, by item. */
export interface Cells extends Iterable<[Item, Cell]> {
  readonly size: number;
  has(item: Item): boolean;
  values(): Iterable<Cell>;
}

/** The rows of a want that the layers have. */
export interface OverlayResult {
  /** Whether the tables need not be read: they have no further row of the want. */
  readonly complete: boolean;
  /** Rows and tombstones, by item. */
  readonly cells: Cells;
}

/**
 * The rows of all commits that are not in the tables: `active` takes commits, and `frozen`, which is
 * older, is being folded.
 */
export class Overlay {
  active = new Layer();
  frozen: Layer | undefined;

  /** Freezes the active layer for a fold, and begins an empty one for later commits. */
  freeze(): Layer {
    this.frozen = this.active;
    this.active = new Layer();
    return this.frozen;
  }

  /**
   * The rows of a want in both layers. Later commits do not change the result unless it is complete:
   * then it is used at once.
   */
  find(want: Want): OverlayResult {
    const { table, group } = want;
    if (want.item !== undefined || isSingle(table)) {
      // A group of one row has the empty item, and no other.
      const cell = this.active.find(want) ?? this.frozen?.find(want);
      const cells = cell ? new Map([[want.item ?? "", cell]]) : NONE;
      return { complete: cell !== undefined, cells };
    }
    const above: Group | undefined = this.active.groups[table].get(group);
    if (above && isWhole(table, above)) return { complete: true, cells: above.items };
    const below: Group | undefined = this.frozen?.groups[table].get(group);
    if (!below) return { complete: false, cells: above ? new Map(above.items) : NONE };
    const cells = new Map([...below.items, ...above?.items ?? []]);
    return { complete: isWhole(table, below), cells };
  }

  /** The newest version of each row of a table in the layers: group, item, and row or tombstone. */
  *known<T extends "invocation" | "timer" | "outbox" | "bucket">(
    table: T,
  ): Generator<[string, Item, Cell<T>]> {
    for (const layer of [this.active, this.frozen]) {
      if (!layer) continue;
      for (const [group, item, cell] of cellsOf(layer, table)) {
        if (layer === this.active || !this.active.find({ table, group, item })) {
          yield [group, item, cell];
        }
      }
    }
  }
}

/** The rows of a group in order: `below` from the tables, replaced or deleted by `cells`. */
export function merge(
  below: readonly (readonly [Item, Rows[Table]])[],
  cells: Cells,
): readonly Rows[Table][] {
  if (cells.size === 0) return ordered(below);
  const rows = new Map<Item, Rows[Table]>(below);
  for (const [item, { row }] of cells) {
    if (row) rows.set(item, row);
    else rows.delete(item);
  }
  return ordered([...rows]);
}

/** As `merge`, page by page and without an order. */
export function* mergePages(
  below: Iterable<readonly (readonly [Item, Rows[Table]])[]>,
  cells: Cells,
): Generator<readonly Rows[Table][]> {
  for (const page of below) {
    yield page.filter(([item]) => !cells.has(item)).map(([, row]) => row);
  }
  yield [...cells.values()].flatMap(({ row }) => row ?? []);
}

/** Sorts only rows that are not in order: a journal has many entries and is usually read in order. */
function ordered(rows: readonly (readonly [Item, Rows[Table]])[]): readonly Rows[Table][] {
  for (let i = 1; i < rows.length; i++) {
    if (compareItems(rows[i - 1]![0], rows[i]![0]) <= 0) continue;
    rows = [...rows].sort(([a], [b]) => compareItems(a, b));
    break;
  }
  return rows.map(([, row]) => row);
}

const NONE: Cells = new Map();

function* cellsOf<T extends "invocation" | "timer" | "outbox" | "bucket">(
  layer: Layer,
  table: T,
): Generator<[string, Item, Cell<T>]> {
  if (table === "invocation" || table === "bucket") {
    const singles = table === "bucket" ? layer.singles.bucket : layer.singles.invocation;
    for (const [group, cell] of singles) yield [group, "", cell as Cell<T>];
    return;
  }
  for (const [group, { items }] of layer.groups[table === "timer" ? "timer" : "outbox"]) {
    for (const [item, cell] of items) yield [group, item, cell as Cell<T>];
  }
}
