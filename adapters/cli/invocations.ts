import { type Given, textOf } from "./about.ts";
import { CommandFailure, usageFailure } from "./failure.ts";
import { paint, print, table, visible } from "./output.ts";
import { countOf } from "./register.ts";
import { ServerClient } from "./server_client.ts";
import { type Row, rowsOf } from "./sql.ts";
import { OPERATIONS } from "./table.ts";

const LIMIT = 50;
const LIMIT_MAX = 10_000;
const COLUMNS = ["id", "target", "status", "created_at", "retry_count", "last_failure"];
const ID = /^inv_[0-9A-Za-z]+$/;

type Operation = typeof OPERATIONS[number];

/** `perdure invocations`: lists, shows or operates. Rejects with `CommandFailure`. */
export async function invocations(given: Given, isJson: boolean): Promise<void> {
  const [action = "list", ...ids] = given.arguments;
  const server = new ServerClient(given);
  if (action === "list") return await list(server, given, isJson);
  const wrong = ids.find((id) => !ID.test(id));
  if (wrong !== undefined || ids.length === 0) {
    const why = wrong === undefined ? "an id must follow" : `"${visible(wrong)}" is not an id`;
    throw usageFailure(`Cannot ${action} invocations: ${why}`, "invocations");
  }
  if (action === "get") return await get(server, ids, isJson);
  await operate(server, { action: action as Operation, ids, isJson });
}

async function list(server: ServerClient, given: Given, isJson: boolean): Promise<void> {
  if (given.arguments.length > 1) {
    throw usageFailure(`Cannot list invocations: it takes no ids, "get" does`, "invocations");
  }
  const limit = countOf(given, "limit", LIMIT_MAX) ?? LIMIT;
  const conditions = [["target_service_name", "service"], ["status", "status"]].flatMap(
    ([column, flag = ""]) => {
      const text = textOf(given, flag);
      return text === undefined ? [] : [`${column} = ${quoted(text)}`];
    },
  );
  const where = conditions.length === 0 ? "" : `where ${conditions.join(" and ")} `;
  const rows = await rowsOf(
    server,
    `select ${
      COLUMNS.join(", ")
    } from sys_invocation ${where}order by created_at desc limit ${limit}`,
  );
  print(isJson, rows, () => table(rows, COLUMNS.filter((name) => rows.some((row) => name in row))));
}

async function get(server: ServerClient, ids: readonly string[], isJson: boolean): Promise<void> {
  const rows: Row[] = [];
  for (const id of ids) {
    const [row] = await rowsOf(server, `select * from sys_invocation where id = ${quoted(id)}`);
    if (!row) throw new CommandFailure("failed", `Cannot get ${id}: there is no such invocation`);
    rows.push(row);
  }
  print(isJson, rows, () => rows.map(fieldsOf).join("\n\n"));
}

function fieldsOf(row: Row): string {
  const width = Math.max(...Object.keys(row).map(({ length }) => length));
  return Object.entries(row).map(([name, value]) =>
    `${name.padEnd(width)}  ${visible(typeof value === "string" ? value : JSON.stringify(value))}`
  ).join("\n");
}

/** One after the other, so that a refusal says which. The others are done all the same. */
async function operate(
  server: ServerClient,
  { action, ids, isJson }: {
    readonly action: Operation;
    readonly ids: readonly string[];
    readonly isJson: boolean;
  },
): Promise<void> {
  const results: { readonly id: string; readonly ok: boolean; readonly message?: string }[] = [];
  for (const id of ids) {
    try {
      await server.ask("admin", `/invocations/${id}/${action}`, { method: "PATCH" });
      results.push({ id, ok: true });
    } catch (cause) {
      if (!(cause instanceof CommandFailure) || cause.exit !== "failed") throw cause;
      results.push({ id, ok: false, message: cause.message });
    }
  }
  print(
    isJson,
    results,
    () =>
      results.map(({ id, ok, message }) =>
        ok ? `${paint("green", "ok")}  ${id}` : `${paint("red", "no")}  ${id}: ${message}`
      ).join("\n"),
  );
  const failed = results.filter(({ ok }) => !ok).length;
  if (failed === 0) return;
  throw new CommandFailure("failed", `Cannot ${action} ${failed} of ${ids.length} invocations`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
