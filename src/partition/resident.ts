import { assert } from "../assert.ts";
import type { RowView, Turn } from "../engine/turn.ts";
import type { InvocationRow } from "../model/invocation.ts";
import { itemOf, TABLES } from "../model/rows.ts";
import type { Item, Rows, Table, Want, Write } from "../model/rows.ts";
import type { Unreadable } from "../model/unreadable.ts";
import type { Loaded } from "../ports.ts";
import { GROUP_BYTES, sizeOf } from "./row_size.ts";

type GroupRows = Map<Item, Rows[Table] | null>;

/** Of every group that is empty: most are, for a while or for good. */
const NO_ROWS: ReadonlyMap<Item, Rows[Table] | null> = new Map();

/** Rows that are loaded and forgotten together. `null`: known not to exist. */
class Group {
  #rows: GroupRows | undefined;
  /** Every row of the group is here. */
  isWhole = false;
  /** Number of the last commit that wrote here: not to be forgotten before that is durable. */
  commit = 0;
  /** Used since the last sweep passed. */
  isUsed = true;
  /** Arrives page by page, or has and was not used yet: not to be forgotten. */
  isPinned = false;
  bytes = GROUP_BYTES;

  get rows(): ReadonlyMap<Item, Rows[Table] | null> {
    return this.#rows ?? NO_ROWS;
  }

  set(item: Item, row: Rows[Table] | null): void {
    this.#rows ??= new Map();
    this.#rows.set(item, row);
  }

  delete(item: Item): void {
    this.#rows?.delete(item);
  }

  clear(): void {
    this.#rows = undefined;
  }
}

/** Groups known to be unreadable. One that is forgotten is loaded again, and found again. */
const UNREADABLE_MAX = 10_000;

/** An invocation as it was, if it was and if that is known, and as a turn left or dropped it. */
export type OnChange = (
  before: InvocationRow | null | undefined,
  row: InvocationRow,
  isGone: boolean,
) => void;

/**
 * The rows a partition holds in memory. Bounded in bytes: when full it forgets what was not used
 * since the last sweep, but never a row whose commit is not durable, because the store could not
 * give it back.
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
  };
  #bytes = 0;
  #durable = 0;
  /** Commits up to this number are in what the load in flight will answer. */
  #visible = Infinity;
  #sweep: { table: number; groups: Iterator<[string, Group]> } | undefined;

  readonly #unreadable = new Map<string, Unreadable>();
  readonly #onChange: OnChange | undefined;

  /** `invocationChanged` is told of every invocation a turn wrote. */
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

  /** A load has failed because a row of this group cannot be decoded: it is not asked for again. */
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
   * A load is on its way that sees commits up to `visible`. Until `add`, later ones keep their
   * rows here: forgotten too early, they would come back as they were before. `Infinity`: none is.
   */
  expect(visible: number): void {
    this.#visible = visible;
  }

  /**
   * Takes in what the store gave. What is here already is newer, or the same. Answers groups that are
   * to be taken in page by page (`arrive`). Turns may go on meanwhile: these groups are pinned, so
   * that what is written to them stays here, above the pages.
   */
  add(loaded: readonly Loaded[]): Loaded[] {
    this.#visible = Infinity;
    const arriving = loaded.filter(({ want, pages }) => pages && this.#pin(want));
    for (const { want: { table, group: name, item }, rows } of loaded) {
      const group = this.#group(table, name);
      // A whole group knows all there is; what it dropped since would come back.
      if (group.isWhole || group.isPinned) continue;
      this.#fill(group, table, rows);
      if (item === undefined) group.isWhole = true;
      else if (!group.rows.has(item)) group.set(item, null);
    }
    return arriving;
  }

  /** Takes in a page of a group. Absent: there are no more. */
  arrive({ table, group: name }: Want, page?: readonly Rows[Table][]): void {
    const group = this.#group(table, name);
    if (group.isWhole) return;
    if (page) this.#fill(group, table, page);
    else group.isWhole = true;
  }

  /** Whether pages of a group are still to come. */
  isArriving(table: Table, name: string): boolean {
    const group = this.#tables[table].get(name);
    return group !== undefined && group.isPinned && !group.isWhole;
  }

  /** Lets go of a group that arrived page by page, or that cannot. */
  unpin({ table, group: name }: Want): void {
    this.#group(table, name).isPinned = false;
  }

  /** Answers whether it was not, and is not here as a whole. */
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

  /** Whatever a turn writes it has read before, or created: so what was there is known. */
  #tell(group: Group, write: Write | undefined, invocationChanged: OnChange): void {
    if (!write) return;
    invocationChanged(
      group.rows.get("") as InvocationRow | null | undefined,
      write.row as InvocationRow,
      write.drop,
    );
  }

  /** Commits up to this number are durable: what they wrote may be forgotten. */
  markDurable(commit: number): void {
    this.#durable = commit;
    if (this.#bytes > this.#bytesMax) this.#shrink();
  }

  /** Lets go of one group, if it is durable. For rows that nobody is likely to ask for again. */
  forget(table: Table, name: string): void {
    const group = this.#tables[table].get(name);
    if (group && this.#isDurable(group)) this.#evict(table, name, group);
  }

  /** A clock: each group gets a second chance if it was used since the hand last passed. */
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

  /** Whether the store would give back what is here. */
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
    // What the map has let go of may linger (`SlotMap`).
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
