import type { Statement } from "../../ports.ts";
import { ELSEWHERE, type GivenRows, mentions } from "../given_rows.ts";
import type { Row } from "../render/format.ts";
import type { Copy } from "./copied_rows.ts";
import type { QuerySource } from "./source.ts";

// A column is computed where its row is. What it reads besides may be in another database: what an
// installation has once is in the first, and limits of services are used in all of them.

type Once = Pick<GivenRows, "name" | "columns"> & { readonly sql: string };

/** As much as columns need of what an installation has once. Texts come as bytes: see `QueryDatabase`. */
const ONCE: readonly Once[] = [
  {
    name: "rule",
    columns: ["pattern", "body"],
    sql: "select cast(r.pattern as blob), cast(r.body as blob) from rule as r",
  },
  {
    name: "control",
    columns: ["kind", "name", "body"],
    sql: `select cast(k.kind as blob), cast(k.name as blob), cast(k.body as blob) from control as k
      where k.kind in ('service', 'deployment', 'queue', 'subscription')`,
  },
  {
    name: "deployment",
    columns: ["id", "body"],
    sql: `select cast(d.id as blob), cast(json_object('services', (select json_group_array(
      json_object('name', s.value ->> '$.name', 'revision', s.value ->> '$.revision'))
      from json_each(d.body, '$.services') as s)) as blob) from deployment as d`,
  },
];

/** How many hold slots, of each service and handler. */
const HELD = `select cast(h.service as blob), cast(h.handler as blob), count(*) from invocation as h
  where h.status in ('invoked', 'backingOff') and h.status <> 'completed'
  and (h.status = 'invoked' or h.body ->> '$.status.holds') group by 1, 2`;
const BUCKETS = `select cast(b.counter as blob), b.tokens, b.at from bucket as b
  where substr(b.counter, 1, 8) in ('service:', 'handler:')`;

/** Of `given`, what the SQL of a copy reads. What is in the first database only is read there. */
export function neededBy(
  { from, columns, conditions, isShared }: Pick<
    Copy,
    "from" | "columns" | "conditions" | "isShared"
  >,
  given: readonly GivenRows[],
): GivenRows[] {
  const text = [from, ...conditions, ...columns.map(({ sql }) => sql)].join(" ");
  const isHere = ({ name }: GivenRows) => isShared && ONCE.some((one) => one.name === name);
  return given.filter((one) => !isHere(one) && mentions(text, one));
}

/** For each source, what `copies` need of the others. Rejects as a source does. */
export async function givenElsewhere(
  sources: readonly QuerySource[],
  copies: readonly Copy[],
): Promise<readonly (readonly GivenRows[])[]> {
  const isNeeded = (one: Pick<GivenRows, "name" | "columns">) =>
    copies.some((copy) => neededBy(copy, [{ ...one, rows: "" }]).length > 0);
  const once = sources.length > 1 ? ONCE.filter(isNeeded) : [];
  const [shared, elsewhere] = await Promise.all([
    readOnce(sources[0], once),
    isNeeded(ELSEWHERE) ? readElsewhere(sources) : [],
  ]);
  return sources.map((_, i) => elsewhere[i] ? [...shared, elsewhere[i]] : shared);
}

async function readOnce(
  source: QuerySource | undefined,
  once: readonly Once[],
): Promise<GivenRows[]> {
  if (!source || once.length === 0) return [];
  const found = await source.read(once.map(({ sql }): Statement => ({ sql, args: [] })));
  return once.map(({ name, columns }, i) => ({ name, columns, rows: listOf(found[i] ?? []) }));
}

/** What each source is given of all others. */
async function readElsewhere(sources: readonly QuerySource[]): Promise<GivenRows[]> {
  if (sources.length === 1) return [{ ...ELSEWHERE, rows: "[]" }];
  const all = await Promise.all(sources.map(countersIn));
  return sources.map((_, i) => ({
    ...ELSEWHERE,
    rows: listOf(all.filter((_, j) => j !== i).flat()),
  }));
}

/** Rows of `ELSEWHERE` for what is in one source. */
async function countersIn(source: QuerySource): Promise<Row[]> {
  const statements = [HELD, BUCKETS].map((sql): Statement => ({ sql, args: [] }));
  const [held = [], buckets = []] = await source.read(statements);
  return [
    ...held.flatMap(([service, handler, count = 0]): Row[] => [
      [`service:${textOf(service)}`, count, null, null],
      [`handler:${textOf(service)}/${textOf(handler)}`, count, null, null],
    ]),
    ...buckets.map(([counter, tokens = null, at = null]): Row => [
      textOf(counter),
      0,
      tokens,
      at,
    ]),
  ];
}

function listOf(rows: readonly Row[]): string {
  return JSON.stringify(rows.map((row) => row.map(plain)));
}

/** A value for JSON. Integers of rows are exact as numbers: larger ones are text. */
function plain(value: Row[number] | undefined): string | number | null {
  if (typeof value === "bigint") return Number(value);
  return value instanceof Uint8Array || value === undefined ? textOf(value) : value;
}

const decoder = new TextDecoder();

function textOf(value: Row[number] | undefined): string {
  return value instanceof Uint8Array ? decoder.decode(value) : String(value);
}
