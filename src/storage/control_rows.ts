import { sql } from "kysely";
import type { ControlsChange, StoredControls } from "../model/controls.ts";
import type { KafkaCluster, Subscription } from "../model/kafka.ts";
import type { Rule, ServiceControl } from "../model/limits.ts";
import type { SqlRow, Statement } from "../ports.ts";
import { fromJson, fromSafe, toJson, toSafe } from "./codec/safe_text.ts";
import { compile, statement } from "./codec/sql_text.ts";

const LOAD_RULES = compile(sql`select body from rule order by pattern`);
const LOAD_CONTROLS = compile(sql`select kind, name, body from control order by kind, name`);
const SAVE_RULES = compile(sql`insert into rule (pattern, body)
  select value ->> 0, value ->> 1 from json_each(?1) where true
  on conflict (pattern) do update set body = excluded.body`);
const DROP_RULES = compile(sql`delete from rule where pattern in (
  select value ->> 0 from json_each(?1))`);
const MISSED_RULES = compile(sql`select count(*) as n from json_each(?1) as wanted
  left join rule on pattern = wanted.value ->> 0 where body is not wanted.value ->> 1`);
const SAVE_CONTROLS = compile(sql`insert into control (kind, name, body)
  select value ->> 0, value ->> 1, value ->> 2 from json_each(?1) where true
  on conflict (kind, name) do update set body = excluded.body`);
const DROP_CONTROLS = compile(sql`delete from control where (kind, name) in (
  select value ->> 0, value ->> 1 from json_each(?1))`);
const MISSED_CONTROLS = compile(sql`select count(*) as n from json_each(?1) as wanted
  left join control on kind = wanted.value ->> 0 and name = wanted.value ->> 1
  where body is not wanted.value ->> 2`);

/** Characters of one argument of a statement: some databases bind no more than 1.5 MB. */
const CHARACTERS_MAX = 256 * 1024;

/** The key of a row and its body. Null: the row is dropped. */
type Row = readonly [...key: string[], body: string | null];

/** Statements that change rows, and statements that count the rows that are not as they make them. */
export interface RowsChange {
  readonly writes: readonly Statement[];
  /** Each returns one row, whose column `n` is 0 once `writes` were applied. */
  readonly checks: readonly Statement[];
}

/** Reads what `storedControls` takes. */
export const CONTROL_READS: readonly Statement[] = [
  statement(LOAD_RULES),
  statement(LOAD_CONTROLS),
];

/** The controls of the rows that `CONTROL_READS` return. */
export function storedControls(
  rules: readonly SqlRow[],
  controls: readonly SqlRow[],
): StoredControls {
  const of = (wanted: string) =>
    controls.flatMap(({ kind, name, body }) =>
      kind === wanted ? [[fromSafe(name as string), fromJson(body as string)] as const] : []
    );
  const [[, version] = []] = of("book");
  return {
    version: typeof version === "number" ? version : 0,
    rules: rules.map(({ body }) => fromJson(body as string) as Rule),
    services: of("service").map(([name, body]) => [name, body as ServiceControl]),
    deployments: of("deployment").map(([id]) => id),
    queues: of("queue").map(([id]) => id),
    clusters: of("kafka_cluster").map(([, body]) => body as KafkaCluster),
    subscriptions: of("subscription").map(([, body]) => body as Subscription),
  };
}

/** The statements of a change, in a step for each row (`slices.ts`). None has a large argument. */
export function* changeRows(change: ControlsChange): Generator<void, RowsChange> {
  const ofRules = yield* rowsChange(ruleRows(change), [SAVE_RULES, DROP_RULES, MISSED_RULES]);
  const ofControls = yield* rowsChange(
    controlRows(change),
    [SAVE_CONTROLS, DROP_CONTROLS, MISSED_CONTROLS],
  );
  return {
    writes: [...ofRules.writes, ...ofControls.writes],
    checks: [...ofRules.checks, ...ofControls.checks],
  };
}

function* ruleRows({ book }: ControlsChange): Generator<Row> {
  for (const [pattern, rule] of book?.rules ?? []) {
    yield [toSafe(pattern), rule === undefined ? null : toJson(rule)];
  }
}

function* controlRows({ book, ...others }: ControlsChange): Generator<Row> {
  if (book) yield ["book", "version", toJson(book.version)];
  const kinds = [
    ["service", others.services],
    ["deployment", others.deployments],
    ["queue", others.queues],
    ["kafka_cluster", others.clusters],
    ["subscription", others.subscriptions],
  ] as const;
  for (const [kind, changes = []] of kinds) {
    for (const [name, body] of changes) {
      yield [kind, toSafe(name), body === undefined || body === false ? null : toJson(body)];
    }
  }
}

function* rowsChange(
  rows: Iterable<Row>,
  [save, drop, missed]: readonly [string, string, string],
): Generator<void, RowsChange> {
  const [saved, dropped, all] = [new Parts(), new Parts(), new Parts()];
  for (const row of rows) {
    const json = JSON.stringify(row);
    (row.at(-1) === null ? dropped : saved).add(json);
    all.add(json);
    yield;
  }
  return {
    writes: [
      ...saved.arrays().map((part) => statement(save, part)),
      ...dropped.arrays().map((part) => statement(drop, part)),
    ],
    checks: all.arrays().map((part) => statement(missed, part)),
  };
}

/** Rows as JSON arrays of up to `CHARACTERS_MAX` characters, or of one row that is larger. */
class Parts {
  readonly #parts: string[][] = [];
  #size = 0;

  /** Adds a row, as JSON. */
  add(json: string): void {
    const open = this.#parts.at(-1);
    if (open && this.#size + json.length <= CHARACTERS_MAX) {
      open.push(json);
    } else {
      this.#parts.push([json]);
      this.#size = 0;
    }
    this.#size += json.length + 1;
  }

  arrays(): string[] {
    return this.#parts.map((rows) => `[${rows.join(",")}]`);
  }
}
