import { connect } from "cloudflare:sockets";
import { DurableObject } from "cloudflare:workers";
import { Failure } from "../../src/errors.ts";
import type { Log } from "../../src/ports.ts";
import { Alarms, HEARTBEAT_MS } from "./alarm.ts";
import { type Life, openLife } from "./life.ts";
import type { Peer } from "./peers.ts";
import { consoleLog, IsolateClock, stackOf } from "./platform.ts";
import { refusal, type RequestKind } from "./refusal.ts";
import { type Bindings, partitionConfig, textOf, warningsFor } from "./settings.ts";

/** The bindings of `wrangler.toml`. */
export interface ObjectBindings extends Bindings {
  readonly PARTITION: DurableObjectNamespace<PartitionObject>;
}

/** How long an object that could not start waits before it starts again, if it is not called. */
const RESTART_MS = 10_000;

/** How long after a request the object checks whether it is idle. */
const IDLE_CHECK_MS = 5_000;

/**
 * One partition, in an object of its own that holds its rows. The first request or alarm makes it, and
 * the runtime evicts it when it is idle: the next one then derives everything from the rows (law 3).
 * It serves many requests at once, and those that wait for a result do not block others.
 */
export class PartitionObject extends DurableObject<ObjectBindings> implements Peer {
  readonly #alarms = new Alarms(this.ctx.storage);
  readonly #clock = new IsolateClock((cause) => this.#endOnBug(cause));
  #life: Promise<Life> | undefined;
  #log: Log = consoleLog("info");
  /** Requests of operators in progress, which are short; those of callers may wait for months. */
  #operators = 0;

  /** The partition of this object, once a request has named it. */
  #partition: number | undefined;

  /** A request of a caller. `partition`: the one of this object, as in every call. */
  ingress(request: Request, partition: number): Promise<Response> {
    this.#partition = partition;
    return this.#answer("caller", request, ({ app }) => app.ingress(request));
  }

  /** A request of another partition, at the path it has between the processes of a fleet. */
  fetch(request: Request): Promise<Response> {
    const [, partition] = /\/partitions\/(\d+)\//.exec(request.url) ?? [];
    if (partition !== undefined) this.#partition = Number(partition);
    return this.#answer("operator", request, ({ answerPeer }) => answerPeer(request));
  }

  /** The deployments and controls, as JSON. */
  async deployments(partition: number): Promise<string> {
    this.#partition = partition;
    const { deployments } = await this.#live();
    return JSON.stringify(await deployments.load());
  }

  /** The deployments or controls have changed. */
  async reload(partition: number): Promise<void> {
    this.#partition = partition;
    const { app } = await this.#live();
    await app.reload();
  }

  /** The keys of sessions, as `SessionKeyStore` reads and replaces them. */
  async readSessionKeys(partition: number, fresh: string): Promise<string> {
    this.#partition = partition;
    return await (await this.#live()).sessionKeys.read(fresh);
  }

  async replaceSessionKeys(partition: number, before: string, after: string): Promise<string> {
    this.#partition = partition;
    return await (await this.#live()).sessionKeys.replace(before, after);
  }

  /** A request of an operator, at the path it has on a port of its own. */
  async admin(request: Request, partition: number): Promise<Response> {
    this.#partition = partition;
    this.#operators++;
    try {
      return await this.#answer("operator", request, ({ app }) => app.admin(request));
    } finally {
      this.#operators--;
    }
  }

  /** A timer may be due. Never throws: the runtime drops an alarm that fails too often. */
  override async alarm(): Promise<void> {
    this.#alarms.rang();
    this.#clock.wake();
    try {
      const { store } = await this.#live();
      this.#alarms.expect(await store.due());
      if (this.#operators === 0 && !await store.isBusy()) this.#clock.idle();
      else this.#alarms.expect(this.#clock.now() + HEARTBEAT_MS);
    } catch (cause) {
      this.#log("error", "An alarm failed", { cause: stackOf(cause) });
      this.#alarms.expect(this.#clock.now() + RESTART_MS);
    }
  }

  async #answer(
    who: RequestKind,
    request: Request,
    ask: (life: Life) => Response | Promise<Response>,
  ): Promise<Response> {
    let life: Life;
    try {
      life = await this.#live();
    } catch (cause) {
      this.#log("error", "The partition cannot start", { cause: stackOf(cause) });
      const message = cause instanceof Failure ? cause.message : "the partition cannot start";
      return refusal(who, request, { status: 503, message });
    }
    if (this.#clock.isIdle) this.#wake();
    try {
      return await ask(life);
    } catch (cause) {
      this.#log("error", "A request handler failed", { cause: stackOf(cause) });
      return new Response("internal server error", { status: 500 });
    }
  }

  #wake(): void {
    this.#clock.wake();
    this.#alarms.expect(this.#clock.now() + IDLE_CHECK_MS);
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
    for (const warning of warningsFor(this.env)) log("warn", "A setting is ignored", { warning });
    const life = await openLife({
      storage: this.ctx.storage,
      config,
      clock,
      log,
      alarms: this.#alarms,
      connect,
      readVariable: (name) => textOf(this.env, name),
      partition: this.#partition,
      at: (partition) => objectOf(this.env.PARTITION, partition),
    });
    this.#wake();
    log("info", "The partition is awake", { object: this.ctx.id.name ?? String(this.ctx.id) });
    return life;
  }

  /** Memory may differ from the rows after a bug: the next request starts a new object. */
  #endOnBug(cause: unknown): void {
    this.#log("error", "Beginning anew because of a bug", { cause: stackOf(cause) });
    this.ctx.abort("a bug");
  }
}

/** The object of a partition. */
export function objectOf(
  namespace: DurableObjectNamespace<PartitionObject>,
  partition: number,
): DurableObjectStub<PartitionObject> {
  return namespace.get(namespace.idFromName(String(partition)));
}
