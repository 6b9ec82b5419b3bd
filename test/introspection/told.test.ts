import { expect, test } from "vitest";
import { copyOfRelation, firstPlace, readPage } from "../../src/introspection/copy/copied_rows.ts";
import { readStatement } from "../../src/introspection/syntax/read_statement.ts";
import { prepare } from "../../src/introspection/translate/statement.ts";

/** How the first page of each table is asked for that a statement mentions, in short. */
function pagesOf(sql: string): string[] {
  const { relations } = prepare(readStatement(sql), { now: 1000, version: "1", isCopied: true });
  return relations.map((relation) => {
    const copy = copyOfRelation(relation);
    const page = readPage(copy, firstPlace(copy), "[]");
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
    "where (journal_size > 3) order by id limit 5",
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
])("of %s no more is read than that", (sql, page) => {
  expect(pagesOf(sql)).toEqual([page]);
});

test("what is told of one table is not told of another", () => {
  const pages = pagesOf(`select i.id from sys_invocation_status i left join sys_invocation_state s
    on s.id = i.id where i.journal_size > 3 and exists (select 1 from state where key = 'x'
    and i.target = 'y') order by i.id limit 5`);
  expect(pages).toEqual([
    `where (journal_size > 3) ${ALL}`,
    ALL,
    `where (key = 'x') order by k0, k1 limit 250`,
  ]);
});
