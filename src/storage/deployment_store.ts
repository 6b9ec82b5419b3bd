import { sql } from "kysely";
import type { Deployment } from "../model/schema.ts";
import type { DeploymentStore, SqlClient, SqlRow, Statement } from "../ports.ts";
import { insist, type Patience } from "./patience.ts";
import { fromJson, toJson, toSafe } from "./safe_text.ts";
import { compile, statement } from "./sql_text.ts";

const LOAD = compile(sql`select body from deployment order by id`);
const SAVE = compile(sql`insert into deployment (id, body) values (?1, ?2)
  on conflict (id) do update set body = excluded.body`);
const DROP = compile(sql`delete from deployment where id = ?1`);

/**
 * Deployments as rows of a database that `migrate` has prepared. Requests that are lost are repeated
 * with `patience`; absent, they are not.
 */
export function sqlDeploymentStore(
  client: SqlClient,
  patience: Patience = { retryMs: 0 },
): DeploymentStore {
  const ask = (mode: "read" | "write", one: Statement): Promise<readonly SqlRow[][]> =>
    insist(client, () => client.batch(mode, [one]), patience);
  return {
    async load() {
      const [rows = []] = await ask("read", statement(LOAD));
      return rows.map(({ body }) => fromJson(body as string) as Deployment);
    },
    async save(deployment) {
      await ask("write", statement(SAVE, toSafe(deployment.id), toJson(deployment)));
    },
    async drop(id) {
      await ask("write", statement(DROP, toSafe(id)));
    },
  };
}
