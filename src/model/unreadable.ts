import { Failure } from "../errors.ts";
import type { Table } from "./rows.ts";

const DAMAGED = `the stored row is damaged, "perdure verify" lists all that are`;

/**
 * A row that the store holds cannot be decoded, so everything that needs its group fails, and nothing
 * else. `group`: whose row it is.
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
