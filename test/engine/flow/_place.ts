import type { Event } from "../../../src/engine/event.ts";
import type { RowView, Turn } from "../../../src/engine/turn.ts";
import type { PartitionRange } from "../../../src/model/ring.ts";
import { groupOf, type Item, itemOf, type Rows, type Table } from "../../../src/model/rows.ts";
import type { Scheduler } from "../../../src/partition/flow/scheduler.ts";

/** One partition: its rows outlive its scheduler and its mailbox. */
export class Place implements RowView {
  readonly range: PartitionRange;
  readonly tables = new Map<Table, Map<string, Map<Item, Rows[Table]>>>();
  mailbox: Event[] = [];
  scheduler: Scheduler | undefined;

  constructor(range: PartitionRange) {
    this.range = range;
  }

  find<T extends Table>(table: T, group: string, item: Item): Rows[T] | null {
    return this.tables.get(table)?.get(group)?.get(item) as Rows[T] | undefined ?? null;
  }

  list<T extends Table>(table: T, group: string): Rows[T][] {
    return [...this.tables.get(table)?.get(group)?.values() ?? []] as Rows[T][];
  }

  all<T extends Table>(table: T): Rows[T][] {
    const groups = [...this.tables.get(table)?.values() ?? []];
    return groups.flatMap((group) => [...group.values()]) as Rows[T][];
  }

  apply({ writes }: Turn): void {
    for (const { table, row, drop } of writes) {
      const groups = this.tables.get(table) ?? new Map<string, Map<Item, Rows[Table]>>();
      this.tables.set(table, groups);
      const group = groups.get(groupOf(table, row)) ?? new Map<Item, Rows[Table]>();
      groups.set(groupOf(table, row), group);
      if (drop) group.delete(itemOf(table, row));
      else group.set(itemOf(table, row), { ...row });
    }
  }
}
