import { Failure } from "../errors.ts";
import type { Table } from "./rows.ts";

const DAMAGED = `the stored row is damaged, "perdure verify" lists all that are`;

/**
 * A row of the store cannot be decoded, so every event that needs its group fails, and no other one.
 * `group`: the group of the row.
 */
export class Unreadable extends Failure {
  override name = "Unreadable";
  readonly table: Table;
  readonly group: string;

  constructor(table: Table, group: string, options?: ErrorOptions) {
    super("RT0028", `Cannot read ${table} "${group}": ${DAMAGED}`, options);
    this.table = table;
    this.group = group;
  }
}
