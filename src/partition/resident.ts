import { assert } from "../assert.ts";
import type { RowView, Turn } from "../engine/turn.ts";
import type { InvocationRow } from "../model/invocation.ts";
import { itemOf, TABLES } from "../model/rows.ts";
import type { Item, Rows, Table, Want, Write } from "../model/rows.ts";
import type { Unreadable } from "../model/unreadable.ts";
import type { Loaded } from "../ports.ts";
import { SmallMap } from "../small_map.ts";
import { GROUP_BYTES, sizeOf } from "./row_size.ts";

type GroupRows = SmallMap<Item, Rows[Table] | null>;

/** The rows of every empty group: most groups are empty for a while. */
const NO_ROWS: Omit<GroupRows, "set" | "delete" | "clear"> = new SmallMap();

/** Rows that are loaded and evicted together. `null`: known not to exist. */
class Group {
  #rows: GroupRows | undefined;
  /** Whether all rows of the group are in memory. */
  isWhole = false;
  /** Number of the last commit that wrote to it. It is not evicted before that is durable. */
  commit = 0;
  /** Used since the clock hand last passed. */
  isUsed = true;
  /** Is being loaded page by page, or was and is not used yet: it is not evicted. */
  isPinned = false;
  bytes = GROUP_BYTES;

  get rows(): Omit<GroupRows, "set" | "delete" | "clear"> {
    return this.#rows ?? NO_ROWS;
  }

  set(item: Item, row: Rows[Table] | null): void {
    this.#rows ??= new SmallMap();
    this.#rows.set(item, row);
  }

  delete(item: Item): void {
    this.#rows?.delete(item);
  }

  clear(): void {
    this.#rows = undefined;
  }
}

/** Most groups remembered as unreadable. Another load finds a forgotten one again. */
const UNREADABLE_MAX = 10_000;

/** `before`: the row before a turn; null: none; undefined: not in memory. `isGone`: it was deleted. */
export type OnChange = (
  before: InvocationRow | null | undefined,
  row: InvocationRow,
  isGone: boolean,
) => void;

/**
 * The cache of rows of a partition, bounded in bytes. When it is full, it evicts groups that were not
 * used lately (clock algorithm), but never a row whose commit is not durable, because the store could
 * not load it again.
 */
