import { afterAll, beforeAll, expect, test } from "vitest";
import { QueryConnection } from "../../adapters/libsql/query/database.ts";
import { type OpenedSource, Sources } from "../../adapters/libsql/query/source.ts";
import type { QuerySource } from "../../src/introspection/copy/source.ts";
import { runQuery } from "../../src/introspection/run_query.ts";
import { printInvocationId } from "../../src/model/id.ts";
import type { Introspection } from "../../src/query_port.ts";
import { LIMITS, rowsOf } from "./_small.ts";
import { Asking, Files, inFile, type Rows, sorted } from "./_united.ts";

// Lists of the command line and the UI select from derived tables. Where rows are copied out of
// several files, no more of them are copied than such a list needs, and its answer is that of one file.

const COUNT = 900;
const FILES = 3;

const ids = Array.from({ length: COUNT }, (_, i) => {
  const bytes = new Uint8Array(24);
  new DataView(bytes.buffer).setUint32(0, i * 4_000_000);
  return printInvocationId(bytes);
});
const named = `'${ids[0]}', '${ids[1]}', '${ids[500]}'`;

function rowsIn(has: (at: number) => boolean): Rows {
  const all = ids.map((id, i) => {
    const isOpen = i % 9 === 0;
    const target = { service: `S${i % 7}`, handler: "h", key: `k${i % 5}`, type: "virtual_object" };
    const status = isOpen ? { kind: "backingOff" } : { kind: "completed", at: 5 };
    return {
      id,
      partition: 0,
      status: status.kind,
      created_at: 1000 + i,
      body: JSON.stringify({
        id,
        target,
        status,
        createdAt: 1000 + i,
        modifiedAt: 2000 + i % 4,
        journal: i % 11,
        commands: 1,
        failures: isOpen ? 1 + i % 3 : 0,
        origin: { by: "ingress" },
        retention: 60_000,
        journalRetention: 60_000,
      }),
    };
  });
  const state = ids.map((_, i) => ({ object: `S${i % 7}/o${i}`, name: "n", value: null }));
  return {
    invocation: all.filter((_, i) => has(i)),
    state: state.filter((_, i) => has(i)).map((row, i) => ({ ...row, value: `${i % 3}` })),
  };
}

const files = new Files();
const asking = new Asking();
const opened: { close(): void }[] = [];
let one: Introspection, united: Introspection;
let urls: readonly string[];

beforeAll(async () => {
  const all = await files.make("all.db", rowsIn(() => true));
  const parts: string[] = [];
  for (let at = 0; at < FILES; at++) {
    parts.push(await files.make(`${at}.db`, rowsIn((i) => i % FILES === at)));
  }
  urls = parts;
  one = asking.open([inFile(all)]);
  united = asking.open(urls.map(inFile));
}, 30_000);

afterAll(async () => {
  for (const each of opened) each.close();
  await asking.close();
  await files.close();
});

const I = "sys_invocation";
const S = "sys_invocation_status";
const same: readonly string[] = [
  `select status, target_service_name as s, count(*) as n, min(journal_size) as j from ${I}
    group by status, s`,
  `select count(*) from ${I}`,
  `select count(*) from ${I} where target_service_name = 'none'`,
  // As the command line and the UI send them.
  `select count(1) from (select * from ${I} inv limit 50000)
    where inv.target_service_name in ('S3')`,
  `select inv.id, inv.target, inv.status, inv.x, dp.id is not null as e
    from (select *, status = 'backing-off' as x from ${I}) inv
    left join sys_deployment dp on dp.id = inv.pinned_deployment_id where inv.id in (${named})`,
  `select s.target_service_name as n, count(1) from (select id, target_service_name, status
    from ${S} limit 1000000) s left join sys_invocation_state t on t.id = s.id
    where s.target_service_name in ('S1', 'S2') group by s.target_service_name`,
  // Conditions reach the table through what only takes its rows.
  `select * from (select * from ${I}) d where d.target_service_name = 'S1'`,
  `select b.x, b.n from (select a.x, a.n from (select id as x, journal_size as n
    from ${S} where journal_size > 2) a where a.n < 9) b where b.n between 3 and 5`,
  `select count(*) from (select * from ${I} order by 3 desc, id) d where d.status <> 'completed'`,
  `select d.c from (select id, target, journal_size from ${S}) d (a, b, c)
    where d.c = 3 or d.c = 4`,
  `select d.id from (select i.id, t.retry_count as r from ${S} i left join sys_invocation_state t
    on t.id = i.id) d where d.r = 2`,
  `select d.id from (select i.id, t.retry_count as r from ${S} i left join sys_invocation_state t
    on t.id = i.id) d where d.r is null`,
  // Rows without a partner stay, so conditions on either side of an outer join are none on the other.
  `select i.id, d.r from ${S} i left join (select id, retry_count as r from sys_invocation_state) d
    on d.id = i.id and d.r = 2 and i.target_service_name = 'S0'`,
  `select i.id, d.id from (select * from ${S}) i full join (select id, target_service_name as n
    from ${I}) d on d.id = i.id and d.n = 'S4' and i.target_service_name = 'S4'`,
  `select d.id, i.id from (select id from ${I} where journal_size = 3) d right join
    (select id, status from ${S}) i on i.id = d.id where d.id is null and i.status = 'invoked'`,
  // What is made of several rows, or of a choice of them, is not the same without some of them.
  `select d.id from (select * from ${S} order by created_at limit 5 offset 7) d
    where d.target_service_name in ('S1', 'S2', 'S3')`,
  `select d.id from (select * from ${S} order by created_at desc offset 890) d
    where d.target_service_name = 'S1'`,
  `select d.id, d.n from (select id, target_service_name as s, row_number() over
    (partition by target_service_name order by created_at) as n from ${S}) d where d.s = 'S2'
    and d.n < 4`,
  `select d.id, d.n from (select id, target_service_name as s, row_number() over
    (order by created_at) as n from ${S}) d where d.s = 'S2' and d.n < 40`,
  `select d.n, d.s from (select distinct target_service_name as n, status as s from ${S}) d
    where d.n = 'S5'`,
  `select count(*) from (select distinct * from ${S}) d where d.target_service_name = 'S5'`,
  `select d.n, d.c from (select target_service_name as n, count(*) as c from ${S} group by 1) d
    where d.c > 1 and d.n = 'S5'`,
  `select count(*) from (select max(created_at) as m, target_service_key as k from ${S}) d
    where d.k = 'k2'`,
  `select d.n from (select target_service_name as n from ${S} union select service_name
    from state) d where d.n = 'S5'`,
  `select count(*) from (select id from ${S} union all select id from ${I}) d
    where d.id in (${named})`,
  `select d.id from (select id from ${S} except select id from ${I} where journal_size = 3) d
    where d.id in (${named})`,
  `with c as (select * from ${S}) select count(*) from c a join (select * from c) b on b.id = a.id
    where a.target_service_name = 'S5' and b.journal_size > 2`,
  // Each mention of a table has its own rows.
  `select count(*) from (select * from ${S}) a join (select * from ${S}) b
    on b.created_at = a.created_at + interval '1 millisecond' where a.journal_size = 3`,
  `select count(*) from (select *, (select count(*) from ${I} x
    where x.target_service_name = y.target_service_name) as c from ${S} y) d
    where d.target_service_name = 'S1' and d.c > 100`,
  `select d.id from (select * from ${S}) d where not exists (select 1 from (select * from ${I}) e
    where e.id = d.id and e.target_service_name = 'S1' and d.journal_size = 3)`,
  `select length(d.value) as l, count(*) from (select * from state) d group by l`,
];

