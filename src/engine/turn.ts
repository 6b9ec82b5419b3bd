import { assert } from "../assert.ts";
import type { InvocationDraft, InvocationRow } from "../model/invocation.ts";
import {
  groupOf,
  type Item,
  itemOf,
  type Rows,
  type Table,
  TABLES,
  type Want,
} from "../model/rows.ts";
import type { Write } from "../model/rows.ts";
import { ONLY_PARTITION, partitionOfId, type PartitionRange } from "../model/ring.ts";
import type { Schema } from "../model/schema.ts";
import type { Effect } from "./effect.ts";
import { Slots, type SlotView } from "./flow/slots.ts";
import { InboxRoom, type InboxView } from "./inbox_room.ts";

/** The rows in memory. `undefined` means "not loaded", `null` means "no such row". */
export interface RowView {
  find<T extends Table>(table: T, group: string, item: Item): Rows[T] | null | undefined;
  /** Every row of a group, in any order, or `undefined` unless all of them are loaded. */
  list<T extends Table>(table: T, group: string): Iterable<Rows[T]> | undefined;
}

export interface TurnOptions {
  readonly rows: RowView;
  /** The range of the partition. Absent: the only partition. */
  readonly range?: PartitionRange;
  /** `attemptForgotten` of the turn before. Absent: no stream can be open. */
  readonly attemptForgotten?: number;
  /** The counters after the turn before. Absent: nothing runs. */
  readonly slots?: SlotView;
  /** `slots.nextSeq` of the turn before. Absent: nothing has waited. */
  readonly nextSeq?: number;
  /** Absent: no limit. */
  readonly inboxes?: InboxView;
}

/** Thrown to abandon a turn whose rows are not in memory yet. Carries nothing: see `Turn.wants`. */
export const miss: unique symbol = Symbol("miss");

/** This turn's writes to one group. `isWhole`: the turn created it, so nothing lies beneath. */
interface GroupWrites {
  readonly table: Table;
  readonly group: string;
  readonly items: ReadonlyMap<Item, Write>;
  readonly isWhole: boolean;
}

class Writing implements GroupWrites {
  readonly table: Table;
  readonly group: string;
  isWhole = false;
  #items: Map<Item, Write> | undefined;

  constructor(table: Table, group: string) {
    this.table = table;
    this.group = group;
  }

  get items(): ReadonlyMap<Item, Write> {
    return this.#items ?? NO_WRITES;
  }

  set(item: Item, write: Write): void {
    this.#items ??= new Map();
    this.#items.set(item, write);
  }
}

/** The writes of every group that was created and stays empty, as most do. */
const NO_WRITES: ReadonlyMap<Item, Write> = new Map();

type TableWrites = Map<string, Writing>;

/**
 * One atomic step of a partition. Reads come from the resident rows, writes and effects are collected
 * here, and no effect is released before the writes are durable. A turn never waits: a read of a row
 * that is not in memory is added to `wants` and abandons the turn, which then runs again from the
 * start. That is safe because the same rows, events and options always give the same turn.
 */
export class Turn {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly schema: Schema;
  readonly range: PartitionRange;
  readonly effects: Effect[] = [];
  readonly wants: Want[] = [];
  /** The highest attempt of all invocations that were deleted since the partition began to run. */
  attemptForgotten: number;
  /** The slots that it takes and gives back. */
  readonly slots: Slots;
  readonly inboxRoom: InboxRoom;
  readonly #slice: RowView;
  readonly #tables: { [T in Table]: TableWrites } = {
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
  readonly #drafts = new Map<string, InvocationDraft>();

  /** `now`: milliseconds since the epoch. */
  constructor(now: number, schema: Schema, options: TurnOptions) {
    const { rows, range = ONLY_PARTITION, attemptForgotten = 0, slots, nextSeq } = options;
    this.now = now;
    this.schema = schema;
    this.range = range;
    this.attemptForgotten = attemptForgotten;
    this.slots = new Slots(slots, nextSeq);
    this.inboxRoom = new InboxRoom(options.inboxes);
    this.#slice = rows;
  }

  /** The partition of an invocation. */
  partitionOf(id: string): number {
    return partitionOfId(id, this.range.partitions);
  }

  /** Whether an invocation is of this partition. */
  isLocal(id: string): boolean {
    return this.partitionOf(id) === this.range.partition;
  }

