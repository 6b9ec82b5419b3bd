import { parseFilter } from "../../data/filter.ts";
import type { Int } from "../../data/json.ts";
import { inState } from "../../data/objects.ts";
import { abilities } from "../../data/server.ts";
import { contains, join, type Sql, sql, where } from "../../data/sql.ts";
import type { Field } from "../../widgets/filter_line.tsx";

/** Entries of state that are read for a list, and objects that are locked or waited for. */
export const ROWS_MAX = 5_000;

export const FIELDS: readonly Field[] = [
  { name: "service", about: "name of the service" },
  { name: "key", about: "a part of the key" },
  { name: "state", about: "a part of a value, or of the name of an entry" },
];

/** What an object is, as far as a list shows it. */
export interface ObjectRow {
  readonly service: string;
  readonly key: string;
  readonly scope?: string;
  readonly entries: number;
  readonly bytes: number;
  readonly holder?: string;
  readonly waiting: number;
}

export interface StateCount {
  readonly service: string;
  readonly key: string;
  readonly scope?: string;
  readonly entries: Int;
  readonly bytes: Int;
}

export interface BusyCount {
  readonly service: string;
  readonly key: string;
  readonly scope?: string;
  readonly holder?: string;
  readonly waiting: Int;
}

interface Conditions {
  /** Of the service and the key. */
  readonly keyed: readonly Sql[];
  /** Of entries of the state. */
  readonly state: readonly Sql[];
}

/** Conditions of a filter line. A text without a field is a part of the key. `services`: of objects. */
function conditionsOf(text: string, services: readonly string[]): Conditions {
  const [keyed, state]: [Sql[], Sql[]] = [[sql`service_name IN ${services}`], []];
  for (
    const { field = "key", values, isNot } of parseFilter(
      text,
      FIELDS.map(({ name }) => name),
    )
  ) {
    const any = join(values.map((value) => conditionOf(field, value)), " OR ");
    const list = field === "state" ? state : keyed;
    list.push(isNot ? sql`(${any}) IS NOT TRUE` : sql`(${any})`);
  }
  return { keyed, state };
}

function conditionOf(field: string, value: string): Sql {
  if (field === "service") return sql`service_name = ${value}`;
  if (field === "key") return contains(sql`service_key`, value);
  return inState(value);
}

const scopeColumn = () => abilities().hasLimits ? sql`scope` : sql`NULL AS scope`;

/** Objects with state. */
export function withState(text: string, services: readonly string[]): Sql {
  const { keyed, state } = conditionsOf(text, services);
  return sql`SELECT e.service, e.key, e.scope, count(*) AS entries, sum(e.bytes) AS bytes
    FROM (SELECT service_name AS service, service_key AS key, ${scopeColumn()},
      value_length AS bytes FROM state ${where([...keyed, ...state])} LIMIT ${ROWS_MAX}) e
    GROUP BY e.service, e.key, e.scope`;
}

/** Objects that are held or waited for. Undefined: the filter is about state. */
export function busy(text: string, services: readonly string[]): Sql | undefined {
  const { keyed, state } = conditionsOf(text, services);
  if (state.length > 0) return undefined;
  const scope = scopeColumn();
  return sql`SELECT b.service, b.key, b.scope, max(b.holder) AS holder, sum(b.waiting) AS waiting
    FROM (SELECT * FROM (SELECT service_name AS service, service_key AS key, ${scope},
        invocation_id AS holder, 0 AS waiting
        FROM sys_keyed_service_status ${where(keyed)} LIMIT ${ROWS_MAX}) held
      UNION ALL SELECT * FROM (SELECT service_name AS service, service_key AS key, ${scope},
        NULL AS holder, 1 AS waiting FROM sys_inbox ${where(keyed)} LIMIT ${ROWS_MAX}) queued) b
    GROUP BY b.service, b.key, b.scope`;
}

/** One row for each object: those that are waited for first, then by name. */
export function merged(
  states: readonly StateCount[],
  busy: readonly BusyCount[],
): readonly ObjectRow[] {
  const rows = new Map<string, ObjectRow>();
  for (const { service, key, scope, entries, bytes } of states) {
    rows.set(idOf({ service, key, scope }), {
      ...{ service, key, ...(scope !== undefined && { scope }) },
      ...{ entries: Number(entries), bytes: Number(bytes), waiting: 0 },
    });
  }
  for (const { service, key, scope, holder, waiting } of busy) {
    const id = idOf({ service, key, scope });
    const none = { service, key, ...(scope !== undefined && { scope }), entries: 0, bytes: 0 };
    rows.set(id, {
      ...rows.get(id) ?? none,
      ...(holder !== undefined && { holder }),
      waiting: Number(waiting),
    });
  }
  return [...rows.values()].toSorted((a, b) =>
    b.waiting - a.waiting || Number(b.holder !== undefined) - Number(a.holder !== undefined) ||
    a.service.localeCompare(b.service) || a.key.localeCompare(b.key)
  );
}

/** What tells two objects apart. */
export function idOf({ service, key, scope }: {
  readonly service: string;
  readonly key: string;
  readonly scope?: string | undefined;
}): string {
  return JSON.stringify([service, key, scope ?? null]);
}
