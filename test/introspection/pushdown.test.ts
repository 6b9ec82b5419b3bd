import { expect, test } from "vitest";
import { copyOfRelation, firstPage, readPage } from "../../src/introspection/copy/copied_rows.ts";
import { readStatement } from "../../src/introspection/syntax/read_statement.ts";
import { prepare } from "../../src/introspection/translate/statement.ts";

/** How the first page of each table is asked for that a statement mentions, in short, ungrouped. */
function pagesOf(sql: string): string[] {
  const { relations } = prepare(readStatement(sql), { now: 1000, version: "1", isCopied: true });
  return relations.map((relation) => {
    const copy = copyOfRelation(relation);
    const page = readPage(copy, { ...firstPage(copy), isGrouped: false }, []);
    const names = new Map([...relation.refs].map(([name, ref]) => [ref, name]));
    return page.sql.replace(/^.* as r\d+/s, "").trim()
      .replace(/r\d+\.(c\d+)/g, (_, ref) => names.get(ref) ?? ref);
  });
}

const ALL = "order by k0 limit 250";

test.each([
  ["select id from sys_invocation", ALL],
  // As many as are shown, in the order in which they are shown.
  [
    "select id from sys_invocation_status order by created_at desc limit 250",
    "order by created_at desc limit 250",
  ],
  ["select 1 from sys_invocation_status limit 1", "limit 1"],
  ["select id from sys_invocation limit 10 offset 5", "limit 15"],
  ["select count(*) from sys_invocation limit 1", ALL],
  ["select distinct status from sys_invocation limit 1", ALL],
  ["select status from sys_invocation group by status limit 1", ALL],
  ["select id as created_at from sys_invocation order by created_at limit 9", ALL],
  ["select id from sys_invocation order by length(id) limit 9", ALL],
  ["select id from sys_invocation order by id limit 5000", ALL],
  ["select value from state order by key limit 200", "order by k0, k1 limit 16"],
  // Comparisons with what is the same for all rows are made where the rows are.
  [
    "select id from sys_invocation where journal_size > 3 order by id limit 5",
    "where likely((journal_size > 3)) order by id limit 5",
  ],
  [
    "select count(*) from sys_invocation where created_at > now() - interval '1 second'",
    `where (created_at > ((1000) - (1000))) ${ALL}`,
  ],
  [
    "select id from sys_invocation where target_service_name in ('a', 'b') and retry_count is not null",
    `where (target_service_name in ('a', 'b')) and (retry_count is not null) ${ALL}`,
  ],
  [
    "select id from sys_invocation where journal_size = 1 or journal_size between 5 and 7",
    `where ((journal_size = 1) or (((journal_size >= 5) and (journal_size <= 7)))) ${ALL}`,
  ],
  // Others are not, and neither is a limit behind them.
  ["select id from sys_invocation where target like '%x' order by id limit 5", ALL],
  ["select id from sys_invocation where last_failure is null limit 5", ALL],
  ["select id from sys_invocation where not journal_size = 1 limit 5", ALL],
  ["select id from sys_invocation where journal_size is distinct from 1 limit 5", ALL],
  ["select id from sys_invocation where journal_size = journal_commands_size limit 5", ALL],
  ["select id from sys_invocation where journal_size = 1 or target like '%x' limit 5", ALL],
  [
    "select id from sys_invocation where journal_size = 1 and target like '%x' limit 5",
    `where (journal_size = 1) ${ALL}`,
  ],
  // Conditions reach the table through derived tables that only take its rows as they are.
  [
    "select id from (select *, status = 'x' as y from sys_invocation) inv where inv.target = 'a'",
    `where (target = 'a') ${ALL}`,
  ],
  [
    "select n from (select m as n from (select target as m from sys_invocation) a) b where n = 'a'",
    `where (target = 'a') ${ALL}`,
  ],
  [
    "select x.a from (select id, target from sys_invocation) x (a, b) where x.b = 'a' or x.b = 'b'",
    `where ((target = 'a') or (target = 'b')) ${ALL}`,
  ],
  // What is made of several rows, or of a choice of them, is not the same without some of them.
  ["select id from (select * from sys_invocation limit 10) inv where inv.target = 'a'", "limit 10"],
  ["select id from (select * from sys_invocation offset 3) inv where inv.target = 'a'", ALL],
  [
    "select id from (select *, row_number() over (order by id) as n from sys_invocation) i where target = 'a'",
    ALL,
  ],
  ["select * from (select distinct target from sys_invocation) i where target = 'a'", ALL],
  [
    "select * from (select target, count(*) from sys_invocation group by target) i where target = 'a'",
    ALL,
  ],
  ["select * from (select target from sys_invocation order by count(*)) i where target = 'a'", ALL],
  ["with i as (select target from sys_invocation) select * from i where target = 'a'", ALL],
  // A limit without an order is one of all pages together.
  ["select count(1) from (select * from sys_invocation limit 50000)", ALL],
])("of %s no more is read than that", (sql, page) => {
  expect(pagesOf(sql)).toEqual([page]);
});

