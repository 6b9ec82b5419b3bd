import { sql } from "kysely";
import type { ControlsChange } from "../model/controls.ts";
import type { Deployment } from "../model/schema.ts";
import {
  type Catalog,
  type Clock,
  type DeploymentStore,
  Outdated,
  type SqlClient,
  type Statement,
} from "../ports.ts";
import { inSlices, jsonInSteps } from "../slices.ts";
import { fromJson, toJson, toSafe } from "./codec/safe_text.ts";
import { compile, statement } from "./codec/sql_text.ts";
import { changeRows, CONTROL_READS, type RowsChange, storedControls } from "./control_rows.ts";
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
const MISSED = compile(sql`select count(*) as n from (select ?1 as wanted)
  left join deployment on id = wanted where body is not ?2`);
/** Levels from a deployment to a handler: services, each of them, its handlers. */
const HANDLER_DEPTH = 4;

/**
 * Deployments and controls as rows of a database that `migrate` has prepared. Lost requests are retried with
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

  async load(): Promise<Catalog> {
    const client = this.#client;
    // A write transaction: version and rows belong together, and no replica that lags behind responds.
    const [[version] = [], rows = [], rules = [], controls = []] = await withRetries(
      client,
      () => client.batch("write", [statement(VERSION), statement(LOAD), ...CONTROL_READS]),
      this.#retry,
    );
    this.#version = Number(version?.["value"] ?? 0);
    return {
      deployments: rows.map(({ body }) => fromJson(body as string) as Deployment),
      controls: storedControls(rules, controls),
    };
  }

  async save(deployment: Deployment, controls: ControlsChange = {}): Promise<void> {
    const id = toSafe(deployment.id);
    const body = await inSlices(jsonInSteps(deployment, HANDLER_DEPTH, toJson), this.#soon);
    await this.#write(
      { writes: [statement(SAVE, id, body)], checks: [statement(MISSED, id, body)] },
      await inSlices(changeRows(controls), this.#soon),
    );
  }

  async drop(deployment: string): Promise<void> {
    const id = toSafe(deployment);
    const resumed = { deployments: new Map([[deployment, false]]) };
    await this.#write(
      { writes: [statement(DROP, id)], checks: [statement(MISSED, id, null)] },
      await inSlices(changeRows(resumed), this.#soon),
    );
  }

  async control(change: ControlsChange): Promise<void> {
    await this.#write(await inSlices(changeRows(change), this.#soon));
  }

  /** All of these changes, or none. An ambiguous write is recognized as applied by its rows. */
  async #write(...changes: readonly RowsChange[]): Promise<void> {
    const client = this.#client;
    const version = this.#version;
    let wasLost = false;
    await withRetries(client, async () => {
      try {
        await client.batch("write", [
          statement(AT_VERSION, String(version)),
          ...changes.flatMap(({ writes }) => writes),
          statement(NEXT_VERSION, String(version + 1)),
        ]);
      } catch (cause) {
        if (client.isLost?.(cause)) wasLost = true;
        if (!client.isRefused(cause)) throw cause;
        // The database may refuse a retry because the lost request was applied.
        if (!wasLost || !await this.#isAfter(version + 1, changes)) throw new Outdated();
      }
    }, this.#retry);
    this.#version = version + 1;
    this.#onDurable?.(this.#version);
  }

  async #isAfter(version: number, changes: readonly RowsChange[]): Promise<boolean> {
    const checks: Statement[] = changes.flatMap(({ checks }) => checks);
    const asks = [statement(VERSION), ...checks];
    const [[is] = [], ...missed] = await this.#client.batch("write", asks);
    return Number(is?.["value"]) === version && missed.every(([row]) => row?.["n"] === 0);
  }
}
