import { DurableObject } from "cloudflare:workers";
import { type App, createApp } from "../src/app.ts";
import { Failure } from "../src/errors.ts";
import type { Log } from "../src/ports.ts";
import { sqlDeploymentStore } from "../src/storage/deployment_store.ts";
import { migrate } from "../src/storage/tables.ts";
import { DURABLE_STORE_LIMITS, durableSqlite } from "./durable_sqlite.ts";
import { VERSION } from "./version.ts";
import { AlarmedStore, Alarms, HEARTBEAT_MS } from "./workerd_alarm.ts";
import { fetchDial } from "./workerd_dial.ts";
import { random } from "./random.ts";
import { consoleLog, IsolateClock, stackOf } from "./workerd_platform.ts";
import { type Bindings, partitionConfig } from "./workerd_settings.ts";

/** How long an object that could not start waits for the next attempt when nobody calls it. */
const RESTART_MS = 10_000;

/** The path of SQL queries, in every version of the API. */
const QUERY = /^(\/v\d+)?\/query\/?$/;

/** How long after a request the object sees whether it may rest. */
const REST_MS = 5_000;

interface Life {
  readonly app: App;
  readonly store: AlarmedStore;
}

/**
 * One partition, in an object of its own that holds its rows. Made by the first request or alarm,
 * evicted when nobody needs it: then the next one derives everything from the rows (law 3). Many
 * requests are in it at once, and those who wait for a result hold up nobody.
 */
export class PartitionObject extends DurableObject<Bindings> {
  readonly #alarms = new Alarms(this.ctx.storage);
  readonly #clock = new IsolateClock((cause) => this.#endOnBug(cause));
  #life: Promise<Life> | undefined;
  #log: Log = consoleLog("info");
  /** Requests of operators in progress. They end soon; those of callers may wait for months. */
  #operators = 0;

  /** A request of a caller. */
  ingress(request: Request): Promise<Response> {
    return this.#answer(({ app }) => app.ingress(request));
  }

  /** A request of an operator, at the path it has on a port of its own. */
  async admin(request: Request): Promise<Response> {
    if (QUERY.test(new URL(request.url).pathname)) return noQueries();
    this.#operators++;
    try {
      return await this.#answer(({ app }) => app.admin(request));
    } finally {
      this.#operators--;
    }
  }

  /** Something is due, or may be. Never throws: an alarm that fails too often is given up. */
  override async alarm(): Promise<void> {
    this.#alarms.rang();
    this.#clock.wake();
    try {
      const { store } = await this.#live();
      this.#alarms.expect(await store.due());
      if (this.#operators === 0 && !await store.isBusy()) this.#clock.rest();
      else this.#alarms.expect(this.#clock.now() + HEARTBEAT_MS);
    } catch (cause) {
      this.#log("error", "An alarm failed", { cause: stackOf(cause) });
      this.#alarms.expect(this.#clock.now() + RESTART_MS);
    }
  }

  async #answer(ask: (life: Life) => Response | Promise<Response>): Promise<Response> {
    let life: Life;
    try {
      life = await this.#live();
    } catch (cause) {
      this.#log("error", "The partition cannot start", { cause: stackOf(cause) });
      const message = cause instanceof Failure ? cause.message : "the partition cannot start";
      return Response.json({ message }, { status: 503 });
    }
    if (this.#clock.isResting) this.#wake();
    try {
      return await ask(life);
    } catch (cause) {
      this.#log("error", "A request handler failed", { cause: stackOf(cause) });
      return new Response("internal server error", { status: 500 });
    }
  }

  #wake(): void {
    this.#clock.wake();
    this.#alarms.expect(this.#clock.now() + REST_MS);
  }

  #live(): Promise<Life> {
    return this.#life ??= this.#start().catch((cause) => {
      this.#life = undefined;
      throw cause;
    });
  }

  async #start(): Promise<Life> {
    const config = partitionConfig(this.env);
    const [clock, log] = [this.#clock, this.#log = consoleLog(config["log-level"])];
    // Where rows would live in a database elsewhere, this is the line that opens it.
    const client = durableSqlite(this.ctx.storage);
    await migrate(client);
    await this.#alarms.open();
    const store = new AlarmedStore(client, {
      ...DURABLE_STORE_LIMITS,
      clock,
      alarms: this.#alarms,
      cleanupIntervalMs: config["worker.cleanup-interval"],
      foldRowsMax: config["storage.fold-rows"],
      foldBytesMax: config["storage.fold-bytes"],
    });
    const app = await createApp({
      platform: { clock, random, log, dial: fetchDial() },
      config,
      store,
      deployments: sqlDeploymentStore(client),
      version: VERSION,
    });
    this.#wake();
    log("info", "The partition is awake", { object: this.ctx.id.name ?? String(this.ctx.id) });
    return { app, store };
  }

  /** What is in memory may no longer be what is in the rows: the next request begins anew. */
  #endOnBug(cause: unknown): void {
    this.#log("error", "Beginning anew because of a bug", { cause: stackOf(cause) });
    this.ctx.abort("a bug");
  }
}

function noQueries(): Response {
  const message = "queries are not answered on workerd yet";
  return Response.json({ message }, { status: 501 });
}