test("of a table behind a star only the columns are read that the query around it names", () => {
  const used = (sql: string) => {
    const { relations } = prepare(readStatement(sql), { now: 1000, version: "1", isCopied: true });
    return relations.map((relation) => [...relation.used].toSorted());
  };
  const star = "(select * from sys_invocation inv limit 50000)";
  expect(used(`select count(1) from ${star} where inv.target_service_name in ('Cart')`))
    .toEqual([["target_service_name"]]);
  expect(used(`select count(1) from ${star}`)).toEqual([[]]);
  expect(used("select a.target from (select * from (select * from state) b, sys_invocation i) a"))
    .toEqual([[], ["target"]]);
  expect(used("select 1 from (select * from state order by 3 limit 2) a")).toEqual([[
    "service_name",
  ]]);
  // Those that make rows differ are read in any case.
  expect(used("select 1 from (select distinct * from sys_inbox) a")[0]?.length).toBeGreaterThan(3);
  expect(used("select 1 from (select * from sys_inbox union select * from sys_inbox) a")[0]?.length)
    .toBeGreaterThan(3);
});

test("a text that is spelled like a column is pushed down unchanged", () => {
  const relationOf = (text: string) =>
    prepare(
      readStatement(`select a from (select target as a from sys_invocation) i where a = '${text}'`),
      { now: 1000, version: "1", isCopied: true },
    ).relations[0];
  const [name = ""] = relationOf("")?.shown.keys() ?? [];
  expect(name).toMatch(/^r\d+\.c\d+$/);
  expect(relationOf(name)?.filter).toEqual([expect.stringContaining(`= '${name}'`)]);
  expect(relationOf(`''${name}''`)?.filter).toEqual([expect.stringContaining(`= '''${name}'''`)]);
});

test("a derived table pushes nothing down of a query around it whose columns it shows", () => {
  const pages = pagesOf(`select i.id from sys_invocation i where not exists
    (select 1 from state s where exists
      (select 1 from (select i.target as t, b.service_name as n from sys_inbox b) d
        where d.t = 'x' and d.n = 'y'))`);
  expect(pages).toEqual([
    ALL,
    "order by k0, k1 limit 250",
    "where (service_name = 'y') order by k0, k1 limit 250",
  ]);
});

test("a filter of one table is not pushed down to another", () => {
  const pages = pagesOf(`select i.id from sys_invocation_status i left join sys_invocation_state s
    on s.id = i.id where i.journal_size > 3 and exists (select 1 from state where key = 'x'
    and i.target = 'y') order by i.id limit 5`);
  expect(pages).toEqual([
    `where (journal_size > 3) ${ALL}`,
    ALL,
    `where (key = 'x') order by k0, k1 limit 250`,
  ]);
});
