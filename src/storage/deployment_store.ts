import { sql } from "kysely";
import type { Deployment } from "../model/schema.ts";
import {
  type Clock,
  type DeploymentStore,
  Outdated,
  type SqlClient,
  type Statement,
} from "../ports.ts";
import { inSlices, jsonInSteps } from "../slices.ts";
import { fromJson, toJson, toSafe } from "./codec/safe_text.ts";
import { compile, statement } from "./codec/sql_text.ts";
import { type RetryLimits, withRetries } from "./retry.ts";

const LOAD = compile(sql`select body from deployment order by id`);
const SAVE = compile(sql`insert into deployment (id, body) values (?1, ?2)
  on conflict (id) do update set body = excluded.body`);
const DROP = compile(sql`delete from deployment where id = ?1`);
const VERSION = compile(sql`select value from meta where name = 'deployments'`);
/** Violates a check constraint, and so fails the batch, if the version is not ?1. */
const AT_VERSION = compile(sql`insert into fence (held) select 0 where not exists (
  select 1 from meta where name = 'deployments' and value = ?1)`);
const NEXT_VERSION = compile(sql`update meta set value = ?1 where name = 'deployments'`);
const FIND = compile(sql`select body from deployment where id = ?1`);
/** Levels from a deployment to a handler: services, each of them, its handlers. */
const HANDLER_DEPTH = 4;

/**
 * Deployments as rows of a database that `migrate` has prepared. Lost requests are retried with
 * `retry`; absent, they are not. Every change raises a version, and is refused with `Outdated` when
 * this store does not know the current version. So a delayed duplicate, or a process that lacks a
 * change of another one, overwrites nothing.
 */
export function sqlDeploymentStore(
  client: SqlClient,
  retry: RetryLimits & OnChange = { retryMs: 0 },
): DeploymentStore {
  return new SqlDeploymentStore(client, retry);
}

interface OnChange {
  /** Called with every version once it is durable. Must not throw. */
  readonly onDurable?: ((version: number) => void) | undefined;
}

class SqlDeploymentStore implements DeploymentStore {
  readonly #client: SqlClient;
  readonly #retry: RetryLimits;
  readonly #onDurable: OnChange["onDurable"];
  readonly #soon: Clock["soon"];
  #version = 0;

  constructor(client: SqlClient, { onDurable, ...retry }: RetryLimits & OnChange) {
    this.#client = client;
    this.#retry = retry;
    this.#onDurable = onDurable;
    const { clock } = retry;
    this.#soon = clock ? (call) => clock.soon(call) : queueMicrotask;
  }

  get version(): number {
    return this.#version;
  }

  async load(): Promise<readonly Deployment[]> {
    const client = this.#client;
    // A write transaction: version and rows belong together, and no replica that lags behind responds.
    const [[version] = [], rows = []] = await withRetries(
      client,
      () => client.batch("write", [statement(VERSION), statement(LOAD)]),
      this.#retry,
    );
    this.#version = Number(version?.["value"] ?? 0);
    return rows.map(({ body }) => fromJson(body as string) as Deployment);
  }

  async save(deployment: Deployment): Promise<void> {
    const id = toSafe(deployment.id);
    const body = await inSlices(jsonInSteps(deployment, HANDLER_DEPTH, toJson), this.#soon);
    await this.#write(statement(SAVE, id, body), { id, body });
  }

  drop(deployment: string): Promise<void> {
    const id = toSafe(deployment);
    return this.#write(statement(DROP, id), { id, body: undefined });
  }

  /** `after`: the row after the write, by which an ambiguous write is recognized as applied. */
  async #write(
    one: Statement,
    after: { readonly id: string; readonly body: string | undefined },
  ): Promise<void> {
    const client = this.#client;
    const version = this.#version;
    let wasLost = false;
    await withRetries(client, async () => {
      try {
        await client.batch("write", [
          statement(AT_VERSION, String(version)),
          one,
          statement(NEXT_VERSION, String(version + 1)),
        ]);
      } catch (cause) {
        if (client.isLost?.(cause)) wasLost = true;
        if (!client.isRefused(cause)) throw cause;
        // The database may refuse a retry because the lost request was applied.
        if (!wasLost || !await this.#isAfter(version + 1, after)) throw new Outdated();
      }
    }, this.#retry);
    this.#version = version + 1;
    this.#onDurable?.(this.#version);
  }

  async #isAfter(
    version: number,
    { id, body }: { readonly id: string; readonly body: string | undefined },
  ): Promise<boolean> {
    const asks = [statement(VERSION), statement(FIND, id)];
    const [[is] = [], [row] = []] = await this.#client.batch("write", asks);
    return Number(is?.["value"]) === version && row?.["body"] === body;
  }
}