  /** Ends the drafts of the last event: the next one edits copies of its own. */
  nextEvent(): void {
    if (this.#drafts.size > 0) this.#drafts.clear();
  }

  /** One row, as this turn has written it or else as it is in memory. Throws `miss`. */
  find<T extends Table>(table: T, group: string, item: Item = ""): Rows[T] | undefined {
    const row = this.#read(table, group, item);
    return row === undefined ? this.#miss({ table, group, item }) : row ?? undefined;
  }

  /**
   * An invocation whose journal and timers the event will not read: when it is not in memory, it is
   * loaded without them. Throws `miss`.
   */
  findAlone(id: string): InvocationRow | undefined {
    const row = this.#read("invocation", id, "");
    if (row !== undefined) return row ?? undefined;
    this.wants.push({ table: "invocation", group: id, item: "" });
    throw miss;
  }

  /**
   * Announces invocations that will be read one after the other, so that those of this partition that
   * are not in memory are loaded together. Otherwise each would cost a load and another run of the
   * whole turn. Throws `miss`.
   */
  prefetch(ids: readonly string[]): void {
    let isLocal = true;
    for (const id of ids) {
      if (!this.isLocal(id) || this.#read("invocation", id, "") !== undefined) continue;
      this.#want({ table: "invocation", group: id, item: "" });
      isLocal = false;
    }
    if (!isLocal) throw miss;
  }

  /** Announces reads of the journal entries `from` to `to` (excluded). Throws `miss`. */
  prefetchEntries(id: string, from: number, to: number): void {
    for (let index = from; index < to; index++) {
      if (this.#read("journal", id, index) === undefined) {
        return this.#miss({ table: "journal", group: id });
      }
    }
  }

  /** Every row of a group in the order of its items. Throws `miss`. */
  list<T extends Table>(table: T, group: string): Rows[T][] {
    const written = this.#tables[table].get(group);
    const rows: Rows[T][] = [];
    if (!written?.isWhole) {
      const below = this.#slice.list(table, group);
      if (below === undefined) return this.#miss({ table, group });
      for (const row of below) if (!written?.items.has(itemOf(table, row))) rows.push(row);
    }
    if (written) {
      for (const { row, drop } of written.items.values()) if (!drop) rows.push(row as Rows[T]);
    }
    return sorted(table, rows);
  }

  /** Declares that a group has no rows yet, because its owner is being created. */
  create(table: Table, group: string): void {
    this.#group(table, group).isWhole = true;
  }

  put<T extends Table>(table: T, row: Rows[T]): void {
    this.#group(table, groupOf(table, row)).set(itemOf(table, row), { table, row, drop: false });
  }

  drop<T extends Table>(table: T, row: Rows[T]): void {
    this.#group(table, groupOf(table, row)).set(itemOf(table, row), { table, row, drop: true });
  }

  /**
   * A copy of an invocation that this event may change in place: it is written already. Within one
   * event it is always the same draft, so that helpers cannot overwrite each other's changes.
   */
  edit(id: string): InvocationDraft | undefined {
    const known = this.#drafts.get(id);
    if (known) return known;
    const row = this.find("invocation", id);
    return row && this.draft({ ...row });
  }

  /** Adopts a new or copied row as this event's draft of it. */
  draft(draft: InvocationDraft): InvocationDraft {
    draft.modifiedAt = this.now;
    this.#drafts.set(draft.id, draft);
    this.put("invocation", draft);
    return draft;
  }

  /** Deletes an invocation: drops its row and ends its draft. */
  forget(draft: InvocationDraft): void {
    this.#drafts.delete(draft.id);
    this.drop("invocation", draft);
    this.attemptForgotten = Math.max(this.attemptForgotten, draft.attempt);
  }

  emit(effect: Effect): void {
    this.effects.push(effect);
  }

  /** The writes of this turn by group. */
  get groups(): GroupWrites[] {
    const groups: GroupWrites[] = [];
    for (const table of TABLES) {
      for (const group of this.#tables[table].values()) groups.push(group);
    }
    return groups;
  }

  /** Every write, at most one for each row. */
  get writes(): Write[] {
    const writes: Write[] = [];
    for (const { items } of this.groups) for (const write of items.values()) writes.push(write);
    return writes;
  }

  #group(table: Table, group: string): Writing {
    const groups = this.#tables[table];
    let writes = groups.get(group);
    if (!writes) groups.set(group, writes = new Writing(table, group));
    return writes;
  }

  /** `null`: no such row. `undefined`: not in memory. */
  #read<T extends Table>(table: T, group: string, item: Item): Rows[T] | null | undefined {
    const written = this.#tables[table].get(group);
    const write = written?.items.get(item);
    if (write) return write.drop ? null : write.row as Rows[T];
    return written?.isWhole ? null : this.#slice.find(table, group, item);
  }

  #miss(want: Want): never {
    this.#want(want);
    throw miss;
  }

  #want(want: Want): void {
    this.wants.push(want);
    // An event that reads an invocation soon reads these, too: one load instead of three.
    if (want.table !== "invocation") return;
    this.wants.push({ table: "journal", group: want.group });
    this.wants.push({ table: "timer", group: want.group });
  }
}

/** In the order of items: a journal by index, an inbox by place. Most lists are already in order. */
function sorted<T extends Table>(table: T, rows: Rows[T][]): Rows[T][] {
  for (let i = 1; i < rows.length; i++) {
    const before = rows[i - 1], row = rows[i];
    assert(before && row, "A list has no holes");
    if (itemOf(table, before) > itemOf(table, row)) return rows.sort((a, b) => order(table, a, b));
  }
  return rows;
}

function order<T extends Table>(table: T, a: Rows[T], b: Rows[T]): number {
  return itemOf(table, a) < itemOf(table, b) ? -1 : 1;
}