export class Resident implements RowView {
  readonly #bytesMax: number;
  readonly #tables: { readonly [T in Table]: Map<string, Group> } = {
    invocation: new Map(),
    journal: new Map(),
    event: new Map(),
    lock: new Map(),
    inbox: new Map(),
    state: new Map(),
    promise: new Map(),
    timer: new Map(),
    outbox: new Map(),
    peer: new Map(),
    bucket: new Map(),
    share: new Map(),
    bank: new Map(),
    source: new Map(),
  };
  #bytes = 0;
  #durable = 0;
  /** The load in flight sees commits up to this number. */
  #visible = Infinity;
  #sweep: { table: number; groups: Iterator<[string, Group]> } | undefined;

  readonly #unreadable = new Map<string, Unreadable>();
  readonly #onChange: OnChange | undefined;

  /** `invocationChanged` is called for every invocation that a turn wrote. */
  constructor(bytesMax: number, invocationChanged?: OnChange) {
    this.#bytesMax = bytesMax;
    this.#onChange = invocationChanged;
  }

  /** An estimate. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Throws `Unreadable` for a row of a group that was blocked, as `list` does. */
  find<T extends Table>(table: T, name: string, item: Item): Rows[T] | null | undefined {
    if (this.#unreadable.size > 0) this.#refuseUnreadable(table, name);
    const group = this.#tables[table].get(name);
    if (!group) return undefined;
    group.isUsed = true;
    const row = group.rows.get(item);
    if (row !== undefined) return row as Rows[T] | null;
    return group.isWhole ? null : undefined;
  }

  *#present(group: Group): Generator<Rows[Table]> {
    for (const row of group.rows.values()) if (row) yield row;
  }

  list<T extends Table>(table: T, name: string): Iterable<Rows[T]> | undefined {
    if (this.#unreadable.size > 0) this.#refuseUnreadable(table, name);
    const group = this.#tables[table].get(name);
    if (!group?.isWhole) return undefined;
    group.isUsed = true;
    return this.#present(group) as Iterable<Rows[T]>;
  }

  /** Remembers that a row of this group cannot be decoded: `find` and `list` then throw the cause. */
  block(cause: Unreadable): void {
    const [oldest] = this.#unreadable.keys();
    if (oldest !== undefined && this.#unreadable.size >= UNREADABLE_MAX) {
      this.#unreadable.delete(oldest);
    }
    this.#unreadable.set(`${cause.table} ${cause.group}`, cause);
  }

  #refuseUnreadable(table: Table, name: string): void {
    const cause = this.#unreadable.get(`${table} ${name}`);
    if (cause) throw cause;
  }

  /**
   * A load begins that sees commits up to `visible`. Until `add`, rows of later commits are not
   * evicted: the load would bring back their old values. `Infinity`: no load is in flight.
   */
  expect(visible: number): void {
    this.#visible = visible;
  }

  /**
   * Adds loaded rows. A row that is already in memory is newer or the same, and stays. Returns groups
   * that are to be added page by page (`arrive`). Turns may go on meanwhile: these groups are pinned,
   * so that rows written to them stay and take precedence over the pages.
   */
  add(loaded: readonly Loaded[]): Loaded[] {
    this.#visible = Infinity;
    const arriving = loaded.filter(({ want, pages }) => pages && this.#pin(want));
    for (const { want: { table, group: name, item }, rows } of loaded) {
      const group = this.#group(table, name);
      // A whole group is complete; rows that were deleted since would come back.
      if (group.isWhole || group.isPinned) continue;
      this.#fill(group, table, rows);
      if (item === undefined) group.isWhole = true;
      else if (!group.rows.has(item)) group.set(item, null);
    }
    return arriving;
  }

  /** Adds a page of a group. Absent: there are no more. */
  arrive({ table, group: name }: Want, page?: readonly Rows[Table][]): void {
    const group = this.#group(table, name);
    if (group.isWhole) return;
    if (page) this.#fill(group, table, page);
    else group.isWhole = true;
  }

  /** Whether a group is being loaded page by page. */
  isArriving(table: Table, name: string): boolean {
    const group = this.#tables[table].get(name);
    return group !== undefined && group.isPinned && !group.isWhole;
  }

  /** Allows eviction of a group that was loaded page by page, or whose load failed. */
  unpin({ table, group: name }: Want): void {
    this.#group(table, name).isPinned = false;
  }

  /** Pins a group. Returns false if it is pinned already, or whole. */
  #pin({ table, group: name }: Want): boolean {
    const group = this.#group(table, name);
    if (group.isWhole || group.isPinned) return false;
    return group.isPinned = true;
  }

  #fill(group: Group, table: Table, rows: readonly Rows[Table][]): void {
    for (const row of rows) {
      const at = itemOf(table, row);
      if (!group.rows.has(at)) this.#set(group, at, row);
    }
  }

  /** Applies a turn that is on its way to the store as commit number `commit`. */
  apply(turn: Turn, commit: number): void {
    for (const { table, group: name, items, isWhole } of turn.groups) {
      const group = this.#group(table, name);
      group.commit = commit;
      group.isUsed = true;
      if (isWhole) group.isWhole = true;
      if (table === "invocation" && this.#onChange) {
        this.#tell(group, items.get(""), this.#onChange);
      }
      for (const [item, { row, drop }] of items) {
        if (!drop) this.#set(group, item, row);
        else if (group.isWhole) this.#delete(group, item);
        else this.#set(group, item, null);
      }
    }
  }

  /** A turn has read or created every row that it writes, so the row before is known. */
  #tell(group: Group, write: Write | undefined, invocationChanged: OnChange): void {
    if (!write) return;
    invocationChanged(
      group.rows.get("") as InvocationRow | null | undefined,
      write.row as InvocationRow,
      write.drop,
    );
  }

  /** Commits up to this number are durable: the groups that they wrote may be evicted. */
  markDurable(commit: number): void {
    this.#durable = commit;
    if (this.#bytes > this.#bytesMax) this.#shrink();
  }

  /** Evicts a group, if it is durable. For rows that are rarely read again. */
  forget(table: Table, name: string): void {
    const group = this.#tables[table].get(name);
    if (group && this.#isDurable(group)) this.#evict(table, name, group);
  }

  /** The clock algorithm: a group stays if it was used since the hand last passed. */
  #shrink(): void {
    const goal = this.#bytesMax * 0.9;
    let groups = 0;
    for (const table of TABLES) groups += this.#tables[table].size;
    for (let steps = 2 * groups; steps > 0 && this.#bytes > goal; steps--) {
      const [table, name, group] = this.#next();
      if (group.isUsed) group.isUsed = false;
      else if (this.#isDurable(group)) this.#evict(table, name, group);
    }
  }

  /** Whether a load from the store would return the rows that are in memory. */
  #isDurable({ commit, isPinned }: Group): boolean {
    if (isPinned) return false;
    return commit <= this.#durable && commit <= this.#visible;
  }

  #next(): [Table, string, Group] {
    for (;;) {
      this.#sweep ??= { table: 0, groups: this.#tables[TABLES[0]].entries() };
      const table = TABLES[this.#sweep.table];
      assert(table, "The hand stays on the clock");
      const { done, value } = this.#sweep.groups.next();
      if (!done) return [table, value[0], value[1]];
      const next = (this.#sweep.table + 1) % TABLES.length;
      const name = TABLES[next];
      assert(name, "The hand stays on the clock");
      this.#sweep = { table: next, groups: this.#tables[name].entries() };
    }
  }

  #evict(table: Table, name: string, group: Group): void {
    this.#tables[table].delete(name);
    this.#bytes -= group.bytes;
    // The map may keep a deleted value reachable (`SlotMap`).
    group.clear();
  }

  #group(table: Table, name: string): Group {
    let group = this.#tables[table].get(name);
    if (!group) {
      this.#tables[table].set(name, group = new Group());
      this.#bytes += group.bytes;
    }
    return group;
  }

  #set(group: Group, item: Item, row: Rows[Table] | null): void {
    this.#grow(group, sizeOf(row) - sizeOf(group.rows.get(item)));
    group.set(item, row);
  }

  #delete(group: Group, item: Item): void {
    this.#grow(group, -sizeOf(group.rows.get(item)));
    group.delete(item);
  }

  #grow(group: Group, bytes: number): void {
    group.bytes += bytes;
    this.#bytes += bytes;
  }
}
