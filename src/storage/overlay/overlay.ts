import type { Item, Rows, Table, Want } from "../../model/rows.ts";
import { type Cell, type Group, isSingle, isWhole, Layer } from "./layer.ts";
import { compareItems } from "../codec/order.ts";

/** What layers say about a want. */
export interface OverlayResult {
  /** Whether nothing below can add anything. */
  readonly complete: boolean;
  /** Rows known to be there or gone, by item. */
  readonly cells: ReadonlyMap<Item, Cell>;
}

/**
 * Everything handed over that is not in the tables: commits of late in `active`, and below it
 * what is being folded.
 */
export class Overlay {
  active = new Layer();
  frozen: Layer | undefined;

  /** Commits go on in a fresh layer; what was gathered so far can be folded. */
  freeze(): Layer {
    this.frozen = this.active;
    this.active = new Layer();
    return this.frozen;
  }

  /** Answers at once, and is not changed by later commits unless it is complete. */
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

  /** All rows of a table that the layers know, newest knowledge only: by group, then item. */
  *known<T extends "invocation" | "timer" | "outbox">(
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

/** The rows of a group in order: those found below, corrected by what is known above. */
export function merge(
  below: readonly (readonly [Item, Rows[Table]])[],
  cells: ReadonlyMap<Item, Cell>,
): readonly Rows[Table][] {
  if (cells.size === 0) return ordered(below);
  const rows = new Map<Item, Rows[Table]>(below);
  for (const [item, { row }] of cells) {
    if (row) rows.set(item, row);
    else rows.delete(item);
  }
  return ordered([...rows]);
}

/** As `merge`, page by page and in no order. */
export function* mergePages(
  below: Iterable<readonly (readonly [Item, Rows[Table]])[]>,
  cells: ReadonlyMap<Item, Cell>,
): Generator<readonly Rows[Table][]> {
  for (const page of below) {
    yield page.filter(([item]) => !cells.has(item)).map(([, row]) => row);
  }
  yield [...cells.values()].flatMap(({ row }) => row ?? []);
}

/** Sorted only if they are not in order: a journal has many entries, and segments are read in order. */
function ordered(rows: readonly (readonly [Item, Rows[Table]])[]): readonly Rows[Table][] {
  for (let i = 1; i < rows.length; i++) {
    if (compareItems(rows[i - 1]![0], rows[i]![0]) <= 0) continue;
    rows = [...rows].sort(([a], [b]) => compareItems(a, b));
    break;
  }
  return rows.map(([, row]) => row);
}

const NONE: ReadonlyMap<Item, Cell> = new Map();

function* cellsOf<T extends "invocation" | "timer" | "outbox">(
  layer: Layer,
  table: T,
): Generator<[string, Item, Cell<T>]> {
  if (table === "invocation") {
    for (const [group, cell] of layer.singles.invocation) yield [group, "", cell as Cell<T>];
    return;
  }
  for (const [group, { items }] of layer.groups[table === "timer" ? "timer" : "outbox"]) {
    for (const [item, cell] of items) yield [group, item, cell as Cell<T>];
  }
}
