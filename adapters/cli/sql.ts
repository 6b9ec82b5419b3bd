import type { Given } from "./about.ts";
import { standardInput } from "./call.ts";
import { print, table } from "./output.ts";
import type { ServerClient } from "./server_client.ts";
import * as client from "./server_client.ts";

export type Row = Readonly<Record<string, unknown>>;

/** `perdure sql`: prints the rows. Rejects with `CommandFailure`, also when the query is refused. */
export async function sql(given: Given, isJson: boolean): Promise<void> {
  const [query = ""] = given.arguments;
  const text = query === "-" ? await standardInput() : query;
  const answer = await ask(new client.ServerClient(given), text);
  for (const warning of answer.warnings ?? []) process.stderr.write(`warning: ${warning}\n`);
  print(isJson, answer.rows, () => table(answer.rows));
}

/** The rows of a query. */
export async function rowsOf(server: ServerClient, query: string): Promise<readonly Row[]> {
  return (await ask(server, query)).rows;
}

interface Rows {
  readonly rows: readonly Row[];
  readonly warnings?: readonly string[];
}

async function ask(server: ServerClient, query: string): Promise<Rows> {
  const { json } = await server.ask("admin", "/query", {
    method: "POST",
    headers: { accept: "application/json" },
    body: JSON.stringify({ query }),
  });
  return json as Rows;
}
