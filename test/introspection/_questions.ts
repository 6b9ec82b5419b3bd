import { tableFromIPC } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Filled, post } from "./_filled.ts";
import { flowStatements } from "./_flow_statements.ts";
import {
  cliStatements,
  type Names,
  namesOf,
  objectStatements,
  otherStatements,
  pageStatements,
  uiStatements,
} from "./_statements.ts";

interface Questioned {
  readonly filled: Filled;
  /** What an endpoint says comes when its handler is done. */
  readonly isHalfDuplex: boolean;
  readonly skip: (condition: boolean, why: string) => void;
}

const groups: Readonly<Record<string, (names: Names) => readonly string[]>> = {
  "lists of the UI": uiStatements,
  "pages of the UI": pageStatements,
  "objects in the UI": () => objectStatements,
  "the command line": cliStatements,
  "flow control": () => flowStatements,
  "all other constructs": () => otherStatements,
};

const checks: Readonly<Record<string, (questioned: Questioned) => Promise<void>>> = {
  "what was just committed is seen, though it is in no table yet": async ({ filled, skip }) => {
    skip(filled.ingress === undefined, "where callers reach PEER is not known");
    for (let sum = 1; sum <= 3; sum++) {
      await post(`${filled.ingress}/restate/call/Cart/fresh/add`, 1);
      const [state] = await filled.rows(
        "SELECT value_utf8 AS total FROM state WHERE service_key = 'fresh' AND key = 'total'",
      );
      expect(state).toEqual({ total: String(sum) });
    }
  },

  "rules are shown with what only this server has behind the known columns": async (
    { filled, skip },
  ) => {
    skip(filled.ingress === undefined, "PEER may have no rates");
    const rows = await filled.rows("SELECT * FROM sys_rules ORDER BY pattern");
    const last_modified = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(rows.map((row) => Object.entries(row))).toEqual([
      Object.entries({
        pattern: "*",
        concurrency: 5,
        description: "for all, \ue000 too",
        disabled: false,
        version: 1,
        last_modified,
      }),
      Object.entries({
        pattern: "a/b",
        disabled: true,
        version: 1,
        last_modified,
        rate_count: 100,
        rate_period: "PT90S",
        rate_burst: 20,
      }),
    ]);
    const [{ n } = {}] = await filled.rows(
      "SELECT count(*) AS n FROM sys_rules WHERE disabled AND rate_period > interval '1 minute'",
    );
    expect(n).toBe(1);
  },

  "statuses are shown as they are derived from what is stored and what runs": async (
    { filled },
  ) => {
    const rows = await filled.rows(
      `SELECT target, status FROM sys_invocation WHERE status <> 'completed'
        AND target <> 'Cart/held/add' ORDER BY target`,
    );
    expect(rows).toEqual([
      { target: "Cart/held/hold", status: "suspended" },
      { target: "Greeter/awaits", status: "suspended" },
      { target: "Greeter/flaky", status: "backing-off" },
      { target: "Greeter/greet", status: "scheduled" },
      { target: "Greeter/hang", status: "running" },
      { target: "Greeter/pauser", status: "paused" },
      { target: "Signup/u1/run", status: "suspended" },
    ]);
    const [counts] = await filled.rows(
      `SELECT count(*) FILTER (WHERE status = 'pending') AS pending,
        count(*) FILTER (WHERE status IN ('backing-off', 'running')) AS invoked FROM sys_invocation`,
    );
    const [raw] = await filled.rows(
      `SELECT count(*) FILTER (WHERE status = 'inboxed') AS pending,
        count(*) FILTER (WHERE status = 'invoked') AS invoked FROM sys_invocation_status`,
    );
    expect(counts).toEqual({ pending: 2, invoked: 2 });
    expect(raw).toEqual(counts);
  },

  "a running attempt is shown with what only this process knows": async (
    { filled, isHalfDuplex },
  ) => {
    const [row] = await filled.rows(
      `SELECT in_flight, retry_count, last_attempt_server AS server,
        last_start_at > now() - INTERVAL '1 minute' AS recent
        FROM sys_invocation_state WHERE in_flight`,
    );
    expect(row).toMatchObject({ in_flight: true, retry_count: 1, recent: true });
    if (!isHalfDuplex) expect(row?.["server"]).toMatch(/^restate-sdk-typescript\//);
  },

  "a failed attempt is shown with its error and the command it is about": async ({ filled }) => {
    const [row] = await filled.rows("SELECT * FROM sys_invocation WHERE target = 'Greeter/flaky'");
    expect(row).toMatchObject({
      status: "backing-off",
      last_failure_error_code: "RT0007",
      last_failure_related_command_index: 1,
      last_failure_related_command_name: "call-upstream",
      last_failure_related_command_type: "Run",
    });
    expect(row?.["last_failure"]).toMatch(/^\[500 Internal\] upstream 503\nError: upstream 503/);
    const [event] = await filled.rows(
      `SELECT event_type, event_json ->> 'error_code' AS code FROM sys_journal_events
        WHERE id = '${row?.["id"]}'`,
    );
    expect(event).toMatchObject({ event_type: "TransientError", code: "500" });
  },

  "what befell an invocation is kept in order, though it was overcome": async ({ filled }) => {
    const events = await filled.rows(
      `SELECT e.event_type, e.event_json, e.after_journal_entry_index AS after
        FROM sys_journal_events e JOIN sys_invocation i ON i.id = e.id
        WHERE i.target = 'Greeter/pauser' ORDER BY e.appended_at`,
    );
    expect(events).toMatchObject([
      { event_type: "TransientError", after: 0 },
      { event_type: "Paused", after: 0 },
    ]);
    const [failed, paused] = events.map(({ event_json }) => JSON.parse(String(event_json)));
    const { ty, ...failure } = failed;
    expect(failure).toMatchObject({ error_code: 500, error_message: "always fails" });
    expect(failure).not.toHaveProperty("related_command_index");
    expect([ty, paused]).toEqual(["TransientError", { ty: "Paused", last_failure: failure }]);
  },

  "values are printed like the reference prints them": async ({ filled }) => {
    const [row] = await filled.rows(
      `SELECT s.journal_retention, s.suspended_waiting_for_completions AS c,
        s.suspended_waiting_for_signals AS n, s.suspended_waiting_future_json AS f, s.created_at,
        s.partition_key, s.scope FROM sys_invocation_status s WHERE s.target = 'Signup/u1/run'`,
    );
    expect(row).toMatchObject({
      journal_retention: "PT86400S",
      c: [6],
      n: [1],
      f: '{"Unknown":[{"Single":{"CompletionId":6}},{"Single":{"SignalIndex":1}}]}',
    });
    expect(row?.["created_at"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/);
    expect(row).not.toHaveProperty("scope");
    const state = await filled.rows(
      "SELECT key, value, value_utf8 FROM state WHERE service_key = 'alice' ORDER BY key",
    );
    expect(state).toEqual([
      { key: "bin", value: "0102ff" },
      { key: "total", value: "32", value_utf8: "2" },
    ]);
  },

  "what is no row of a table has the columns of the reference, and short texts": async (
    { filled },
  ) => {
    const place = ["table_catalog", "table_schema", "table_name"];
    const described = ["column_name", "data_type", "is_nullable"];
    const asked: Readonly<Record<string, readonly string[]>> = {
      "SHOW TABLES": [...place, "table_type"],
      "SHOW COLUMNS FROM state": [...place, ...described],
      "DESCRIBE state": described,
      "EXPLAIN SELECT id FROM sys_invocation": ["plan_type", "plan"],
    };
    for (const [statement, columns] of Object.entries(asked)) {
      const answer = await filled.ask(statement);
      const { schema, numRows } = tableFromIPC(new Uint8Array(await answer.arrayBuffer()));
      expect(schema.fields.map(({ name }) => name)).toEqual(columns);
      for (const { type } of schema.fields) expect(String(type), statement).toBe("Utf8");
      expect(numRows).toBeGreaterThan(0);
    }
    const [row] = await filled.rows("EXPLAIN SELECT id FROM sys_invocation");
    expect(row?.["plan_type"]).toBe("physical_plan");
  },

  "a constant that a column never holds is warned about, in a header and in JSON": async (
    { filled },
  ) => {
    const shown = "pending, running, ready, backing-off";
    const warned: Readonly<Record<string, string>> = {
      "SELECT id FROM sys_invocation WHERE completion_result = 'failed'":
        "sys_invocation.completion_result is never 'failed'; its values are success, failure",
      "SELECT id FROM (SELECT * FROM sys_invocation_status) WHERE status IN ('paused', 'Pauséd')":
        "sys_invocation_status.status is never 'Paus?d', did you mean 'paused'; its values are " +
        "scheduled, inboxed, invoked, suspended, paused, completed",
      "SELECT id FROM sys_invocation WHERE status <> 'invoked' AND 1 = 2":
        `sys_invocation.status is never 'invoked'; its values are scheduled, ${shown}, ` +
        "suspended, paused, completed",
    };
    for (const [statement, warning] of Object.entries(warned)) {
      const json = await filled.ask(statement, "application/json");
      expect(json.headers.get("x-svc-warning"), statement).toBe(warning);
      expect((await json.json()).warnings).toEqual([warning]);
      const arrow = await filled.ask(statement);
      expect(arrow.headers.get("x-svc-warning")).toBe(warning);
      expect(tableFromIPC(new Uint8Array(await arrow.arrayBuffer())).numRows)
        .toBe(statement.includes("'paused'") ? 1 : 0);
    }
  },

  "a partition key is the unsigned number that its ids begin with": async ({ filled }) => {
    const answer = await filled.ask(
      "SELECT id, partition_key FROM sys_invocation_status WHERE target = 'Signup/u1/run'",
    );
    const [row] = tableFromIPC(new Uint8Array(await answer.arrayBuffer())).toArray();
    // That of "u1" (docs/spec/service-protocol.md#partition-keys): its bytes are those that the id
    // begins with.
    const key = 13589445083227758561n;
    expect(row.partition_key).toBe(key);
    const same = await filled.rows(
      `SELECT count(*) AS n FROM sys_invocation_status WHERE partition_key = ${key}`,
    );
    expect(same).toEqual([{ n: 1 }]);
    const negative = await filled.ask("SELECT -partition_key FROM sys_invocation_status");
    expect(negative.status).toBeGreaterThanOrEqual(400);
  },

  "integers and times are exact in streams of Arrow, up to the ends": async ({ filled }) => {
    const answer = await filled.ask(
      `SELECT -9223372036854775808 AS least, 9223372036854775807 AS most,
        18446744073709551615 AS unsigned, TIMESTAMP '2026-11-21T22:06:16.157' AS at`,
    );
    const table = tableFromIPC(new Uint8Array(await answer.arrayBuffer()));
    const values = table.schema.fields.map(({ name, type }) => [
      `${name} ${type}`,
      table.getChild(name)?.data[0]?.values[0],
    ]);
    expect(values).toEqual([
      ["least Int64", -(2n ** 63n)],
      ["most Int64", 2n ** 63n - 1n],
      ["unsigned Uint64", 2n ** 64n - 1n],
      ["at Timestamp<NANOSECOND>", 1_795_298_776_157_000_000n],
    ]);
  },
};

/** Asks everything of a server that `_filled.ts` has filled, wherever its rows are. */
export function questions(start: () => Promise<Filled>, { isHalfDuplex = false } = {}): void {
  let filled: Filled;
  let names: Names;
  beforeAll(async () => {
    filled = await start();
    names = await namesOf(filled);
  }, 60_000);
  afterAll(async () => await filled?.close());

  describe("every statement of the reference's clients", () => {
    test.each(Object.entries(groups))("answers in both forms: %s", async (_, statements) => {
      for (const statement of statements(names)) await inBothForms(filled, statement);
    });
  });
  test.for(Object.entries(checks))("%s", async ([, check], { skip }) => {
    await check({ filled, isHalfDuplex, skip });
  });
}

async function inBothForms(filled: Filled, statement: string): Promise<void> {
  const rows = await filled.rows(statement);
  const answer = await filled.ask(statement);
  expect(answer.status, statement).toBe(200);
  expect(answer.headers.get("content-type")).toBe("application/vnd.apache.arrow.stream");
  expect(answer.headers.get("x-svc-warning"), statement).toBeNull();
  const table = tableFromIPC(new Uint8Array(await answer.arrayBuffer()));
  expect(table.numRows, statement).toBe(rows.length);
  const fields = table.schema.fields.map(({ name }) => name);
  for (const row of rows) expect(fields).toEqual(expect.arrayContaining(Object.keys(row)));
}