test.each(same)("of several files the answer is that of one: %s", async (sql) => {
  expect(sorted(await rowsOf(united, sql))).toEqual(sorted(await rowsOf(one, sql)));
});

/** How many rows a statement copies, and the most values of one, with its key and its count. */
async function copiedBy(sql: string): Promise<{ rows: number; widest: number }> {
  const sum = { rows: 0, widest: 0 };
  const counted = (source: OpenedSource): QuerySource => ({
    async read(statements) {
      const pages = await source.read(statements);
      for (const row of pages.flat()) {
        sum.rows++;
        sum.widest = Math.max(sum.widest, row.length);
      }
      return pages;
    },
  });
  const database = await QueryConnection.open(undefined, LIMITS);
  const sources: OpenedSource[] = [];
  for (const url of urls) sources.push(await new Sources(LIMITS).open(inFile(url)));
  opened.push(database, ...sources);
  const request = { sql, format: "json", version: "1", running: [], now: 5000 } as const;
  const options = { limits: LIMITS, sources: sources.map(counted), unreadable: () => {} };
  for await (const _ of runQuery(database, request, options));
  return sum;
}

test("of a list by id no rows are copied but those that are named", async () => {
  const list = `select inv.id, inv.target, inv.status from (select *, status = 'running' as x
    from ${I}) inv where inv.id in (${named})`;
  // Of the columns: the key, those of the list, that of the status and the count.
  expect(await copiedBy(list)).toEqual({ rows: 3, widest: 5 });
});

test("of a filter around a derived table the rows are copied that pass it", async () => {
  const filter = `select count(1) from (select * from ${I}) inv
    where inv.target_service_name in ('S3')
    and inv.created_at > now() - interval '1 day'`;
  const rows = ids.filter((_, i) => i % 7 === 3).length;
  expect(await copiedBy(filter)).toEqual({ rows, widest: 4 });
});

test("rows that are equal in what a count needs are copied once, with their number", async () => {
  const count = (where: string) =>
    `select count(1) from (select * from ${I} inv limit 50000)${where}`;
  expect(await copiedBy(count(" where inv.target_service_name = 'S3'")))
    // Of each file two pages, and in each the seven services.
    .toEqual({ rows: FILES * 2 * 7, widest: 3 });
  expect(await copiedBy(count(""))).toEqual({ rows: FILES * 2, widest: 2 });
});

test("of a derived table with a limit no more rows are copied of each file", async () => {
  const limited = (limit: number) =>
    `select count(1) from (select * from ${I} limit ${limit}) where id <> 'x'`;
  expect(await copiedBy(limited(20))).toEqual({ rows: 20 * FILES, widest: 2 });
  expect(await copiedBy(limited(50_000))).toEqual({ rows: COUNT, widest: 3 });
});

test("beyond one page, files give as many rows as a limit says together", async () => {
  const pages = `select count(1) from (select * from state limit 100)`;
  const { rows } = await copiedBy(pages);
  expect(rows).toBeGreaterThanOrEqual(100);
  expect(rows).toBeLessThanOrEqual(100 * FILES);
});
