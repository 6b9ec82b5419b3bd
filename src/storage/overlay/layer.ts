import { type Item, type Table, type Want } from "../../model/rows.ts";
import { SmallMap } from "../../small_map.ts";
import type { Encoded } from "../codec/row_codec.ts";

/** The last version of one row: its content, or a tombstone if it was deleted. */
export type Cell<T extends Table = Table> = Encoded<T> | Tombstone;

export interface Tombstone {
  readonly row: undefined;
  readonly text: "";
  readonly bytes: undefined;
  readonly large?: undefined;
}

/** The rows of a group in a table whose groups have many rows. */
export interface Group<T extends Table = Table> {
  readonly items: SmallMap<Item, Cell<T>>;
  /** Journals only: entries in older layers and in the tables are void. */
  cleared: boolean;
}

/** Tables whose groups have one row each. */
export type Single = "invocation" | "lock" | "peer" | "bucket" | "share" | "bank" | "source";
export type Many = Exclude<Table, Single>;

const TOMBSTONE: Tombstone = { row: undefined, text: "", bytes: undefined };
/** Estimated bytes of memory of a row besides its JSON and bytes. */
const CELL_BYTES = 100;

/**
 * The result of consecutive commits: for each row that they wrote, its version after the last of them.
 * A newer layer covers an older one, and both cover the tables.
 *
 * A journal is append-only and is dropped as a whole, in one commit, which may also begin a new one.
 * So a dropped entry, and a new entry 0, void all older entries.
 */
export class Layer {
  readonly singles: { readonly [T in Single]: Map<string, Cell<T>> } = {
    invocation: new Map(),
    lock: new Map(),
    peer: new Map(),
    bucket: new Map(),
    share: new Map(),
    bank: new Map(),
    source: new Map(),
  };
  readonly groups: { readonly [T in Many]: Map<string, Group<T>> } = {
    journal: new Map(),
    event: new Map(),
    inbox: new Map(),
    state: new Map(),
    promise: new Map(),
    timer: new Map(),
    outbox: new Map(),
  };
  /** Number of rows and tombstones, and their estimated bytes of memory. */
  rows = 0;
  bytes = 0;

  put(table: Table, encoded: Encoded, { group, item }: { group: string; item: Item }): void {
    this.#set(table, { group, item }, encoded);
    if (table === "journal" && item === 0) this.#clear(this.#group("journal", group));
  }

  drop(table: Table, group: string, item: Item): void {
    if (table !== "journal") return this.#set(table, { group, item }, TOMBSTONE);
    const journal = this.#group("journal", group);
    const cell = journal.items.get(item);
    if (cell) {
      this.#count(cell, -1);
      journal.items.delete(item);
    }
    this.#clear(journal);
  }

  /** The row or its tombstone. `undefined`: only older layers or the tables may have it. */
  find({ table, group, item }: Want): Cell | undefined {
    if (isSingle(table)) return this.singles[table].get(group);
    const known = this.groups[table].get(group);
    if (!known || item === undefined) return undefined;
    return known.items.get(item) ?? (isWhole(table, known) ? TOMBSTONE : undefined);
  }

  /** The ids of the large values to which its rows refer. */
  largeIds(): ReadonlySet<string> {
    const ids = new Set<string>();
    const add = ({ large }: Cell) => void (large && ids.add(large.id));
    for (const cells of Object.values(this.singles)) {
      for (const cell of cells.values()) add(cell);
    }
    for (const groups of Object.values(this.groups)) {
      for (const { items } of groups.values()) for (const cell of items.values()) add(cell);
    }
    return ids;
  }

  #set(table: Table, { group, item }: { group: string; item: Item }, cell: Cell): void {
    const items: Pick<Map<Item, Cell>, "get"> & { set(item: Item, cell: Cell): void } =
      isSingle(table) ? this.singles[table] as Map<Item, Cell> : this.#group(table, group).items;
    const key = isSingle(table) ? group : item;
    const before = items.get(key);
    if (before) this.#count(before, -1);
    this.#count(cell, 1);
    items.set(key, cell);
  }

  #clear(journal: Group): void {
    if (!journal.cleared) this.#count(TOMBSTONE, 1);
    journal.cleared = true;
  }

  #group(table: Many, name: string): Group {
    const groups: Map<string, Group> = this.groups[table];
    let group = groups.get(name);
    if (!group) groups.set(name, group = { items: new SmallMap(), cleared: false });
    return group;
  }

  #count({ text, bytes }: Cell, sign: 1 | -1): void {
    this.rows += sign;
    this.bytes += sign * (CELL_BYTES + text.length + (bytes?.length ?? 0));
  }
}

export function isSingle(table: Table): table is Single {
  return SINGLES.has(table);
}

const SINGLES: ReadonlySet<Table> = new Set<Single>(
  ["invocation", "lock", "peer", "bucket", "share", "bank", "source"],
);

/** Whether older layers and the tables have no valid row of this group. */
export function isWhole(table: Many, group: Group): boolean {
  return table === "journal" && group.cleared;
}
