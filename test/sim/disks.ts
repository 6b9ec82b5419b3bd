import type { Item, Rows, Table } from "../../src/model/rows.ts";
import { Disk } from "./disk.ts";

/** The rows of all partitions, read at once, which only a simulation can do. */
export class Disks {
  readonly each: readonly Disk[];

  constructor(partitions: number) {
    this.each = Array.from({ length: partitions }, () => new Disk());
  }

  get commits(): number {
    return this.each.reduce((sum, { commits }) => sum + commits, 0);
  }

  /** The disk of one partition. */
  of(partition: number): Disk {
    const disk = this.each[partition];
    if (!disk) throw new RangeError(`There is no partition ${partition}`);
    return disk;
  }

  find<T extends Table>(table: T, name: string, item: Item = ""): Rows[T] | undefined {
    for (const disk of this.each) {
      const row = disk.find(table, name, item);
      if (row) return row;
    }
    return undefined;
  }

  /** In the order of items. A group is of one partition. */
  group<T extends Table>(table: T, name: string): Rows[T][] {
    for (const disk of this.each) {
      const rows = disk.group(table, name);
      if (rows.length > 0) return rows;
    }
    return [];
  }

  *groups(table: Table): Generator<string> {
    for (const disk of this.each) yield* disk.groups(table);
  }

  all<T extends Table>(table: T): Rows[T][] {
    const [only] = this.each;
    return only && this.each.length === 1
      ? only.all(table)
      : this.each.flatMap((disk) => disk.all(table));
  }
}
